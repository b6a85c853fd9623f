"""The columns of exported tables: what they are called, what they mean, and how their values are found. Pure.

This is the only place that knows them. Every format writes them in this order; `arena export --help` and
docs/library.md list them.
"""

import enum
from collections.abc import Callable
from typing import Final

import attrs

from arena.export.exported_round import ExportedRound
from engine.cards import SEATS, Seat, other

Value = str | int | float | None  # an empty text is None


class ExportedTable(enum.Enum):
    """What a row is."""

    ROUNDS = "rounds"
    MOVES = "moves"
    POSITIONS = "positions"


class ColumnType(enum.Enum):
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


@attrs.frozen
class ExportColumn:
    name: str
    type: ColumnType
    tables: frozenset[ExportedTable]
    meaning: str
    value: Callable[..., Value]
    is_opinion: bool = False  # of the evaluator: only there if it is asked for


@attrs.frozen
class TableColumns:
    """The columns of a table in their order, by what their values are found from."""

    by_round: tuple[ExportColumn, ...]  # called with an ExportedRound
    by_seat: tuple[ExportColumn, ...]  # and with the seat that decides
    by_decision: tuple[ExportColumn, ...]  # and with the index of the decision

    @property
    def every(self) -> tuple[ExportColumn, ...]:
        return self.by_round + self.by_seat + self.by_decision


