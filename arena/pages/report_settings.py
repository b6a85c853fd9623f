"""Sections of the report: the settings of each tournament, and the void rounds, which are played again. Pure.

The journal contains the commands, folders and environments of bots. A report does not, because it is meant to be
shared.
"""

from typing import Any, Final

from arena.journal.lines import TournamentLine
from arena.pages.markup import Content, joined, tag
from arena.pages.report_data import Report
from arena.pages.report_sections import Section, bot, table
from arena.stats.columns import NO_VALUE

_SETTINGS: Final = {
    "event": "Event",
    "site": "Site",
    "rules": "Rules",
    "format": "Format",
    "cycles": "Matches of each pair",
    "rounds": "Rounds of each match",
    "mirror": "Every deal twice, seats exchanged",
    "seed": "Public seed",
    "seed_hash": "Hash of the secret seed",
    "max_faults": "Faults in a row until withdrawn",
    "max_voids": "Voids granted to each bot",
}
_MOST_TOURNAMENTS: Final = 20


def settings_section(report: Report) -> Section | None:
    tournaments = report.gathered.tournaments
    parts = [_tournament(line) for line in tournaments[:_MOST_TOURNAMENTS]]
    if not parts:
        return None
    if len(tournaments) > _MOST_TOURNAMENTS:
        parts.append(tag("p", f"… and {len(tournaments) - _MOST_TOURNAMENTS:,} more tournaments.", class_="note"))
    return "settings", "Settings", joined(*parts)


def _tournament(line: TournamentLine) -> Content:
    pairs: list[Content] = []
    for key, words in _SETTINGS.items():
        if line.config.get(key) not in (None, ""):
            pairs += [tag("dt", words), tag("dd", _plain(line.config[key]))]
    pairs += [tag("dt", "Started"), tag("dd", line.started)]
    bots = line.config.get("bots")
    rows: list[list[Content]] = []
    for each in bots if isinstance(bots, list) else []:
        if isinstance(each, dict):
            memory = each.get("memory")
            rows.append(
                [
                    bot(str(each.get("name", NO_VALUE))),
                    _clock(each.get("clock")),
                    _plain(each.get("restart")),
                    f"{memory:,} bytes" if isinstance(memory, int) else NO_VALUE,
                ]
            )
    players = table(["Bot", "Clock", "Restart", "Memory"], rows, "players") if rows else None
    return joined(tag("dl", *pairs), players)


def _plain(value: Any) -> str:
    if value is None:
        return NO_VALUE
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _clock(clock: Any) -> str:
    """A time limit in words, in seconds."""
    if not isinstance(clock, dict):
        return NO_VALUE
    parts = []
    if isinstance(move := clock.get("move_ms"), int | float):
        parts.append(f"{move / 1000:g} s for a move")
    if isinstance(bank := clock.get("bank_ms"), int | float):
        more = clock.get("increment_ms")
        added = f" + {more / 1000:g} s" if isinstance(more, int | float) and more else ""
        parts.append(f"{bank / 1000:g} s{added} for a round")
    return ", ".join(parts) or "no limit"


def voids_section(report: Report) -> Section | None:
    voids, total = report.gathered.voids, report.standings.voids
    if not voids:
        return None
    rows: list[list[Content]] = [[void.id, bot(void.bots[0]), bot(void.bots[1]), void.reason] for void in voids]
    words = "Rounds that failed by a fault of the arena, not of a bot; they are not counted, and are played again."
    if total > len(voids):
        words += f" The first {len(voids)} of {total:,}."
    return (
        "voids",
        "Void rounds",
        joined(table(["Round", "Bot", "Bot", "Reason"], rows, "voids"), tag("p", words, class_="note")),
    )
