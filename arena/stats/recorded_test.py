"""The sequential test in a journal: recomputed from its lines alone."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from arena.journal.endings import ENDINGS, seats_at_fault
from arena.journal.file import expect_journal
from arena.journal.lines import AnyRound, BotLine, JournalError, RoundLine, TournamentLine
from arena.journal.planned import Plan, plan_of
from arena.journal.reader import JournalReader, Progress, no_progress
from arena.plan.config import ConfigError
from arena.plan.recorded_config import RecordedConfig
from arena.stats.round_summary import RoundResult
from arena.stats.sequential_test import SequentialTest, TestedRound, TestState
from arena.support.text import printable


def recorded_test(config: RecordedConfig, plan: Plan) -> SequentialTest | None:
    """The sequential test that a recorded tournament is, before its first round; None if it is none. Raises ConfigError
    if it is not one of pairs between two bots."""
    if config.sprt is None:
        return None
    names = tuple(bot.name for bot in config.bots or ())
    if len(names) != 2 or config.rounds != 2 or not config.pairs:
        raise ConfigError("it is said to be a sequential test, but not one of pairs of rounds between two bots")
    return SequentialTest(config.sprt, names, plan.matches, config.max_faults or 0)


def tested(line: AnyRound) -> TestedRound:
    """What a test needs to know of a round."""
    winner, charged = line.result.winner, None if line.fault is None else line.fault.seat
    at_fault = seats_at_fault(ENDINGS[line.result.ending], winner, charged)
    return TestedRound(line.id, winner, at_fault, line.players or ())


@attrs.frozen
class _RecordedEnd:
    """Says whether a recorded test is over, for those who read its lines for another reason."""

    _test: SequentialTest

    def meet(self, line: BotLine, /) -> None:
        self._test.meet(line)

    def add_line(self, line: RoundLine, /) -> None:
        self._test.add(line.match, tested(line))

    @property
    def is_over(self) -> bool:
        return self._test.advance().end is not None


def recorded_end(config: RecordedConfig, plan: Plan) -> _RecordedEnd | None:
    """What says when a recorded tournament is over before its last round; None if it is no test. Raises ConfigError."""
    test = recorded_test(config, plan)
    return None if test is None else _RecordedEnd(test)


def read_test(paths: Sequence[Path], progress: Progress = no_progress) -> tuple[TestState, list[str]]:
    """The state of the one sequential test that journals hold, and what is wrong with their lines. Raises JournalError
    if there is none or more than one, and OSError."""
    reader, problems = JournalReader(RoundResult), []
    found: tuple[SequentialTest, Plan] | None = None
    for _, entry in reader.read_all(paths):
        progress(entry)
        if entry.problem:
            problems.append(entry.message)
        match entry.line:
            case TournamentLine(config=config):
                if found is not None:
                    raise JournalError(f"{entry.path}:{entry.number}: another tournament begins; name one test only")
                found = _begun(config, f"{entry.path}:{entry.number}")
            case BotLine() as line if found is not None:
                found[0].meet(line)
            case RoundResult() as line if found is not None:
                test, plan = found
                planned = plan.find(line.id)
                if planned is None or planned[1] != line.bots or line.match != line.id.rpartition(".")[0]:
                    problems.append(f"{entry.path}:{entry.number}: round {printable(line.id)} is not in the schedule")
                else:
                    played = TestedRound(line.id, line.result.winner, line.seats_at_fault(), line.players or ())
                    test.add(line.match, played)
    if found is None:
        expect_journal(paths)
        raise JournalError(f"{' '.join(map(str, paths))}: there is no sequential test in it; `arena sprt` plays one")
    return found[0].advance(), problems + reader.remarks()


def _begun(config: RecordedConfig, where: str) -> tuple[SequentialTest, Plan]:
    try:
        plan = plan_of(config)
        test = recorded_test(config, plan)
    except ConfigError as error:
        raise JournalError(f"{where}: {printable(str(error))}") from None
    if test is None:
        raise JournalError(f"{where}: this tournament is not a sequential test; `arena sprt` plays one")
    return test, plan
