"""Standings and cross tables as text: for people (a table, Markdown) and for programs (CSV, JSON). Pure."""

import csv
import enum
import io
import json
import re
from collections.abc import Sequence
from typing import Any, Final

from tabulate import tabulate

from arena.stats.columns import (
    BOUND,
    COLUMNS,
    DEFAULT_COLUMNS,
    ELO,
    FORFEITS,
    GROUP,
    VOIDS,
    Column,
    StandingsRow,
    ranked,
)
from arena.stats.head_to_head import HeadToHead
from arena.stats.match_score import is_mostly_faults, result_notes
from arena.stats.ratings import Ratings
from arena.stats.standings import Standings


class TableFormat(enum.Enum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"


_BOUND_NOTE: Final = (
    "* A bound: a group of bots, or a single one, never lost to the others, so the distance between the groups is "
    "unknown."
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # a spreadsheet evaluates such texts
_CROSS_KEYS: Final = ("rounds", "wins", "draws", "losses", "points", "points_against")
_CROSS_TITLES: Final = {
    "points": "Points of the row against the column",
    "wins": "Wins of the row against the column",
}


def shows_times(form: TableFormat, columns: Sequence[Column] | None) -> bool:
    """Whether `render` needs standings with thinking times."""
    return any(column.is_time for column in _shown(form, columns))


def _shown(form: TableFormat, columns: Sequence[Column] | None) -> Sequence[Column]:
    return columns if columns is not None else COLUMNS if form is TableFormat.JSON else DEFAULT_COLUMNS


def render(
    standings: Standings,
    ratings: Ratings,
    form: TableFormat = TableFormat.TABLE,
    columns: Sequence[Column] | None = None,
    cross: bool = False,
) -> str:
    """The standings as text that ends with a newline. `ratings` must be those of `standings`.

    With `cross`, cross tables of points and of wins follow. CSV can contain only one table, so there they replace the
    standings, with one line per bot and opponent. Without `columns`, JSON has all columns, other formats the default.
    """
    rows = ranked(standings, ratings)
    match form:
        case TableFormat.JSON:
            return _json(standings, rows, _shown(form, columns), cross)
        case TableFormat.CSV if cross:
            return _cross_csv(rows, standings)
        case TableFormat.CSV:
            return _csv(rows, _for_programs(_shown(form, columns)))
        case TableFormat.TABLE | TableFormat.MARKDOWN:
            return _for_people(standings, rows, columns, cross, markdown=form is TableFormat.MARKDOWN)


def _for_people(
    standings: Standings, rows: Sequence[StandingsRow], columns: Sequence[Column] | None, cross: bool, markdown: bool
) -> str:
    if columns is None:
        columns = DEFAULT_COLUMNS
        columns += (FORFEITS,) if standings.forfeits else ()
        columns += (VOIDS,) if standings.excused else ()
        columns += (GROUP,) if _are_groups(rows) else ()
    parts = [_standings_table(rows, columns, markdown)]
    remarks = notes(standings, rows, columns)
    if not standings.leaves_out_faults and (standings.forfeits or is_mostly_faults(standings)):
        remarks.append("`arena table --no-faults` leaves out rounds that ended by a fault or were forfeited.")
    if remarks:
        parts.append("\n\n".join(map(escaped, remarks)) if markdown else "\n".join(remarks))
    if cross:
        parts += _cross_tables(rows, standings, markdown)
    return "\n\n".join(parts) + "\n"


def notes(standings: Standings, rows: Sequence[StandingsRow], columns: Sequence[Column] = DEFAULT_COLUMNS) -> list[str]:
    """Remarks that belong to the numbers, one per line."""
    found = [_BOUND_NOTE] if ELO in columns and any(row.bound for row in rows) else []
    if _are_groups(rows):
        groups = (", ".join(_members(rows, group)) for group in _groups(rows))
        found.append(
            "These groups never met, so Elo and rank of one cannot be compared with another's: "
            + "; ".join(f"{number}: {names}" for number, names in enumerate(groups, 1))
            + "."
        )
    found += result_notes(standings)
    if missing := standings.missing_rounds:
        found.append(f"Rounds still to be played: {missing} of {standings.rounds + missing}.")
    if lost := standings.lost_rounds:
        found.append(f"Rounds that were played but are not in the journal, see `arena verify`: {lost}.")
    if unfinished := standings.unfinished_matches:
        found.append(f"Matches not finished: {unfinished}.")
    if standings.forfeits:
        names = ", ".join(f"{name} ({count})" for name, count in sorted(standings.forfeits.items()))
        found.append(f"Rounds forfeited by bots that were withdrawn: {names}.")
    if voids := standings.voids:
        found.append(f"Void rounds, by a fault of the arena, not counted: {voids}.")
    if standings.public_seeds:
        found.append("The deals came from a public seed: a bot author who knew it could know them in advance.")
    found += standings.version_notes()
    if standings.tests:
        found.append(
            "A sequential test stops when its results happen to be extreme, so the Elo of its bots is biased; "
            "`arena table --sprt` has its result."
        )
    found += standings.sandboxes.notes()
    if excused := standings.excused:
        names = ", ".join(f"{name} ({count})" for name, count in sorted(excused.items()))
        found.append(f"Rounds void because a bot was late while the host was stalled: {names}.")
    return found


def _are_groups(rows: Sequence[StandingsRow]) -> bool:
    """Whether some bots cannot be compared with others. Where no round counts, nothing can be compared at all."""
    return bool(rows) and rows[-1].group > 1 and any(row.totals.rounds for row in rows)


def _groups(rows: Sequence[StandingsRow]) -> range:
    return range(1, rows[-1].group + 1 if rows else 1)


def _members(rows: Sequence[StandingsRow], group: int) -> list[str]:
    return [row.totals.name for row in rows if row.group == group]


def _standings_table(rows: Sequence[StandingsRow], columns: Sequence[Column], markdown: bool) -> str:
    cells = [[_cell(column, row, markdown) for column in columns] for row in rows]
    return text_table([column.header for column in columns], cells, [column.left for column in columns], markdown)


def _cell(column: Column, row: StandingsRow, markdown: bool) -> str:
    text = column.text(column.value(row))
    if column is ELO and row.bound:
        text += "*"
    return escaped(text) if markdown else text


def text_table(headers: Sequence[str], cells: Sequence[Sequence[str]], left: Sequence[bool], markdown: bool) -> str:
    if not cells:  # tabulate cannot tell the width of an empty column
        return "No rounds yet."
    # With numparse, tabulate would reformat a bot name such as "1e5".
    return tabulate(
        cells,
        headers=headers,
        tablefmt="pipe" if markdown else "simple",
        disable_numparse=True,
        colalign=["left" if each else "right" for each in left],
    )


def escaped(text: str) -> str:
    """Markdown that renders as this text. An underscore inside a word is not markup, so it is not escaped."""
    return re.sub(r"[\\|`*\[\]<>&~]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)


def _cross_tables(rows: Sequence[StandingsRow], standings: Standings, markdown: bool) -> list[str]:
    """One table of points and one of wins. Columns are headed by numbers, so that long names do not widen them."""
    versus = _by_names(standings)
    names = [row.totals.name for row in rows]
    headers = ["", "Name", *(str(number) for number in range(1, len(names) + 1))]
    parts = []
    for key, title in _CROSS_TITLES.items():
        cells = []
        for number, name in enumerate(names, 1):
            found = (versus.get((name, other)) for other in names)
            against = [str(getattr(each, key)) if each and each.rounds else "" for each in found]
            cells.append([str(number), escaped(name) if markdown else name, *against])
        left = [False, True, *(False for _ in names)]
        parts.append(f"{title}:\n\n{text_table(headers, cells, left, markdown)}")
    return parts if rows else []


def _by_names(standings: Standings) -> dict[tuple[str, str], HeadToHead]:
    return {(each.bot, each.opponent): each for each in standings.versus()}


def _for_programs(columns: Sequence[Column]) -> list[Column]:
    """`columns` with a column that says whether Elo is a bound, which the table for people marks with an asterisk."""
    wanted: list[Column] = []
    for column in columns:
        wanted.append(column)
        if column is ELO and BOUND not in columns:
            wanted.append(BOUND)
    return wanted


def _csv(rows: Sequence[StandingsRow], columns: Sequence[Column]) -> str:
    lines = [[_csv_value(column.value(row)) for column in columns] for row in rows]
    return csv_text([column.key for column in columns], lines)


def _csv_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return " ".join(map(str, value))  # a spreadsheet takes 1-9 for a date
    return str(value).lower() if isinstance(value, bool) else harmless(value) if isinstance(value, str) else value


def harmless(text: str) -> str:
    """`text`, prefixed if a spreadsheet would take it for a formula: bots choose their names (OWASP, CSV injection)."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def csv_text(header: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return text.getvalue()


def _cross(rows: Sequence[StandingsRow], standings: Standings) -> list[dict[str, Any]]:
    """One entry for each bot and opponent that have met, in the order of the standings."""
    versus = _by_names(standings)
    names = [row.totals.name for row in rows]
    found = (versus.get((name, other)) for name in names for other in names)
    return [
        {"name": each.bot, "opponent": each.opponent, **{key: getattr(each, key) for key in _CROSS_KEYS}}
        for each in found
        if each is not None and each.rounds
    ]


def _cross_csv(rows: Sequence[StandingsRow], standings: Standings) -> str:
    lines = [list(map(_csv_value, line.values())) for line in _cross(rows, standings)]
    return csv_text(["name", "opponent", *_CROSS_KEYS], lines)


def _json(standings: Standings, rows: Sequence[StandingsRow], columns: Sequence[Column], cross: bool) -> str:
    document: dict[str, Any] = {
        "standings": [{column.key: column.value(row) for column in _for_programs(columns)} for row in rows],
        "groups": [_members(rows, group) for group in _groups(rows)],
        "rounds": standings.rounds,
        "missing_rounds": standings.missing_rounds,
        "unfinished_matches": standings.unfinished_matches,
        "voids": standings.voids,
    }
    if cross:
        document["cross"] = _cross(rows, standings)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