_TEXT, _INTEGER, _NUMBER, _BOOLEAN = ColumnType
_ROUNDS, _POSITIONS = frozenset({ExportedTable.ROUNDS}), frozenset({ExportedTable.POSITIONS})
_DECISIONS: Final = _POSITIONS | {ExportedTable.MOVES}
_ALL: Final = frozenset(ExportedTable)
_C, _R = ExportColumn, ExportedRound
# fmt: off
_BY_ROUND: Final = (
    _C("tournament", _TEXT, _ALL, "the first 16 digits of the hash of its opening line", lambda it: it.tournament),
    _C("round", _TEXT, _ALL, "the id of the round, which is unique in its tournament", lambda it: it.line.id),
    _C("pair", _TEXT, _ALL, "the id of the first round of its pair, the unit of statistics", lambda it: it.line.pair),
    _C("match", _TEXT, _ROUNDS, "the id of the match", lambda it: it.line.match),
    _C("number", _INTEGER, _ROUNDS, "which round of the match it is, from 1", lambda it: it.line.round),
    _C("event", _TEXT, _ROUNDS, "the event of the tournament", lambda it: it.event),
    _C("journal", _TEXT, _ROUNDS, "the file, as it was named", lambda it: it.journal),
    _C("line", _INTEGER, _ROUNDS, "the line of the file, from 1", lambda it: it.line_number),
    _C("started", _TEXT, _ROUNDS, "when it began, in UTC", lambda it: it.line.started),
    _C("host", _TEXT, _ROUNDS, "the machine of a cluster on which it was played", lambda it: it.line.host),
    _C("rules", _TEXT, _ALL, "the rule set", lambda it: it.line.rules),
    _C("seed", _TEXT, _ROUNDS, "the seed of the deal", lambda it: it.line.seed),
    _C("first", _INTEGER, _ROUNDS, "the seat that began: 0 or 1", lambda it: it.line.first),
    _C("winner", _INTEGER, _ROUNDS, "the seat that won; null if none did", lambda it: it.line.result.winner),
    _C("ending", _TEXT, _ALL, "how it ended: by the rules, or by a fault", lambda it: it.line.result.ending),
    _C("counts", _BOOLEAN, _ALL, "whether it is rated: no person had help, and a bot played", lambda it: it.is_rated),
    _C("assisted", _BOOLEAN, _ROUNDS, "whether a person had help", lambda it: it.line.assisted is not None),
    _C("forfeit", _BOOLEAN, _ROUNDS, "whether a withdrawn bot lost it without playing", lambda it: it.is_forfeit),
    _C("voids", _INTEGER, _ROUNDS, "how often it was void before, and played again", lambda it: it.voids),
    _C("fault_seat", _INTEGER, _ROUNDS, "the seat that the fault is charged to", lambda it: it.fault_seat),
    _C("fault_detail", _TEXT, _ROUNDS, "what the fault was, in words", lambda it: it.fault_detail),
    _C("moves", _INTEGER, _ROUNDS, "how many moves were made", lambda it: len(it.line.moves)),
)
_OF_EACH_SEAT: Final = (  # in the table of rounds: bot_0 and bot_1
    _C("bot", _TEXT, _ROUNDS, "the name of the bot", lambda it, seat: it.line.bots[seat]),
    _C("version", _TEXT, _ROUNDS, "the version that the bot says", _R.version),
    _C("program", _TEXT, _ROUNDS, "the short fingerprint of what the arena started", _R.program),
    _C("points", _INTEGER, _ROUNDS, "its points", _R.points),
    _C("stones", _INTEGER, _ROUNDS, "how many stones it held at the end", _R.stones),
    _C("decisions", _INTEGER, _ROUNDS, "how often it was asked and answered", lambda it, seat: len(it.times(seat))),
    _C("ms", _INTEGER, _ROUNDS, "how long its answers took, in milliseconds", lambda it, seat: sum(it.times(seat))),
    _C("loss", _NUMBER, _ROUNDS, "how much its decisions lost, summed", _R.loss, True),
)
_BY_SEAT: Final = (
    _C("seat", _INTEGER, _DECISIONS, "the seat that decides: 0 or 1", lambda _, seat: seat),
    _C("began", _BOOLEAN, _DECISIONS, "whether it began the round", lambda it, seat: it.line.first == seat),
    _C("bot", _TEXT, _DECISIONS, "the name of its bot", lambda it, seat: it.line.bots[seat]),
    _C("version", _TEXT, _DECISIONS, "the version that the bot says", _R.version),
    _C("opponent", _TEXT, _DECISIONS, "the name of the other bot", lambda it, seat: it.line.bots[other(seat)]),
    _C("opponent_version", _TEXT, _DECISIONS, "the version that that says", lambda it, seat: it.version(other(seat))),
    _C("result", _NUMBER, _DECISIONS, "1 if it won the round, 0.5 for a draw, 0 if it lost", _R.result),
    _C("points", _INTEGER, _DECISIONS, "its points for the round", _R.points),
    _C("opponent_points", _INTEGER, _DECISIONS, "those of the other seat", lambda it, seat: it.points(other(seat))),
)
_BY_DECISION: Final = (
    _C("at", _INTEGER, _DECISIONS, "the number of the position, from 0, as in `arena replay --at`", lambda _, at: at),
    _C("phase", _TEXT, _DECISIONS, "what is decided: claim, play, draw or return", _R.phase),
    _C("legal", _INTEGER, _DECISIONS, "how many moves are legal", _R.legal),
    _C("move", _TEXT, _DECISIONS, "the move; null if a fault came instead", _R.move),
    _C("ms", _INTEGER, _DECISIONS, "how long the answer took; null if the only legal move was made unasked", _R.ms),
    _C("note", _TEXT, _DECISIONS, "what the bot noted", lambda it, at: it.line.notes.get(str(at))),
    _C("expected", _NUMBER, _DECISIONS, "what the seat could expect after the move, 0 to 1", _R.expected, True),
    _C("best", _TEXT, _DECISIONS, "what the evaluator would have played", _R.best, True),
    _C("best_expected", _NUMBER, _DECISIONS, "what it could have expected then", _R.best_expected, True),
    _C("position", _TEXT, _POSITIONS, "the whole position as a text, with both hands and decks", _R.position),
)
# fmt: on


def _of_seat(column: ExportColumn, seat: Seat) -> ExportColumn:
    """The column of this seat in the table of rounds."""
    return attrs.evolve(
        column,
        name=f"{column.name}_{seat}",
        meaning=f"seat {seat}: {column.meaning}",
        value=lambda found: column.value(found, seat),
    )


def columns_of(table: ExportedTable, evaluated: bool) -> TableColumns:
    """The columns of a table, with or without what the evaluator thinks."""
    of_seats = tuple(_of_seat(column, seat) for column in _OF_EACH_SEAT for seat in SEATS)

    def chosen(columns: tuple[ExportColumn, ...]) -> tuple[ExportColumn, ...]:
        return tuple(each for each in columns if table in each.tables and (evaluated or not each.is_opinion))

    return TableColumns(chosen(_BY_ROUND + of_seats), chosen(_BY_SEAT), chosen(_BY_DECISION))
