"""`arena verify`: every round of a journal again through the referee, every point recounted. No bot is needed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from arena.config import ConfigError, recorded_rules_and_schedule
from arena.deal_audit import DealAudit
from arena.journal import (
    VERSION,
    JournalLine,
    ResumeLine,
    RevealLine,
    RoundLine,
    TournamentLine,
    VoidLine,
    encoded,
    game_record,
    read,
)
from arena.schedule import PlannedRound
from engine.errors import EngineError
from engine.record import steps, verify
from engine.ruleset import RuleSet


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
    openings: set[bytes] = attrs.field(factory=set)  # of the tournaments read so far
    points: dict[str, int] = attrs.field(factory=dict)  # by bot, recounted


@attrs.frozen
class _Plan:
    """What the opening line of a tournament says about its rounds."""

    rules: RuleSet
    rounds: dict[str, tuple[PlannedRound, tuple[str, str]]]
    deals: DealAudit


def verify_journals(paths: list[Path]) -> Report:
    report = Report()
    for path in paths:
        _verify_file(path, report)
    return report


def _verify_file(path: Path, report: Report) -> None:
    plan: _Plan | None = None
    seen: set[str] = set()
    again = False
    for entry in read(path, JournalLine):
        if entry.line is None:
            (report.torn if entry.torn else report.problems).append(Problem(path, entry.number, entry.problem))
            continue
        match entry.line:
            case TournamentLine() as opening:
                _report_missing(path, plan, seen, report)
                line_again = encoded(opening)
                again = line_again in report.openings
                report.openings.add(line_again)
                seen, plan = set(), None
                if again:
                    report.problems.append(Problem(path, entry.number, "this tournament comes twice; only one counts"))
                    continue
                report.tournaments += 1
                try:
                    plan = _plan(opening.config)
                except (ConfigError, EngineError) as error:
                    plan = None
                    report.problems.append(Problem(path, entry.number, f"the configuration is damaged: {error}"))
            case VoidLine() as void:
                report.voids += 1
                if plan is not None:
                    plan.deals.add_void(void.id)
            case ResumeLine() if plan is not None and not again:
                plan.deals.add_resume()
            case RevealLine(secret=secret) if plan is not None and not again:
                found = plan.deals.reveal(entry.number, secret)
                report.problems += [Problem(path, number, text) for number, text in found]
            case RoundLine() as line if not again:
                report.rounds += 1
                for text in _problems_of(entry.number, line, plan, seen):
                    report.problems.append(Problem(path, entry.number, f"round {line.id}: {text}"))
                seen.add(line.id)
                for name, points in zip(line.bots, line.result.points, strict=True):
                    report.points[name] = report.points.get(name, 0) + points

    _report_missing(path, plan, seen, report)


def _report_missing(path: Path, plan: "_Plan | None", seen: set[str], report: Report) -> None:
    """A tournament that is not at its end is no mistake, but worth a word."""
    if plan is None:
        return
    if missing := len(plan.rounds.keys() - seen):
        report.remarks.append(f"{path}: {missing} of {len(plan.rounds)} rounds are not played yet")
    if remark := plan.deals.remark():
        report.remarks.append(f"{path}: {remark}")


def _plan(config: dict[str, Any]) -> _Plan:
    rules, matches, names = recorded_rules_and_schedule(config)
    rounds = {
        planned.id: (planned, (names[match.bots[0]], names[match.bots[1]]))
        for match in matches
        for planned in match.rounds
    }
    return _Plan(rules, {str(key): value for key, value in rounds.items()}, DealAudit(config, rules))


def _problems_of(number: int, line: RoundLine, plan: _Plan | None, seen: set[str]) -> Iterator[str]:
    if line.id in seen:
        yield "it is in the journal twice"
    if plan is not None:
        yield from _differences_from_plan(number, line, plan)
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
    if line.v != VERSION:
        yield f"it is of version {line.v}; this is {VERSION}"
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


def _differences_from_plan(number: int, line: RoundLine, plan: _Plan) -> Iterator[str]:
    found = plan.rounds.get(line.id)
    if found is None:
        yield "it is not in the schedule of this tournament"
        return
    planned, names = found
    for name, said, right in (
        ("match", line.match, planned.id.rpartition(".")[0]),
        ("round", line.round, planned.number),
        ("pair", line.pair, planned.pair),
    ):
        if said != right:
            yield f"its {name} is {said}, but the schedule says {right}"
    if line.bots != names:
        yield f"it is between {' and '.join(line.bots)}, but the schedule says {' and '.join(names)}"
    if planned.first is not None and planned.first != line.first:
        yield f"seat {line.first} began, but the schedule says seat {planned.first}"
    if line.rules != plan.rules.name:
        yield f"it was played by {line.rules}, but the tournament by {plan.rules.name}"
        return
    yield from plan.deals.check(number, line, planned)
