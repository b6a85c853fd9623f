"""A tournament: matches that are played at the same time, and one task that writes their rounds to the journal.

Theory of operation. The schedule is fixed in advance. What the journal already contains is folded into a `Ledger`
(scores of matches under way, faults in a row, finished ids), and only missing rounds are played. The `Matchmaker`
chooses the match that begins next. The task of the match takes its players from the `Seats`, plays the missing rounds
in order and sends each round to the writer. The writer appends it to the journal and waits for the disk; only then is
the round reported to the listener. So every round that was reported is saved, and every other is played again.

Owners: the outer nursery owns the writer, which finishes what was sent to it even if play is cancelled. The inner scope
owns the matches and the processes of bots; connections belong to the server's door (door.py). Faults of bots arrive
here as values (see match.py). An exception here is our own bug: the round is void and played again, and if that does
not help, the tournament stops and keeps everything that is finished.
"""

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import trio

from arena.bots.stderr import StderrKeeper
from arena.bots.trio_driver import TrioProcesses, driven
from arena.bots.watchdog import Watchdog
from arena.journal.endings import Fault
from arena.journal.file import Rescue, beside
from arena.journal.lines import Journal, RoundLine
from arena.match.audience import Audience
from arena.match.match import Match, PlayedRound
from arena.match.referee import Referee
from arena.match.round_play import Players, Void
from arena.plan.bot_spec import Restart
from arena.plan.config import Config
from arena.plan.deals import Dealt
from arena.plan.schedule import PlannedMatch, PlannedRound
from arena.support.signals import first_exception
from arena.support.timestamps import utc_now
from arena.tournament.events import BotWithdrawn, Listener, RoundFinished, RoundStarted, RoundVoid, TournamentEvent
from arena.tournament.fault_bundle import write_bundle
from arena.tournament.ledger import Ledger, planned_matches
from arena.tournament.matchmaker import Matchmaker
from arena.tournament.player_pool import NoRemoteBots, RemoteBots, Seats
from arena.tournament.recording import round_line, void_line
from arena.tournament.writer import JournalWriter
from engine.cards import SEATS, Seat
from engine.deal import Deal
from engine.scoring import Score

