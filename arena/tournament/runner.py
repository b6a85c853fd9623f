"""A tournament: matches that are played at the same time, and one task that writes their rounds to the journal.

Theory of operation. The schedule is fixed in advance. What the journal already contains is folded into a `Ledger`
(scores of matches under way, faults in a row, finished ids), and only missing rounds are played. The `Matchmaker`
chooses the match that begins next. A match between bots that the arena starts is a job for a worker process
(worker_pool.py). A match with a bot that connects is played here, by its own task (play_here.py). Both run the
same logic (arena/worker/job_play.py), and `hear` processes the reports of both: it sends each round to the writer,
which appends it to the journal and waits for the disk; only then is the round reported to the listener. So every round
that was reported is saved, and every other is played again.

Owners: the outer nursery owns the writer, which finishes what was sent to it even if play is cancelled. The pool owns
the workers, and with them their bots. The inner scope owns the matches that are played here and the processes of their
bots; connections belong to the server's door (door.py). A round that fails for a reason of our own is void and played
again, and so is one whose worker died; if that does not help, the tournament stops and keeps everything that is
finished (failures.py).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import trio

from arena.journal.file import Rescue, beside
from arena.journal.lines import BotLine, Journal, VoidLine
from arena.journal.tournament_state import next_matches, verdict
from arena.plan.config import Config, OnChange
from arena.plan.schedule import PlannedMatch
from arena.processes.stderr import StderrKeeper
from arena.support.text import counted
from arena.support.timestamps import utc_now
from arena.tournament.failures import Failures
from arena.tournament.foreign_bundle import keep_bundle, naming_kept_bundle
from arena.tournament.identities import WHAT_BELONGS, new_claim, refusal
from arena.tournament.jobs import job_of
from arena.tournament.ledger import Ledger
from arena.tournament.matchmaker import Matchmaker
from arena.tournament.player_sources import NobodyConnects, PlayerSource, Presence
from arena.tournament.tournament_events import (
    BotIdentified,
    BotReadmitted,
    BotWithdrawn,
    Listener,
    Noticed,
    RoundFinished,
    RoundStarted,
    RoundVoid,
    TournamentEvent,
    VerdictAdvanced,
)
from arena.tournament.withdrawals import withdrawal, withdrawals_at_start
from arena.tournament.worker_pool import AnyPool, Death, MakePool, WorkerPool
from arena.tournament.writer import JournalWriter
from arena.worker.job import (
    FaultBundled,
    MatchJob,
    OrganiserWarned,
    PositionSeen,
    Report,
    RoundSeen,
    Rulings,
    StderrWritten,
)
from arena.worker.worker_process import WorkerProcess

if TYPE_CHECKING:
    from arena.match.audience import Audience
    from arena.match.round_play import Players
    from arena.tournament.play_here import PlayHere

# Events on their way to the journal and the listener; matches wait if there are more. There is room for what thousands
# of rounds a second bring while the writer pauses.
IN_FLIGHT: Final = 1024
EventSender = trio.MemorySendChannel[TournamentEvent]


class TournamentError(Exception):
    """The tournament cannot continue; what is finished is saved."""


class Tournament:
    def __init__(
        self,
        config: Config,
        journal: Journal | None,
        ledger: Ledger,
        listener: Listener,
        remote_bots: PlayerSource | None = None,
        presence: Presence | None = None,
        audience: "Audience | None" = None,
        spare: WorkerProcess | None = None,
        make_pool: MakePool | None = None,
    ):
        self._config = config
        self._journal = journal
        self._ledger = ledger
        self._state = ledger.state
        self._format = ledger.state.format
        self._verdict = verdict(self._state)  # the last one that was reported
        self._writer = JournalWriter(journal, listener)
        self._remote_bots = remote_bots
        self._audience = audience
        self.stopped = False
        self.warnings: list[str] = []
        self._stderr = StderrKeeper(self._beside("stderr"), self.warn)
        self._failure: TournamentError | None = None
        self._before = {bot.name: self._state.players.of(bot.name) for bot in config.bots}
        self._refused: set[str] = set()  # ids of players that differ from those before, which nobody has accepted
        self._failures = Failures(config, ledger)
        pool = make_pool(config, self.hear, self._rulings, self._fail) if make_pool else None
        self._pool: AnyPool = pool or WorkerPool(config, self.hear, self._rulings, spare)
        self._matchmaker = Matchmaker(
            next_matches(self._state),
            config.bots,
            presence or NobodyConnects(),
            self._pool.most_matches,
            ledger.withdrawn,
        )
        self._playing = trio.CancelScope()

    @property
    def saved(self) -> int:
        """The number of rounds that this run has saved."""
        return self._writer.saved

    @property
    def rescue(self) -> Rescue | None:
        """The rescue of the journal, if another program changed it."""
        return self._writer.rescue

    def stop(self) -> None:
        """Stop at once. Rounds under way are dropped; a resume plays them again."""
        self.stopped = True
        self._playing.cancel()

    def drain(self, seconds: float) -> None:
        """Let no more matches begin, and give those under way this many seconds to end."""
        self.stopped = True
        self._matchmaker.close()
        self._playing.deadline = trio.current_time() + seconds

    def bot_availability_changed(self, name: str) -> None:
        """Take note that a remote bot connected, left, or is free for another match."""
        self._matchmaker.came(name)

    def withdrawals(self) -> Iterator[BotReadmitted | BotWithdrawn]:
        """What the organiser has to know of withdrawals before the tournament begins or resumes."""
        return withdrawals_at_start(self._config, self._ledger, self._matchmaker.forfeits_later)

    async def run(self) -> None:
        """Play all missing rounds. Raises TournamentError if the tournament cannot continue, and a group with what the
        listener raises."""
        self._sender, receiver = trio.open_memory_channel[TournamentEvent](IN_FLIGHT)
        async with trio.open_nursery() as outer:
            outer.start_soon(self._writer.run, receiver, self._playing.cancel)
            async with self._sender, self._pool.open():
                with self._playing:
                    async with trio.open_nursery() as tasks:
                        await self._work(tasks)
                        tasks.cancel_scope.cancel()
        if self._writer.failure is not None:
            raise TournamentError(self._writer.failure)
        if self._failure is not None:
            raise self._failure

    async def _work(self, tasks: trio.Nursery) -> None:
        here = None
        if self._remote_bots is not None and len(self._config.programs) < len(self._config.bots):
            from arena.tournament.play_here import PlayHere

            here = PlayHere(self._config, self._remote_bots, self._stderr, self, self._audience, tasks)
        async with trio.open_nursery() as matches:
            while (match := await self._matchmaker.next()) is not None:
                if here is None or all(self._config.bots[number].program is not None for number in match.bots):
                    matches.start_soon(self._play_in_worker, match)
                else:
                    matches.start_soon(self._play_here, here, match, here.players(match))
        if here is not None:
            await here.end()

    async def _play_here(self, here: "PlayHere", match: PlannedMatch, players: "Players") -> None:
        await here.play(self._job(match), players)
        self._match_over(match)

    async def _play_in_worker(self, match: PlannedMatch) -> None:
        while (death := await self._pool.play(partial(self._job, match))) is not None:
            await self._worker_died(match, death)
        self._match_over(match)

    def _match_over(self, match: PlannedMatch) -> None:
        self._failures.forget(match.id)
        if self._audience is not None:
            self._audience.match_over(match.id)
        self._matchmaker.over(match)

    async def _worker_died(self, match: PlannedMatch, death: Death) -> None:
        """Have the round that was under way played again. It gets a new deal if the bots have seen the old one, unless
        the organiser of a tournament chose the seed: then all deals are known and stay the same, as after a stop."""
        from arena.match.round_play import Void
        from arena.worker.recording import void_line

        self.warn(f"a match was interrupted: {death.reason}")
        planned, key = death.under_way, self._config.key
        assert key is not None
        one, two = match.bots
        names = self._config.bots[one].name, self._config.bots[two].name
        # A worker may die between a report of a finished round and the start of the next one.
        unfinished = planned if planned is not None and planned.id not in self._state.finished else None
        # A format whose verdict counts voids has to know of each, and a round gets another deal after each void.
        same_deal = key.is_public and not self._format.counts_voids
        # The void of the round under way counts for its bots if the worker failed. If only the way to it was lost, that
        # round is like all others whose deals it had.
        shown = unfinished if death.was_exposed and not same_deal else None
        exposed = [*death.also_exposed] if not same_deal else []
        exposed += [shown] if shown and not death.is_ours else []
        await self._void_exposed([void_line(each, match.id, names, Void(death.reason), utc_now()) for each in exposed])
        if shown and death.is_ours:
            await self._void(RoundVoid(void_line(shown, match.id, names, Void(death.reason), utc_now())))
        elif death.is_ours:
            # No deal was seen, or it stays the same, so there is no void. But no match is begun again for ever.
            what = f"round {unfinished.id}" if unfinished else f"match {match.id}"
            self._fail(self._failures.add(match.id, what, death.reason))

    async def _void_exposed(self, lines: Sequence[VoidLine]) -> None:
        """Make rounds of a match void only because their deals may have been seen, which does not count as a loss of
        their bots. There may be many, so one notice is about all of them."""
        for line in lines:
            line = msgspec.structs.replace(line, deal_exposed=True)
            self._state.add(line)
            await self._tell(RoundVoid(line))
        if lines:
            rounds = f"{counted(len(lines), 'round')} of match {lines[0].match}"
            text = f"{rounds} will be played with new deals, because bots may have seen the old ones: {lines[0].reason}"
            await self._tell(Noticed(text))

    async def hear(self, report: Report) -> None:
        """Process a report of a match, wherever it is played."""
        match report:
            case RoundStarted():
                await self._tell(report)
            case BotIdentified(line):
                await self._identified(line)
            case RoundFinished():
                await self._finished(report)
            case RoundVoid():
                await self._void(report)
            case Noticed(text):
                self.warn(text)
                await self._tell(report)
            case OrganiserWarned(text):
                self.warn(text)
            case StderrWritten(number, data):
                self._stderr.of(number, self._config.bots[number].name)(data)
            case FaultBundled(round=round_id) if round_id not in self._state.finished:
                if problem := keep_bundle(self._beside("faults"), report):
                    self.warn(problem)
            case PositionSeen(scene, sight) if self._audience is not None:
                self._audience.look(scene, sight)
            case RoundSeen(scene, outcome) if self._audience is not None:
                self._audience.round_over(scene, outcome)

    async def _identified(self, line: BotLine) -> None:
        """Compare how a bot describes itself with how it did before a resume: once, because no bot may stop a
        tournament by changing while it runs. But a format that is of one version of each bot ends when a program
        changes, and says what it compares."""
        self._ledger.identities.report(line)
        is_first, before = line.name in self._before, self._before.pop(line.name, ())
        if (why := self._format.refuses(line)) is not None:
            if line.id not in self._refused:
                self._refused.add(line.id)
                self._state.add(line)
                await self._tell(BotIdentified(line))
                await self._tell(VerdictAdvanced(verdict(self._state)))
            self._fail(f"{why} {WHAT_BELONGS}")
        elif self._config.changed is not OnChange.CONTINUE and (found := new_claim(before, line)):
            self._refused.add(line.id)
            assert self._journal is not None  # it recorded the bot before
            self._fail(refusal(self._journal.path, [found], [], self._format.one_version))
        elif self._format.one_version and is_first:
            await self._tell(Noticed(f"{line.name}: {line.summary}"))

    async def _finished(self, report: RoundFinished) -> None:
        line = report.line
        if line.id in self._state.finished:
            return  # the first line of an id counts
        if not self._refused.isdisjoint(line.players or ()):
            return  # it is played again, if the organiser accepts the change
        line = naming_kept_bundle(line)
        for identified in self._ledger.identities.before(line):
            await self._tell(identified)
        withdrawn = self._ledger.finish(line)  # before anything else: another attempt may report the same round
        await self._tell(RoundFinished(line))
        self._failures.forget(line.match)
        for name in withdrawn:
            await self._tell(withdrawal(self._config, self._ledger, name, self._matchmaker.forfeits_later(name)))
        if withdrawn:
            await self._pool.tell(self._rulings())
        if not self._format.plays_all:
            await self._judge()

    async def _judge(self) -> None:
        """Report what the rounds so far decide, and what was void. What decides the tournament is on its way to the
        journal, so all else may end."""
        before, self._verdict = self._verdict, verdict(self._state)
        if self._verdict.counted > before.counted or self._verdict.is_over is not before.is_over:
            await self._tell(VerdictAdvanced(self._verdict))
        if self._verdict.is_over:
            self._playing.cancel()

    async def _tell(self, event: TournamentEvent) -> None:
        try:
            self._sender.send_nowait(event)  # without a turn of the scheduler
        except trio.WouldBlock:
            await self._sender.send(event)

    async def _void(self, report: RoundVoid) -> None:
        line = report.line
        if self._failure is not None:
            await trio.lowlevel.checkpoint()  # a match that is played here ends now
            return
        if line.id in self._state.finished:
            return  # another attempt has finished it
        self._state.add(line)
        await self._tell(report)
        if not self._format.plays_all:
            await self._judge()
        if line.excused is None:
            self._fail(self._failures.add(line.match, f"round {line.id}", line.reason))
            self._fail(self._failures.lost(line))
        else:
            await self._pool.tell(self._rulings())

    def _fail(self, reason: str | None) -> None:
        """Stop: the tournament cannot continue, if there is a reason."""
        if reason is not None and self._failure is None:
            self._failure = TournamentError(reason)
            self._playing.cancel()  # `run` raises it once everything that is finished is written

    def warn(self, text: str) -> None:
        """Note something for the organiser, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def _beside(self, what: str) -> Path | None:
        """A folder beside the journal, if there is one: cup.jsonl has cup.stderr and cup.faults."""
        return None if self._journal is None else beside(self._journal.path, what)

    def is_withdrawn(self, name: str) -> bool:
        return name in self._ledger.withdrawn

    def may_excuse(self, name: str) -> bool:
        return self._ledger.may_excuse(name, self._config.max_voids)

    def _rulings(self) -> Rulings:
        watched = self._audience is not None and len(self._audience.watchers) > 0
        spent = frozenset(bot.name for bot in self._config.bots if not self.may_excuse(bot.name))
        return Rulings(frozenset(self._ledger.withdrawn), spent, watched)

    def _job(self, match: PlannedMatch) -> MatchJob:
        return job_of(match, self._config, self._ledger, self._rulings(), self._beside)
