"""`arena verify`: play every round of a journal again by the rules, recount every point, and find out which rounds are
missing. No bot is needed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

from arena.journal.completeness import EarlyEnd, PlayedRounds
from arena.journal.deal_audit import DealAudit, Place
from arena.journal.line_workers import Task, answers, cores
from arena.journal.lines import (
    BotLine,
    Entry,
    ReadmissionLine,
    ResumeLine,
    RevealLine,
    RoundLine,
    TournamentLine,
    VoidLine,
)
from arena.journal.planned import Plan, plan_of
from arena.journal.players import Players
from arena.journal.reader import JournalReader, Progress, no_progress
from arena.journal.round_check import RoundCheck, check_round, late_answer
from arena.plan.config import ConfigError
from arena.plan.deals import PROMISED, is_recorded
from arena.plan.recorded_config import RecordedConfig
from arena.plan.time_control import TimeLimits
from arena.support.text import counted, printable
from protocol.fairness import deal_hash

_WORTH_WORKERS: Final = 2_000_000  # bytes of journals; to verify fewer takes no longer than to start workers
_NO_LIMITS: Final = TimeLimits(move_ms=None)

# Makes what says when a tournament is over that need not play all its rounds; None for any other tournament.
EndsEarly = Callable[[RecordedConfig, Plan], EarlyEnd | None]


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
    incomplete: int = 0  # tournaments that are not over, as far as their journal says
    promises: list[str] = attrs.field(factory=list)  # hashes of the secrets of the deals, in the order of reading


@attrs.define
class _Promised:
    """What the opening line of a tournament says about its rounds, and what they make of it."""

    plan: Plan
    deals: DealAudit
    played: PlayedRounds
    test: EarlyEnd | None  # a sequential test, which needs only some of its rounds
    limits: dict[str, TimeLimits]  # by bot
    started: frozenset[str]  # bots that the arena started: no person is among them


@attrs.define
class _Tournament:
    """The tournament whose rounds are being read."""

    path: Path
    promised: _Promised | None = None  # None if its opening line is damaged, or promises nothing
    is_heard: bool = False  # it has the rounds that one bot heard of at a server
    players: Players = attrs.field(factory=Players)


def worth_workers(paths: Sequence[Path]) -> int:
    """How many workers are best for these journals; 0 means to verify them here. Raises OSError."""
    return cores() if sum(path.stat().st_size for path in paths) >= _WORTH_WORKERS else 0


def verify_journals(
    paths: Sequence[Path],
    workers: int | None = None,
    progress: Progress = no_progress,
    ends_early: EndsEarly = lambda _config, _plan: None,
) -> Report:
    """Verify journals as if they were one file. Raises JournalError if one is not a regular file, and OSError.

    The number of worker processes is chosen by the size of the journals unless it is given; without any, the work is
    done here. `progress` is called with each entry that is verified. `ends_early` knows when sequential tests are over;
    without it they have to have all their rounds."""
    workers = worth_workers(paths) if workers is None else workers
    report, reader = Report(), JournalReader(RoundLine, keep_raw=workers > 0)
    current: _Tournament | None = None
    entries = (entry for _, entry in reader.read_all(paths))
    with closing(answers(entries, Task(check_round, RoundCheck), workers)) as checked:
        for entry, check in checked:
            if isinstance(entry.line, TournamentLine):
                _ended(current, report)
                current = _begun(entry, report, ends_early)
            else:
                _verify(entry, check, current, report)
            progress(entry)
    _ended(current, report)
    report.tournaments = reader.tournaments
    report.remarks += reader.remarks()
    return report


def _verify(entry: Entry, check: RoundCheck | None, current: _Tournament | None, report: Report) -> None:
    """Verify one line of the current tournament."""
    place = entry.path, entry.number
    promised = current.promised if current else None
    match entry.line:
        case None:
            (report.torn if entry.torn else report.problems).append(Problem(*place, entry.problem))
        case VoidLine() | ResumeLine() | ReadmissionLine() | RevealLine() as other:
            report.voids += isinstance(other, VoidLine)
            for where, text in _verify_other(place, other, promised) if promised else ():
                report.problems.append(Problem(*where, printable(text)))
        case BotLine() as bot:
            assert current is not None  # the reader leaves it out, too
            for text in current.players.check(bot, promised.plan.names if promised else None):
                report.problems.append(Problem(*place, printable(text)))
            if promised and promised.test:
                promised.test.meet(bot)
        case RoundLine() as line:
            assert current is not None  # the reader leaves out rounds without a tournament
            assert check is not None
            for text in _verify_round(place, line, check, current, report):
                report.problems.append(Problem(*place, printable(f"round {line.id}: {text}")))


def _begun(entry: Entry, report: Report, ends_early: EndsEarly) -> _Tournament:
    begun, config, problem = _Tournament(entry.path), entry.line.config, entry.problem
    if config.deals == PROMISED:
        begun.is_heard = True
        return begun
    try:
        plan = plan_of(config)
        deals, bots = DealAudit(config, plan.rules), config.bots or ()
        # Arenas before 0.2 kept the time in another way.
        limits = {bot.name: bot.clock for bot in bots if bot.clock} if is_recorded(config) else {}
        started = frozenset(bot.name for bot in bots if not bot.remote)
        begun.promised = _Promised(plan, deals, PlayedRounds(plan), ends_early(config, plan), limits, started)
        report.promises += [deals.promise] if deals.promise else []
    except ConfigError as error:
        problem = problem or f"the configuration is damaged: {printable(str(error))}"
    if problem:
        report.problems.append(Problem(entry.path, entry.number, problem))
    return begun


def _verify_other(
    place: Place, line: VoidLine | ResumeLine | ReadmissionLine | RevealLine, promised: _Promised
) -> Iterator[tuple[Place, str]]:
    """Check the lines besides rounds that come before the secret: those that determine deals, and readmissions."""
    deals = promised.deals
    if deals.is_revealed:
        yield place, "this line comes after the secret of the deals was revealed"
    match line:
        case VoidLine():
            if different := next(promised.plan.differences_of_void(line), None):
                yield place, f"void round {line.id}: {different}"
            elif line.id in promised.played:
                yield place, f"round {line.id} is void after it was finished"
            deals.add_void(line.id)
        case ResumeLine():
            deals.add_resume()
        case ReadmissionLine():
            if line.bot not in promised.plan.names:
                yield place, f"{line.bot} plays again, but it is not one of the bots of this tournament"
        case RevealLine():
            yield from deals.reveal(place, line.secret)


def _verify_round(
    place: Place, line: RoundLine, check: RoundCheck, tournament: _Tournament, report: Report
) -> Iterator[str]:
    report.rounds += 1
    report.not_rated += line.assisted is not None
    for name, points in zip(line.bots, line.result.points, strict=True):
        report.points[name] = report.points.get(name, 0) + (points if line.assisted is None else 0)
    if tournament.promised is not None:
        yield from _broken_promises(place, line, check, tournament.promised)
    elif tournament.is_heard and line.promise != deal_hash(line.deck, line.tactics, line.salt):
        yield "its deal is not the one that the server promised by its hash"
    yield from check.problems
    yield from tournament.players.check_round(line)


def _broken_promises(place: Place, line: RoundLine, check: RoundCheck, promised: _Promised) -> Iterator[str]:
    """Compare a round with what the opening line says of it."""
    different = list(promised.plan.differences(line))
    yield from different
    found = promised.plan.find(line.id)
    if found is not None and line.rules == promised.plan.rules.name:  # else there is no deal to compare with
        yield from promised.deals.check(place, line, found[0], check.deal_follows)
    one, two = (promised.limits.get(name, _NO_LIMITS) for name in line.bots)
    if late := late_answer(line, (one, two)):
        yield late
    if line.assisted is not None and (name := line.bots[line.assisted.seat]) in promised.started:
        yield f"it says that {name} had help, but {name} is a bot that the arena started"
    promised.played.add(line.id)
    if promised.test and not different:
        promised.test.add_line(line)


def _ended(tournament: _Tournament | None, report: Report) -> None:
    """Report what is missing from a tournament. That it is not finished is a remark, not a problem; but one whose
    secret is revealed is over."""
    if tournament is not None and tournament.is_heard:
        report.incomplete += 1
        report.remarks.append(f"{tournament.path}: these are the rounds that one bot heard of; there may be others")
    if tournament is None or tournament.promised is None:
        return
    path, promised = tournament.path, tournament.promised
    deals, played, test = promised.deals, promised.played, promised.test
    report.resumes += deals.resumes
    report.remarks += (f"{path}: {remark}" for remark in tournament.players.remarks())
    count, total = played.count, promised.plan.total
    is_over = count == total or (test is not None and test.is_over)
    unproven = deals.unproven()
    if deals.revealed_at is not None and not is_over:
        report.problems += (Problem(*deals.revealed_at, printable(text)) for text in _missing(promised))
    elif not is_over:
        report.incomplete += 1
        report.remarks.append(f"{path}: not complete: {_so_far(promised)}")
    elif unproven:
        text = f"the tournament is over, but its secret was not revealed: {unproven[1]} are not proved; run it again"
        report.problems.append(Problem(*unproven[0], text))
    if deals.is_public:
        report.remarks.append(
            f"{path}: the deals come from a public seed: a bot author who knew it could know them in advance"
        )


def _missing(promised: _Promised) -> Iterator[str]:
    """Yield what is missing from a tournament that is said to be over."""
    if promised.test is None:
        for text in promised.played.missing():
            yield f"missing, although the secret is revealed and the tournament over: {text}"
    else:
        first = promised.played.first_missing
        yield f"missing, although the secret is revealed: what decides this sequential test, from round {first} on"


def _so_far(promised: _Promised) -> str:
    """How much there is of a tournament that is not over."""
    if promised.test is None:
        text = f"{promised.played.count} of {counted(promised.plan.total, 'round')}"
    else:
        text = f"{counted(promised.played.count, 'round')}, which do not decide this sequential test"
    if promised.deals.promise is None:
        return text
    text += "; the secret of the deals is not revealed yet"
    unproven = promised.deals.unproven()
    return f"{text}: at the end of the tournament it will prove {unproven[1]}" if unproven else text
