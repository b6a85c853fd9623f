"""The worst decisions of a bot in many rounds of a journal, found on all cores."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import attrs
from msgspec import Struct

from arena.evaluation.counting import bundled_evaluator
from arena.evaluation.evaluator import Evaluator
from arena.journal.index import ListedRound
from arena.journal.line_workers import RoundTask, answers, cores
from arena.journal.lines import RoundLine, game_record, rounds_at
from arena.replay.analysis import JudgedDecision, judged, worst
from arena.support.text import printable
from engine.errors import EngineError
from engine.record import dealt, steps

_BATCH = 4  # rounds: some tenths of a second of work


class JudgedRound(Struct, frozen=True, array_like=True, gc=False):
    """The worst decisions of a bot in one round, as a worker reports them."""

    decisions: int = 0  # how many there were
    worst: tuple[JudgedDecision, ...] = ()
    problem: str = ""  # why the round cannot be replayed, if so


@attrs.frozen
class Mistake:
    round: ListedRound
    decision: JudgedDecision


@attrs.frozen
class Mistakes:
    """The decisions that lost most, the worst first."""

    evaluator: str  # whose opinion it is
    found: list[Mistake]
    decisions: int  # of the bot, in all rounds
    problems: list[str]


def mistakes_of(
    name: str,
    journal: Path,
    rounds: Sequence[ListedRound],
    most: int,
    progress: Callable[[int], None] = lambda _done: None,
    workers: int | None = None,
) -> Mistakes:
    """Find the worst decisions of a bot in these rounds of a journal. `progress` is called with how many rounds are
    evaluated. Raises JournalError and OSError.

    There are as many worker processes as cores, unless their number is given; without any, the work is done here."""
    listed = {each.line: each for each in rounds}
    task = RoundTask(judged_round, JudgedRound, (name, str(most)), _BATCH)
    if workers is None:
        workers = min(cores(), (len(rounds) + _BATCH - 1) // _BATCH)
    kept: list[Mistake] = []
    problems, decisions = [], 0
    answered = answers(rounds_at(journal, listed), task, workers)
    with closing(answered) as judgements:
        for done, (entry, judgement) in enumerate(judgements, 1):
            if judgement is None:
                problems.append(entry.message)
            elif judgement.problem:
                problems.append(f"{journal}:{entry.number}: this round cannot be replayed: {judgement.problem}")
            else:
                decisions += judgement.decisions
                kept += [Mistake(listed[entry.number], each) for each in judgement.worst]
                kept = sorted(kept, key=lambda each: -each.decision.loss)[:most]  # of equal ones the earlier first
            progress(done)
    return Mistakes(bundled_evaluator().name, kept, decisions, problems)


def judged_round(line: RoundLine, name: str, most: str) -> JudgedRound:
    """The decisions of the bot in this round, and at most `most` of those that lost something, the worst first."""
    try:
        found = _decisions(line, name, bundled_evaluator())
    except (EngineError, ValueError) as error:
        return JudgedRound(problem=printable(str(error)))
    return JudgedRound(len(found), tuple(worst([each for each in found if each.loss > 0], int(most))))


def _decisions(line: RoundLine, name: str, evaluator: Evaluator) -> list[JudgedDecision]:
    record, found = game_record(line), []
    for index, step in enumerate(steps(record, game := dealt(record))):
        if line.bots[game.to_move] == name:
            legal = game.legal_actions()
            if step.action in legal:  # the engine is about to refuse any other
                found += [judged(evaluator, game.position(), legal, step.action.text, index + 1)]
    return [each for each in found if each is not None]
