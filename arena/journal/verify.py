"""`arena verify`: play every round of a journal again by the rules, and recount every point. No bot is needed."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

from arena.journal.deal_audit import DealAudit, Place
from arena.journal.line_workers import Task, answers, cores
from arena.journal.lines import BotLine, Entry, ResumeLine, RevealLine, RoundLine, TournamentLine, VoidLine
from arena.journal.planned import Plan, plan_of
from arena.journal.players import Players
from arena.journal.reader import JournalReader, Progress, no_progress
from arena.journal.round_check import RoundCheck, check_round
from arena.plan.config import ConfigError
from arena.support.text import printable

_WORTH_WORKERS: Final = 2_000_000  # bytes of journals; to verify fewer takes no longer than to start workers


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
    resumes: int = 0
    tournaments: int = 0
    problems: list[Problem] = attrs.field(factory=list)
    torn: list[Problem] = attrs.field(factory=list)
    remarks: list[str] = attrs.field(factory=list)
    points: dict[str, int] = attrs.field(factory=dict)  # by bot, recounted; only of rounds that are rated
    not_rated: int = 0  # rounds among them in which a person had help


@attrs.define
class _Tournament:
    """The tournament whose rounds are being read."""

    path: Path
    plan: Plan | None = None  # None if its opening line is damaged
    is_test: bool = False  # a sequential test, which needs only some of its rounds
    deals: DealAudit | None = None  # likewise
    players: Players = attrs.field(factory=Players)
    started: frozenset[str] = frozenset()  # bots that the arena started: no person is among them
    seen: set[str] = attrs.field(factory=set)  # ids of its rounds


def worth_workers(paths: Sequence[Path]) -> int:
    """How many workers are best for these journals; 0 means to verify them here. Raises OSError."""
    return cores() if sum(path.stat().st_size for path in paths) >= _WORTH_WORKERS else 0


def verify_journals(paths: Sequence[Path], workers: int | None = None, progress: Progress = no_progress) -> Report:
    """Verify journals as if they were one file. Raises JournalError if one is not a regular file, and OSError.

    The number of worker processes is chosen by the size of the journals unless it is given; without any, the work is
    done here. `progress` is called with each entry that is verified."""
    workers = worth_workers(paths) if workers is None else workers
    report, reader = Report(), JournalReader(RoundLine, keep_raw=workers > 0)
    current: _Tournament | None = None
    entries = (entry for _, entry in reader.read_all(paths))
    with closing(answers(entries, Task(check_round, RoundCheck), workers)) as checked:
        for entry, check in checked:
            current = _verify(entry, check, current, report)
            progress(entry)
    _report_missing(current, report)
    report.tournaments = reader.tournaments
    report.remarks += reader.remarks()
    return report


def _verify(entry: Entry, check: RoundCheck | None, current: _Tournament | None, report: Report) -> _Tournament | None:
    """Verify one line of the current tournament. Returns the tournament that the next line belongs to."""
    place = entry.path, entry.number
    match entry.line:
        case None:
            (report.torn if entry.torn else report.problems).append(Problem(*place, entry.problem))
        case TournamentLine():
            _report_missing(current, report)
            return _begun(entry, report)
        case VoidLine() | ResumeLine() | RevealLine() as other:
            report.voids += isinstance(other, VoidLine)
            if current is not None and current.plan is not None and current.deals is not None:
                for where, text in _verify_other(place, other, current, current.plan, current.deals):
                    report.problems.append(Problem(*where, printable(text)))
        case BotLine() as bot:
            assert current is not None  # the reader leaves it out, too
            for text in current.players.check(bot, current.plan.names if current.plan else None):
                report.problems.append(Problem(*place, printable(text)))
        case RoundLine() as line:
            assert current is not None  # the reader leaves out rounds without a tournament
            assert check is not None
            for text in _verify_round(place, line, check, current, report):
                report.problems.append(Problem(*place, printable(f"round {line.id}: {text}")))
    return current


def _begun(entry: Entry, report: Report) -> _Tournament:
    begun, config = _Tournament(entry.path), entry.line.config
    problem = entry.problem
    try:
        begun.plan = plan_of(config)
        begun.deals = DealAudit(config, begun.plan.rules)
        begun.is_test = config.sprt is not None
        begun.started = frozenset(bot.name for bot in config.bots if not bot.remote)
    except ConfigError as error:
        problem = problem or f"the configuration is damaged: {printable(str(error))}"
    if problem:
        report.problems.append(Problem(entry.path, entry.number, problem))
    return begun


def _verify_other(
    place: Place, line: VoidLine | ResumeLine | RevealLine, tournament: _Tournament, plan: Plan, deals: DealAudit
) -> Iterator[tuple[Place, str]]:
    """Check the lines besides rounds that determine deals: voids, resumes and the secret."""
    if deals.is_revealed:
        yield place, "this line comes after the secret of the deals was revealed"
    match line:
        case VoidLine():
            if different := next(plan.differences_of_void(line), None):
                yield place, f"void round {line.id}: {different}"
            elif line.id in tournament.seen:
                yield place, f"round {line.id} is void after it was finished"
            deals.add_void(line.id)
        case ResumeLine():
            deals.add_resume()
        case RevealLine():
            yield from deals.reveal(place, line.secret)


def _verify_round(
    place: Place, line: RoundLine, check: RoundCheck, tournament: _Tournament, report: Report
) -> Iterator[str]:
    report.rounds += 1
    report.not_rated += line.assisted is not None
    for name, points in zip(line.bots, line.result.points, strict=True):
        report.points[name] = report.points.get(name, 0) + (points if line.assisted is None else 0)
    if tournament.plan is not None and tournament.deals is not None:
        yield from _differences_from_plan(place, line, check, tournament.plan, tournament.deals)
    yield from check.problems
    yield from tournament.players.check_round(line)
    if line.assisted is not None and (name := line.bots[line.assisted.seat]) in tournament.started:
        yield f"it says that {name} had help, but {name} is a bot that the arena started"
    tournament.seen.add(line.id)


def _report_missing(tournament: _Tournament | None, report: Report) -> None:
    """Report what is missing from a tournament. That it is not finished is a remark, not a problem."""
    if tournament is None or tournament.plan is None or tournament.deals is None:
        return
    path, plan, deals = tournament.path, tournament.plan, tournament.deals
    report.resumes += deals.resumes
    report.remarks += (f"{path}: {remark}" for remark in tournament.players.remarks())
    missing = plan.total - sum(plan.find(id) is not None for id in tournament.seen)
    if missing and tournament.is_test:
        report.remarks.append(f"{path}: whether this sequential test is decided, `arena table --sprt` says")
    elif missing:
        are = "is" if missing == 1 else "are"
        report.remarks.append(f"{path}: {missing} of {plan.total} rounds {are} not played yet")
    if deals.is_public:
        report.remarks.append(
            f"{path}: the deals come from a public seed: a bot author who knew it could know them in advance"
        )
    if (unproven := deals.unproven()) and missing:
        report.remarks.append(
            f"{path}: the secret of the deals is not revealed yet; when it is, at the end of the tournament, it will "
            f"prove {unproven[1]}"
        )
    elif unproven:
        text = f"the tournament is over, but its secret was not revealed: {unproven[1]} are not proved; run it again"
        report.problems.append(Problem(*unproven[0], text))


def _differences_from_plan(
    place: Place, line: RoundLine, check: RoundCheck, plan: Plan, deals: DealAudit
) -> Iterator[str]:
    yield from plan.differences(line)
    found = plan.find(line.id)
    if found is not None and line.rules == plan.rules.name:  # else there is no deal to compare with
        yield from deals.check(place, line, found[0], check.deal_follows)
