"""Journals become the rows of a table, one round after the other.

Rounds that have to be played again for that are played on all cores (arena/journal/line_workers.py); the rows are made
here, in the order of the journals. What is in memory does not grow with the number of rounds.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

from arena.export.export_columns import ExportedTable, TableColumns, columns_of
from arena.export.exported_round import ExportedRound, ReadRound, ReplayedRound, replayed
from arena.export.row_formats import RowFormat
from arena.journal.file import line_hash
from arena.journal.line_workers import RoundTask, answers, cores
from arena.journal.lines import JournalEntry, RoundLine, TournamentLine
from arena.journal.reader import JournalReader, Progress, no_progress
from arena.journal.tournament_state import TournamentState
from engine.cards import SEATS

_WORTH_WORKERS: Final = 1_000_000  # bytes of journals; fewer are exported before a worker has started
_HASH_DIGITS: Final = 16
_BATCH: Final = 50  # rounds: some hundredths of a second of work
_EVALUATED_BATCH: Final = 4  # rounds: some tenths of a second of work
_MOST_PROBLEMS: Final = 100  # listed one by one; in a file that is not a journal every line is a problem


@attrs.define
class Export:
    """What to export, and what was found while it is exported."""

    table: ExportedTable
    is_evaluated: bool
    rounds: int = 0  # so far
    rows: int = 0  # likewise
    problems: list[str] = attrs.field(factory=list)  # one for each line that cannot be used
    remarks: list[str] = attrs.field(factory=list)
    _more: int = 0

    @property
    def columns(self) -> TableColumns:
        return columns_of(self.table, self.is_evaluated)

    @property
    def task(self) -> RoundTask[ReplayedRound] | None:
        """What has to be computed for each round; None if its line says all."""
        wanted = ["positions"] if self.table is ExportedTable.POSITIONS else []
        wanted += ["opinions"] if self.is_evaluated else []
        if self.table is ExportedTable.ROUNDS and not wanted:
            return None
        return RoundTask(replayed, ReplayedRound, tuple(wanted), _EVALUATED_BATCH if self.is_evaluated else _BATCH)

    @property
    def messages(self) -> list[str]:
        return [*self.problems, *([f"and {self._more} more"] if self._more else []), *self.remarks]

    def report(self, problem: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self._more += 1


def rows(
    export: Export,
    journals: Sequence[Path],
    form: RowFormat,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> Generator[str, None, None]:
    """Yield the table of these journals, which are read as if they were one file, in this format: its head, and then
    the rows of a round at a time. Raises JournalError if one is not a regular file, and OSError.

    The number of worker processes is chosen by the work there is unless it is given; without any, the work is done
    here."""
    columns = export.columns
    yield form.head(columns.every)
    for found in _rounds(export, journals, workers, progress):
        made = list(_rows(export.table, columns, found, form))
        export.rows += len(made)
        yield "".join(made)


def _rounds(
    export: Export, journals: Sequence[Path], workers: int | None, progress: Progress
) -> Iterator[ExportedRound]:
    """The rounds that count, as far as they can be used."""
    if workers is None:
        is_large = sum(path.stat().st_size for path in journals) >= _WORTH_WORKERS
        workers = cores() if export.task and (is_large or export.is_evaluated) else 0
    reader = JournalReader(ReadRound, keep_raw=workers > 0)
    entries = (entry for _, entry in reader.read_all(journals))
    current: _Tournament | None = None
    with closing(_answers(entries, export.task, workers)) as answered:
        for entry, found in answered:
            progress(entry)
            match entry.line:
                case None:
                    export.report(entry.message)
                case TournamentLine() as opening:
                    current = _Tournament(entry.raw, TournamentState(opening))
                case RoundLine() if found is not None and found.problem:
                    why = f"this round cannot be replayed: {found.problem}"
                    export.report(f"{entry.path}:{entry.number}: {why}")
                case RoundLine():
                    assert current is not None  # the reader leaves out rounds without a tournament
                    export.rounds += 1
                    yield current.round(entry, found or ReplayedRound())
                case other:
                    assert current is not None  # likewise
                    current.state.add(other)
    export.remarks = reader.remarks()


def _answers(
    entries: Iterable[JournalEntry], task: RoundTask[ReplayedRound] | None, workers: int
) -> Generator[tuple[JournalEntry, ReplayedRound | None], None, None]:
    if task is None:
        yield from ((entry, None) for entry in entries)
    else:
        yield from answers(entries, task, workers)


class _Tournament:
    """The tournament whose rounds are being exported. Its state is that before the round, and not that of the reader,
    who is ahead of the workers."""

    def __init__(self, opening: bytes, state: TournamentState):
        self.state = state
        self._hash = line_hash(opening).removeprefix("sha256:")[:_HASH_DIGITS]

    def round(self, entry: JournalEntry, found: ReplayedRound) -> ExportedRound:
        line = entry.line
        one, two = map(self.state.players.find, line.players or (None, None))
        voids = self.state.voids[line.id]
        path, event = str(entry.path), self.state.config.event
        return ExportedRound(path, entry.number, self._hash, event, voids, (one, two), line, found)


def _rows(table: ExportedTable, columns: TableColumns, found: ExportedRound, form: RowFormat) -> Iterator[str]:
    """The rows of a round. What is the same in several of them is encoded once."""
    of_round = form.part(columns.by_round, [column.value(found) for column in columns.by_round])
    if table is ExportedTable.ROUNDS:
        yield form.row([of_round])
        return
    if table is ExportedTable.POSITIONS and not found.replayed.positions:
        return  # the journal does not know the deal
    by_seat, by_decision = columns.by_seat, columns.by_decision
    of_seats = [form.part(by_seat, [column.value(found, seat) for column in by_seat]) for seat in SEATS]
    for at, seat in enumerate(found.deciders(with_prevented=table is ExportedTable.POSITIONS)):
        of_decision = form.part(by_decision, [column.value(found, at) for column in by_decision])
        yield form.row([of_round, of_seats[seat], of_decision])
