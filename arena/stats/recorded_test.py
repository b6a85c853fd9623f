"""The sequential test in a journal: recomputed from its lines alone."""

from collections.abc import Sequence
from pathlib import Path

from arena.journal.file import expect_journal
from arena.journal.lines import JournalError, TournamentLine
from arena.journal.reader import JournalReader, Progress, no_progress
from arena.journal.sequential_test import SprtState
from arena.journal.tournament_state import TournamentState, verdict
from arena.plan.source import ConfigError
from arena.stats.round_summary import RoundResult
from arena.support.text import printable


def read_test(paths: Sequence[Path], progress: Progress = no_progress) -> tuple[SprtState, list[str]]:
    """The state of the one sequential test that journals hold, and what is wrong with their lines. Raises JournalError
    if there is none or more than one, and OSError."""
    reader, problems = JournalReader(RoundResult), []
    test: TournamentState | None = None
    for state, entry in reader.read_all(paths):
        progress(entry)
        if entry.problem:
            problems.append(entry.message)
        match entry.line:
            case TournamentLine():
                assert state is not None  # each opening line that counts begins one
                if test is not None:
                    raise JournalError(f"{entry.path}:{entry.number}: another tournament begins; name one test only")
                _begin(state, f"{entry.path}:{entry.number}")
                test = state
            case RoundResult() as line if test is not None:
                planned = test.plan.find(line.id)
                if planned is None or planned[1] != line.bots or line.match != line.id.rpartition(".")[0]:
                    problems.append(f"{entry.path}:{entry.number}: round {printable(line.id)} is not in the schedule")
                else:
                    test.add_result(line)
    if test is None:
        expect_journal(paths)
        raise JournalError(f"{' '.join(map(str, paths))}: there is no sequential test in it; `arena sprt` plays one")
    found = verdict(test)
    assert isinstance(found, SprtState)
    return found, problems + reader.remarks()


def _begin(state: TournamentState, where: str) -> None:
    try:
        state.judge()
    except ConfigError as error:
        raise JournalError(f"{where}: {printable(str(error))}") from None
    if state.config.sprt is None:
        raise JournalError(f"{where}: this tournament is not a sequential test; `arena sprt` plays one")
