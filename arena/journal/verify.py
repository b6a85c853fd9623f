"""`arena verify`: play every round of a journal again by the rules, recount every point, and find out which rounds are
missing. No bot is needed."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

from arena.journal.completeness import first_missing, missing
from arena.journal.deal_audit import DealAudit, Place
from arena.journal.file import line_hash
from arena.journal.line_workers import RoundTask, answers, cores
from arena.journal.lines import (
    BotLine,
    JournalEntry,
    ReadmissionLine,
    ResumeLine,
    RevealLine,
    RoundLine,
    TournamentLine,
    VoidLine,
)
from arena.journal.player_audit import PlayerAudit
from arena.journal.reader import JournalReader, Progress, no_progress
from arena.journal.round_check import RoundCheck, check_round, late_answer
from arena.journal.series import Series
from arena.journal.tournament_state import TournamentState, verdict
from arena.plan.deals import PROMISED
from arena.plan.max_voids import in_words, most_voids
from arena.plan.source import ConfigError
from arena.plan.time_control import TimeLimits
from arena.support.text import counted, printable
from protocol.fairness import deal_hash

_WORTH_WORKERS: Final = 2_000_000  # bytes of journals; to verify fewer takes no longer than to start workers
_NO_LIMITS: Final = TimeLimits(move_ms=None)


@attrs.frozen
class JournalFinding:
    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return printable(f"{self.path}:{self.line}: {self.text}")


@attrs.define
class VerifyReport:
    rounds: int = 0
    faults: int = 0  # rounds that ended by one
    voids: int = 0
    tournaments: int = 0
    problems: list[JournalFinding] = attrs.field(factory=list)
    torn: list[JournalFinding] = attrs.field(factory=list)
    remarks: list[str] = attrs.field(factory=list)
    points: dict[str, int] = attrs.field(factory=dict)  # by bot, recounted; only of rounds that are rated
    not_rated: int = 0  # rounds among them in which a person had help
    incomplete: int = 0  # tournaments that are not over, as far as their journal says
    openings: list[JournalFinding] = attrs.field(factory=list)  # the hash of each opening line

    def remark(self, place: Place, text: str) -> None:
        self.remarks.append(str(JournalFinding(*place, text)))


@attrs.define
class _Promised:
    """What the opening line of a tournament says about its rounds."""

    state: TournamentState
    deals: DealAudit
    limits: dict[str, TimeLimits]  # by bot
    started: frozenset[str]  # bots that the arena started: no person is among them


@attrs.frozen
class _Unfinished:
    """A tournament that is not over, as far as its journal says."""

    place: Place
    hash: str
    so_far: str


@attrs.define
class _Tournament:
    """The tournament whose rounds are being read."""

    place: Place  # of its opening line
    hash: str  # of that line
    state: TournamentState  # lines that are verified are fed to it
    players: PlayerAudit
    promised: _Promised | None = None  # None if its opening line is damaged, or promises nothing
    is_heard: bool = False  # it has the rounds that one bot heard of at a server


def worth_workers(paths: Sequence[Path]) -> int:
    """How many workers are best for these journals; 0 means to verify them here. Raises OSError."""
    return cores() if sum(path.stat().st_size for path in paths) >= _WORTH_WORKERS else 0


def verify_journals(
    paths: Sequence[Path],
    workers: int | None = None,
    progress: Progress = no_progress,
) -> VerifyReport:
    """Verify journals as if they were one file. Raises JournalError if one is not a regular file, and OSError.

    The number of worker processes is chosen by the size of the journals unless it is given; without any, the work is
    done here. `progress` is called with each entry that is verified."""
    workers = worth_workers(paths) if workers is None else workers
    report, reader = VerifyReport(), JournalReader(RoundLine, keep_raw=workers > 0)
    series, unfinished = Series(), list[_Unfinished]()
    current: _Tournament | None = None
    entries = (entry for _, entry in reader.read_all(paths))
    with closing(answers(entries, RoundTask(check_round, RoundCheck), workers)) as checked:
        for entry, check in checked:
            if isinstance(entry.line, TournamentLine):
                unfinished += _ended(current, report)
                current = _begun(entry, report)
                series.add(current.place, current.hash, entry.line)
            else:
                _verify(entry, check, current, report)
            progress(entry)
    unfinished += _ended(current, report)
    _judge(series, unfinished, report)
    report.tournaments = reader.tournaments
    if not report.tournaments:  # a torn opening line leaves nothing to verify; any other torn line is played again
        report.problems, report.torn = [*report.torn, *report.problems], []
    report.remarks += reader.remarks()
    return report


def _verify(entry: JournalEntry, check: RoundCheck | None, current: _Tournament | None, report: VerifyReport) -> None:
    """Verify one line of the current tournament."""
    place = entry.path, entry.number
    promised = current.promised if current else None
    match entry.line:
        case None:
            (report.torn if entry.torn else report.problems).append(JournalFinding(*place, entry.problem))
        case VoidLine() | ResumeLine() | ReadmissionLine() | RevealLine() as other:
            report.voids += isinstance(other, VoidLine)
            assert current is not None  # the reader leaves it out, too
            findings = list(_verify_other(place, other, promised)) if promised else []
            current.state.add(other)
            findings += promised.deals.reveal(place, other.secret) if promised and isinstance(other, RevealLine) else []
            report.problems += (JournalFinding(*where, text) for where, text in findings)
        case BotLine() as bot:
            assert current is not None  # the reader leaves it out, too
            for text in current.players.check(bot, current.state.plan.names if promised else None):
                report.problems.append(JournalFinding(*place, text))
            current.state.add(bot)
        case RoundLine() as line:
            assert current is not None  # the reader leaves out rounds without a tournament
            assert check is not None
            for text in _verify_round(place, line, check, current, report):
                report.problems.append(JournalFinding(*place, f"round {line.id}: {text}"))


def _begun(entry: JournalEntry, report: VerifyReport) -> _Tournament:
    state = TournamentState(entry.line)
    begun = _Tournament((entry.path, entry.number), line_hash(entry.raw), state, PlayerAudit(state.players))
    config, problem = entry.line.config, entry.problem
    if config.deals == PROMISED:
        begun.is_heard = True
        return begun
    report.openings.append(JournalFinding(*begun.place, f"the opening line has the hash {begun.hash}"))
    if entry.raw.endswith(b"\r\n"):
        report.remark(begun.place, "the line ends in CR LF, which changes its hash; `tr -d '\\r'` removes the CR")
    try:
        state.judge()
        bots = config.bots or ()
        limits = {bot.name: bot.clock for bot in bots if bot.clock}
        started = frozenset(bot.name for bot in bots if not bot.remote)
        begun.promised = _Promised(state, DealAudit(state), limits, started)
    except ConfigError as error:
        problem = problem or f"the configuration is damaged: {error}"
    if problem:
        report.problems.append(JournalFinding(entry.path, entry.number, problem))
    return begun


def _verify_other(
    place: Place, line: VoidLine | ResumeLine | ReadmissionLine | RevealLine, promised: _Promised
) -> Iterator[tuple[Place, str]]:
    """Check the lines besides rounds that come before the secret: those that determine deals, and readmissions."""
    plan = promised.state.plan
    if promised.deals.is_revealed:
        yield place, "this line comes after the secret of the deals was revealed"
    match line:
        case VoidLine():
            if different := next(plan.differences_of_void(line), None):
                yield place, f"void round {line.id}: {different}"
            elif line.id in promised.state.finished:
                yield place, f"round {line.id} is void after it was finished"
        case ReadmissionLine():
            if line.bot not in plan.names:
                yield place, f"{line.bot} plays again, but it is not one of the bots of this tournament"


def _verify_round(
    place: Place, line: RoundLine, check: RoundCheck, tournament: _Tournament, report: VerifyReport
) -> Iterator[str]:
    report.rounds += 1
    report.faults += line.fault is not None
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
    state, plan = promised.state, promised.state.plan
    different = list(plan.differences(line))
    yield from different
    found = plan.find(line.id)
    if found is not None and line.rules == plan.rules.name:  # else there is no deal to compare with
        yield from promised.deals.check(place, line, found[0], check.deal_follows)
    one, two = (promised.limits.get(name, _NO_LIMITS) for name in line.bots)
    if late := late_answer(line, (one, two)):
        yield late
    if line.assisted is not None and (name := line.bots[line.assisted.seat]) in promised.started:
        yield f"it says that {name} had help, but {name} is a bot that the arena started"
    if not different:
        state.add_round(line)
        state.add_result(line)
        return
    state.rounds.update(line.bots)
    if found is not None:  # it is not missing, but what it says of itself does not count
        state.finished.add(line.id.rpartition(".")[0], line.id)


def _ended(tournament: _Tournament | None, report: VerifyReport) -> Iterator[_Unfinished]:
    """Report what is missing from a tournament whose secret is revealed, which is over. Yields one that is not."""
    if tournament is not None and tournament.is_heard:
        report.incomplete += 1
        report.remark(tournament.place, "these are the rounds that one bot heard of; there may be others")
    if tournament is None or tournament.promised is None:
        return
    place, promised = tournament.place, tournament.promised
    state, deals = promised.state, promised.deals
    for remark in (*tournament.players.remarks(), *_doubtful(promised)):
        report.remark(place, remark)
    # The secret is revealed when nothing is left to play: what is missing then, was removed. Without the secret the
    # tournament may still go on; if nothing is left to play, its deals are not proved.
    is_over = verdict(state).is_over or state.finished.count == state.plan.total
    unproven = deals.unproven()
    if deals.revealed_at is not None and not is_over:
        report.problems += (JournalFinding(*deals.revealed_at, text) for text in _missing(promised))
    elif not is_over:
        yield _Unfinished(place, tournament.hash, _so_far(promised))
    elif unproven:
        text = f"the tournament is over, but its secret was not revealed: {unproven[1]} are not proved; run it again"
        report.problems.append(JournalFinding(*unproven[0], text))
    if deals.is_public:
        report.remark(place, "the deals come from a public seed: a bot author who knew it could know them in advance")


def _doubtful(promised: _Promised) -> Iterator[str]:
    """Yield what changed deals, and is left to the organiser: nothing proves that it had to be."""
    state = promised.state
    if resumes := state.resumes:
        yield f"resumed {counted(resumes, 'time')}; rounds that were not finished got other deals"
    allowed = state.config.max_voids
    for name, count in state.excused.items():
        if allowed is not None and count > most_voids(allowed, state.rounds[name]):
            # Matches that are played at the same time may be excused before they know of each other.
            yield f"{name} was excused {counted(count, 'time')}, but max-voids is {in_words(allowed)}"


def _judge(series: Series, unfinished: Iterable[_Unfinished], report: VerifyReport) -> None:
    """Report what is missing between tournaments, and those that are not complete: a remark, unless another one
    follows, which a server begins only when all of the one before is played."""
    followers = series.followers()
    for each in unfinished:
        if (cycle := followers.get(each.hash)) is not None:
            text = f"not complete, although cycle {cycle} follows: {each.so_far}"
            report.problems.append(JournalFinding(*each.place, text))
        else:
            report.incomplete += 1
            report.remark(each.place, f"not complete: {each.so_far}")
    for place, text in series.gaps():
        report.problems.append(JournalFinding(*place, text))
    for place, text in series.late_beginnings():
        report.incomplete += 1
        report.remark(place, text)


def _missing(promised: _Promised) -> Iterator[str]:
    """Yield what is missing from a tournament that is said to be over."""
    state = promised.state
    if state.format.plays_all:
        for text in missing(state):
            yield f"missing, although the secret is revealed and the tournament over: {text}"
    else:
        what = f"what decides this {state.format.words}, from round {first_missing(state)} on"
        yield f"missing, although the secret is revealed: {what}"


def _so_far(promised: _Promised) -> str:
    """How much there is of a tournament that is not over."""
    state = promised.state
    if state.format.plays_all:
        text = f"{state.finished.count} of {counted(state.plan.total, 'round')}"
    else:
        text = f"{counted(state.finished.count, 'round')}, which do not decide this {state.format.words}"
    if state.config.seed_hash is None:
        return text
    text += "; the secret of the deals is not revealed yet"
    unproven = promised.deals.unproven()
    return f"{text}: at the end of the tournament it will prove {unproven[1]}" if unproven else text