_MOST_VOIDS: Final = 10  # of one round before the tournament stops: the machine is overloaded, or the arena has a bug
_IN_FLIGHT: Final = 256  # events on their way to the journal and the listener; matches wait if there are more
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
        remote_bots: RemoteBots | None = None,
        audience: Audience | None = None,
    ):
        self._config = config
        self._journal = journal
        self._ledger = ledger
        self._writer = JournalWriter(journal, listener)
        self._watch = Watchdog()
        self._remote_bots = remote_bots or NoRemoteBots()
        self._audience = audience
        self._matchmaker = Matchmaker(self._unfinished(), config.bots, self._remote_bots, config.concurrency)
        self.stopped = False
        self.warnings: list[str] = []
        self._stderr = StderrKeeper(self._beside("stderr"), self.warnings.append)
        self._failure: TournamentError | None = None
        self._playing = trio.CancelScope()

    @property
    def saved(self) -> int:
        """The number of rounds that this run has saved."""
        return self._writer.saved

    @property
    def rescue(self) -> Rescue | None:
        """The rescue of the journal, if another program changed it."""
        return self._writer.rescue

    def _unfinished(self) -> Iterator[PlannedMatch]:
        """The matches that are left to play; the ledger forgets the others."""
        for match in planned_matches(self._config):
            if self._ledger.finished and all(planned.id in self._ledger.finished for planned in match.rounds):
                self._ledger.close(match)
            else:
                yield match

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

    async def run(self) -> None:
        """Play all missing rounds. Raises TournamentError if the tournament cannot continue, and a group with what the
        listener raises."""
        sender, receiver = trio.open_memory_channel[TournamentEvent](_IN_FLIGHT)
        async with trio.open_nursery() as outer:
            outer.start_soon(self._writer.run, receiver, self._playing.cancel)
            async with sender:
                with self._playing:
                    async with trio.open_nursery() as workers:
                        workers.start_soon(self._watch.run)
                        await self._work(sender, TrioProcesses(workers))
                        workers.cancel_scope.cancel()
        if self._writer.failure is not None:
            raise TournamentError(self._writer.failure)
        if self._failure is not None:
            raise self._failure

    async def _work(self, sender: EventSender, processes: TrioProcesses) -> None:
        seats = Seats(self._config.bots, self._remote_bots, processes, self._config.concurrency, self._stderr)
        async with trio.open_nursery() as matches:
            while (match := await self._matchmaker.next()) is not None:
                one, two = match.bots
                players = seats.take(one), seats.take(two)  # at once: a bot that is free now may not be free later
                matches.start_soon(self._play_and_return, match, players, seats, sender)
        await driven(seats.clear())

    async def _play_and_return(self, match: PlannedMatch, players: Players, seats: Seats, sender: EventSender) -> None:
        try:
            await self._play_match(match, players, sender)
        except TournamentError as failure:
            self._failure = failure  # `run` raises it once everything that is finished is written
            self._playing.cancel()
            return
        for number, player in zip(match.bots, players, strict=True):
            await driven(seats.give_back(number, player))
        if self._audience is not None:
            self._audience.match_over(match.id)
        self._matchmaker.over(match)

    def _beside(self, what: str) -> Path | None:
        """A folder beside the journal, if there is one: cup.jsonl has cup.stderr and cup.faults."""
        return None if self._journal is None else beside(self._journal.path, what)

    async def _play_match(self, planned: PlannedMatch, players: Players, sender: EventSender) -> None:
        match = Match(
            planned,
            self._config.rules,
            players,
            self._watch,
            self._keep_fault,
            self._may_excuse,
            self._dealt_before(planned),
            self._audience,
        )
        for each in planned.rounds:
            if each.id not in self._ledger.finished:
                score = self._score(planned).begun_by(each.first)
                line = await self._play_until_valid(match, each, score, players, sender)
                await sender.send(RoundFinished(line))
                for name in self._ledger.add(line):
                    await sender.send(BotWithdrawn(name, self._config.max_faults))
                for player in players:
                    if player.spec.restart is Restart.ROUND:
                        await driven(player.leave())
        await driven(match.conclude(self._score(planned)))
        self._ledger.close(planned)
        for player in players:
            if player.spec.restart is Restart.MATCH:
                await driven(player.leave())

    def _keep_fault(self, played: PlayedRound, players: Players) -> str | None:
        parent = self._beside("faults")
        if parent is None:
            return None
        try:
            return str(write_bundle(parent, played, players))
        except OSError as error:
            self.warnings.append(f"no bundle for {played.planned.id}: {error.strerror}: {error.filename}")
            return None

    def _may_excuse(self, name: str) -> bool:
        return self._ledger.excused[name] < self._config.max_voids

    def _deal(self, planned: PlannedRound) -> Dealt:
        key, ledger = self._config.key, self._ledger
        assert key is not None
        return key.deal(
            planned,
            self._config.rules,
            voids=ledger.voids[planned.id],
            resumes=ledger.resumes,
            mirrored_seed=ledger.dealt[planned.mirrors][0] if planned.mirrors else None,
        )

    def _dealt_before(self, match: PlannedMatch) -> dict[int, Dealt]:
        """The deals of rounds that were played before a resume, by round number. In a mirrored match they are revealed
        only after their mirrored rounds."""
        dealt, tactics = self._ledger.dealt, self._config.rules.tactics
        found = {}
        for planned in match.rounds if match.mirrored else ():
            if planned.id in dealt:
                seed, salt, attempt = dealt[planned.id]
                found[planned.number] = Dealt(seed, salt, Deal.from_seed(seed, tactics), attempt)
        return found

    def _score(self, match: PlannedMatch) -> Score:
        """The score of the match so far, including rounds that were played before a resume."""
        return self._ledger.scores.get(match.id) or Score(self._config.rules, match.first)

    async def _play_until_valid(
        self, match: Match, planned: PlannedRound, score: Score, players: Players, sender: EventSender
    ) -> RoundLine:
        names = (players[0].spec.name, players[1].spec.name)
        failures = 0  # of the arena itself; excused bots have a limit of their own
        while True:
            if self._ledger.withdrawn & set(names):
                played = self._forfeited(planned, score.first, names)
            else:
                await sender.send(RoundStarted(planned, names))
                played = await self._try(match, planned, score)
            if played.void is None:
                return round_line(played, match.planned.id, names, self._config.rules)
            for player in players:
                await driven(player.leave())
            line = void_line(planned, match.planned.id, names, played.void, played.started)
            self._ledger.add_void(line)
            await sender.send(RoundVoid(line))
            failures += played.void.excused is None
            if failures == _MOST_VOIDS:
                text = f"round {planned.id} was void {_MOST_VOIDS} times in a row: {played.void.reason}"
                raise TournamentError(text)

    async def _try(self, match: Match, planned: PlannedRound, score: Score) -> PlayedRound:
        dealt = self._deal(planned)
        try:
            return await driven(match.play_round(planned, score, dealt, utc_now()), self._watch)
        except Exception as error:  # our own bug, or a machine that ran out of something: never a bot's loss
            cause = first_exception(error)
            reason = f"{cause.strerror}" if isinstance(cause, OSError) else traceback.format_exc()
            referee = Referee(self._config.rules, dealt.deal, score.first)
            return PlayedRound(planned, score.first, dealt, referee, utc_now(), Void(f"the arena failed: {reason}"))

    def _forfeited(self, planned: PlannedRound, first: Seat, names: tuple[str, str]) -> PlayedRound:
        """The round as forfeited by a withdrawn bot, without asking anything of either bot."""
        dealt = self._deal(planned)
        referee = Referee(self._config.rules, dealt.deal, first)
        absent = [seat for seat in SEATS if names[seat] in self._ledger.withdrawn]
        reason = f"withdrawn after {self._config.max_faults} faults in a row"
        if len(absent) == len(SEATS):
            referee.nobody_started(reason, reason)
        else:
            referee.forfeit(absent[0], Fault.FAILED_TO_START, reason)
        return PlayedRound(planned, first, dealt, referee, utc_now(), None, withdrawn=True)
