"""The columns of the standings that a user can choose. Pure."""

import math
from collections.abc import Callable
from typing import Any, Final

import attrs

from arena.journal.endings import Fault
from arena.stats.ranks import rank_ranges
from arena.stats.ratings import Ratings
from arena.stats.standings import BotTotals, Standings
from arena.support.suggestion import did_you_mean
from arena.support.text import printable

NO_VALUE: Final = "-"  # shown where there is no number


@attrs.frozen
class StandingsRow:
    """One bot in the standings."""

    rank: int  # in its group
    group: int  # from 1
    totals: BotTotals
    elo: float | None
    margin: float | None
    ranks: tuple[int, int]  # the best and the worst that are possible, among all bots
    bound: bool
    superiority: float | None  # over the next bot below it


def ranked(standings: Standings, ratings: Ratings) -> list[StandingsRow]:
    """The rows of the standings, best first. Groups, which cannot be compared, follow each other, the largest first."""
    totals, found = standings.totals(), ratings.groups
    ranges = rank_ranges(ratings, standings.matchups())
    size = [found.count(group) for group in found]
    # Ratings that differ only by rounding count as equal, so that the order does not depend on the last bit; points
    # decide then, and after them names.
    order = sorted(
        range(len(totals)),
        key=lambda bot: (-size[bot], found[bot], -round(_elo(ratings, bot) or 0, 6), -totals[bot].points, bot),
    )
    rows: list[StandingsRow] = []
    for place, bot in enumerate(order):
        after = order[place + 1] if place + 1 < len(order) else bot
        below = ratings.difference(bot, after)
        new_group = not place or found[bot] != found[order[place - 1]]
        group = (rows[-1].group if rows else 0) + new_group
        rank = 1 if new_group else rows[-1].rank + 1
        elo = _elo(ratings, bot)
        margin = None if elo is None else ratings.margins[bot]
        superiority = below.superiority if below else None
        rows.append(StandingsRow(rank, group, totals[bot], elo, margin, ranges[bot], ratings.bounds[bot], superiority))
    return rows


def _elo(ratings: Ratings, bot: int) -> float | None:
    return None if math.isnan(ratings.elo[bot]) else ratings.elo[bot]


@attrs.frozen
class Column:
    """One column: its names, its value and how to show it."""

    key: str  # in JSON and CSV, and one of its two names on the command line; the other is the header
    header: str
    value: Callable[[StandingsRow], Any]  # at full precision, for programs
    text: Callable[[Any], str] = str  # renders the value for people
    left: bool = False
    is_time: bool = False  # it is computed from the moves of all rounds


def _per_round(amount: float, row: StandingsRow) -> float | None:
    return amount / row.totals.rounds if row.totals.rounds else None


def _text(form: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: NO_VALUE if value is None else form(value)


_whole = _text(lambda value: str(round(value)))
_percent = _text(lambda value: f"{100 * value:.1f}%")
_decimals = _text(lambda value: f"{value:.2f}")


def ranks_text(ranks: tuple[int, int]) -> str:
    best, worst = ranks
    return str(best) if best == worst else f"{best}–{worst}"


def _fault_column(fault: Fault) -> Column:
    words = fault.value.replace("-", " ").capitalize()
    return Column(fault.value.replace("-", "_"), words, lambda row: row.totals.faults.get(fault, 0))


BOUND: Final = Column("elo_is_bound", "Bound", lambda row: row.bound, lambda value: "yes" if value else "no")
ELO: Final = Column("elo", "Elo", lambda row: row.elo, _whole)
FORFEITS: Final = Column("forfeits", "Forfeits", lambda row: row.totals.forfeits)
VOIDS: Final = Column("voids", "Voids", lambda row: row.totals.voids)
GROUP: Final = Column("group", "Group", lambda row: row.group)

COLUMNS: Final = (
    Column("rank", "Rank", lambda row: row.rank),
    GROUP,
    Column("name", "Name", lambda row: row.totals.name, left=True),
    ELO,
    BOUND,
    Column("elo_margin", "+/-", lambda row: row.margin, _whole),
    Column("ranks", "Ranks", lambda row: row.ranks, ranks_text),
    Column("los", "LOS", lambda row: row.superiority, _percent),
    Column("rounds", "Rounds", lambda row: row.totals.rounds),
    Column("wins", "Wins", lambda row: row.totals.wins),
    Column("losses", "Losses", lambda row: row.totals.losses),
    Column("score", "Score", lambda row: row.totals.score, _percent),
    Column("draw_rate", "Draws", lambda row: _per_round(row.totals.draws, row), _percent),
    Column("matches", "Matches", lambda row: row.totals.matches, lambda wdl: "-".join(map(str, wdl))),
    Column("points", "Points", lambda row: row.totals.points),
    Column("points_against", "Points against", lambda row: row.totals.points_against),
    Column("average_points", "Average points", lambda row: _per_round(row.totals.points, row), _decimals),
    Column("faults", "Faults", lambda row: sum(row.totals.faults.values())),
    *(_fault_column(fault) for fault in Fault),
    FORFEITS,
    VOIDS,
    Column("mean_ms", "Mean ms", lambda row: row.totals.mean_ms, _decimals, is_time=True),
    Column("p99_ms", "P99 ms", lambda row: row.totals.p99_ms, _whole, is_time=True),
    Column("sandbox", "Sandbox", lambda row: row.totals.sandbox, _text(str), left=True),
    Column("bot", "Bot", lambda row: row.totals.player.bot, left=True),
    Column("version", "Version", lambda row: row.totals.player.version, _text(printable), left=True),
    Column("fingerprint", "Fingerprint", lambda row: row.totals.player.fingerprint, _text(printable), left=True),
    Column("rules", "Rules", lambda row: row.totals.player.rules, _text(printable), left=True),
)
_DEFAULT_KEYS: Final = (
    *("rank", "name", "elo", "elo_margin", "ranks", "rounds", "score", "draw_rate", "points", "faults"),
)
DEFAULT_COLUMNS: Final = tuple(column for column in COLUMNS if column.key in _DEFAULT_KEYS)


def columns_named(text: str) -> tuple[Column, ...]:
    """The columns of a list such as "rank,name,Elo,+/-,Mean ms". Raises ValueError for an unknown name."""
    by_name = {name.casefold(): column for column in COLUMNS for name in (column.key, column.header)}
    chosen = []
    for name in text.split(","):
        column = by_name.get(name.strip().casefold())
        if column is None:
            known = ", ".join(column.header for column in COLUMNS)
            meant = did_you_mean(name.strip(), [column.header for column in COLUMNS])
            raise ValueError(f"there is no column {name.strip()!r}; the columns are: {known}{meant}")
        chosen.append(column)
    return tuple(chosen)
