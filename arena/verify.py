"""`arena verify`: every round of a journal again through the referee, every point recounted. No bot is needed."""

from collections.abc import Iterator
from pathlib import Path

import attrs

from arena.config import ConfigError
from arena.journal import RoundLine, TournamentLine, VoidLine, game_record
from arena.journal_reader import JournalReader, read_all
from arena.plain_text import printable
from arena.planned import Plan, plan_of
from arena.schedule import deal_for
from engine.errors import EngineError
from engine.record import steps, verify


@attrs.frozen
class Problem:
    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@attrs.define
class Report:
    rounds: int = 0
    voids: int = 0
    tournaments: int = 0
    problems: list[Problem] = attrs.field(factory=list)
    torn: list[Problem] = attrs.field(factory=list)
    remarks: list[str] = attrs.field(factory=list)
    points: dict[str, int] = attrs.field(factory=dict)  # by bot, recounted


@attrs.define
class _Tournament:
    """The one whose rounds are being read."""

    path: Path
    plan: Plan | None  # None if its opening line is damaged
    seen: set[str] = attrs.field(factory=set)  # ids of its rounds


def verify_journals(paths: list[Path]) -> Report:
    """Raises JournalError for what is no regular file, and OSError."""
    report, reader = Report(), JournalReader(RoundLine)
    current: _Tournament | None = None
    for path, entry in read_all(reader, paths):
        match entry.line:
            case None:
                (report.torn if entry.torn else report.problems).append(Problem(path, entry.number, entry.problem))
            case TournamentLine() as opening:
                _report_missing(current, report)
                current = _Tournament(path, None)
                try:
                    current.plan = plan_of(opening.config)
                except ConfigError as error:
                    text = f"the configuration is damaged: {printable(str(error))}"
                    report.problems.append(Problem(path, entry.number, text))
            case VoidLine():
                report.voids += 1
            case RoundLine() as line:
                assert current is not None  # the reader leaves out rounds of no tournament
                for text in _verify_round(line, current, report):
                    report.problems.append(Problem(path, entry.number, printable(f"round {line.id}: {text}")))
    _report_missing(current, report)
    report.tournaments = reader.tournaments
    report.remarks += reader.remarks()
    return report


def _verify_round(line: RoundLine, tournament: _Tournament, report: Report) -> Iterator[str]:
    report.rounds += 1
    for name, points in zip(line.bots, line.result.points, strict=True):
        report.points[name] = report.points.get(name, 0) + points
    yield from _problems_of(line, tournament.plan, tournament.seen)
    tournament.seen.add(line.id)


def _report_missing(tournament: _Tournament | None, report: Report) -> None:
    """A tournament that is not at its end is no mistake, but worth a word."""
    if tournament and (plan := tournament.plan):
        missing = plan.total - sum(plan.find(id) is not None for id in tournament.seen)
        if missing:
            report.remarks.append(f"{tournament.path}: {missing} of {plan.total} rounds are not played yet")


def _problems_of(line: RoundLine, plan: Plan | None, seen: set[str]) -> Iterator[str]:
    if line.id in seen:
        yield "it is in the journal twice"
    if plan is not None:
        yield from _differences_from_plan(line, plan)
    yield from _inconsistencies(line)
    try:
        record = game_record(line)
        verify(record)
        yield from _times_out_of_place(line)
    except (EngineError, ValueError) as error:
        yield str(error)


def _inconsistencies(line: RoundLine) -> Iterator[str]:
    """What the referee does not look at."""
    result, fault = line.result, line.fault
    if any(ms is not None and ms < 0 for _, _, ms in line.moves):
        yield "a time is negative"
    by_fault = result.ending not in ("five-stones", "three-adjacent", "blocked")
    if by_fault is not (fault is not None):
        yield f"it ended by {result.ending}, but {'no fault is recorded' if by_fault else 'a fault is recorded'}"
    elif fault is not None and fault.seat == result.winner:
        yield f"the fault is charged to seat {fault.seat}, who won"


def _times_out_of_place(line: RoundLine) -> Iterator[str]:
    """A time of null stands where the referee applied the only legal action, and nowhere else."""
    for index, step in enumerate(steps(game_record(line))):
        lone = len(step.game.legal_actions()) == 1
        if lone is not (line.moves[index][2] is None):
            yield f"move {index + 1}: {'has a time, but was the only legal action' if lone else 'has no time'}"
            return


def _differences_from_plan(line: RoundLine, plan: Plan) -> Iterator[str]:
    yield from plan.differences(line)
    found = plan.find(line.id)
    if found is None or line.rules != plan.rules.name:
        return  # there is no deal to compare with
    seed, deal = deal_for(found[0], plan.seed, plan.rules)
    try:
        recorded = game_record(line).deal
    except (EngineError, ValueError):
        return  # said elsewhere
    if line.seed != seed or recorded != deal:
        yield "its deal is not the one that follows from the tournament's seed"
