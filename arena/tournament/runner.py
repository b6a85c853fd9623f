"""A tournament: matches played at once, and one writer that keeps what they did.

Theory of operation. The schedule is fixed beforehand. What the journal already holds is folded into a `Ledger` (points
of matches under way, faults in a row, finished ids), and only what is missing is played. The `Matchmaker` says which
match can begin; its task takes the players from the `Seats`, plays the missing rounds in order and sends every round to
the writer; the writer appends to the journal, waits for the disk, and only then does the round count and is anybody
told of it. So whatever happens, what was told is saved, and what was not saved is played again.

Owners: the outer nursery owns the writer, which finishes whatever was sent to it, also when play is cancelled. The
inner scope owns the matches and the processes of bots; connections belong to the door (door.py). Failures of bots are
values by the time they come here (see match.py). An exception in here is our own bug: the round is void and tried
again, and if that does not help the tournament stops with everything finished kept.
"""

import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import trio

from arena.journal.endings import Fault
from arena.journal.file import Rescue
from arena.journal.lines import Journal, RoundLine
from arena.match.audience import Audience
from arena.match.match import Match, PlayedRound, utc_now
from arena.match.referee import Referee
from arena.match.round_play import Players, Void
from arena.match.watchdog import Watchdog
from arena.plan.bot_spec import Restart
from arena.plan.config import Config
from arena.plan.deals import Dealt
from arena.plan.schedule import PlannedMatch, PlannedRound
from arena.support.signals import first_exception
from arena.tournament.events import BotWithdrawn, Listener, RoundFinished, RoundStarted, RoundVoid, TournamentEvent
from arena.tournament.fault_bundle import write_bundle
from arena.tournament.ledger import Ledger, planned_matches
from arena.tournament.matchmaker import Matchmaker
from arena.tournament.player_pool import NoRemoteBots, RemoteBots, Seats, StderrKeeper
from arena.tournament.recording import round_line, void_line
from arena.tournament.writer import JournalWriter
from engine.cards import SEATS, Seat
from engine.deal import Deal
from engine.scoring import Score

_MOST_VOIDS: Final = 10  # of one round, before we give up: the machine is too busy, or we are broken
_IN_FLIGHT: Final = 64  # rounds on their way to the disk
EventSender = trio.MemorySendChannel[TournamentEvent]


class TournamentError(Exception):
    """The tournament cannot go on; what is finished is saved."""


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
        """Rounds that this run has saved."""
        return self._writer.saved

    @property
    def rescue(self) -> Rescue | None:
        """What became of the journal, if another program changed it."""
        return self._writer.rescue

    def _unfinished(self) -> Iterator[PlannedMatch]:
        for match in planned_matches(self._config):
            if self._ledger.finished and all(planned.id in self._ledger.finished for planned in match.rounds):
                self._ledger.close(match)
            else:
                yield match

    def stop(self) -> None:
        """At once: rounds under way are dropped, and will be played again."""
        self.stopped = True
        self._playing.cancel()

    def drain(self, seconds: float) -> None:
        """No more matches begin; those under way are played to their end, if that comes in time."""
        self.stopped = True
        self._matchmaker.close()
        self._playing.deadline = trio.current_time() + seconds

    def bot_availability_changed(self, name: str) -> None:
        """A remote bot connected, left, or is free for another match."""
        self._matchmaker.came(name)

    async def run(self) -> None:
        """Plays all that is missing. Raises a group with a TournamentError or JournalError if it cannot go on."""
        sender, receiver = trio.open_memory_channel[TournamentEvent](_IN_FLIGHT)
        async with trio.open_nursery() as outer:
            outer.start_soon(self._writer.run, receiver, self._playing.cancel)
            async with sender:
                with self._playing:
                    async with trio.open_nursery() as workers:
                        workers.start_soon(self._watch.run)
                        await self._work(sender, workers)
                        workers.cancel_scope.cancel()
        if self._writer.failure is not None:
            raise TournamentError(self._writer.failure)
        if self._failure is not None:
            raise self._failure

    async def _work(self, sender: EventSender, processes: trio.Nursery) -> None:
        seats = Seats(self._config.bots, self._remote_bots, processes, self._config.concurrency, self._stderr)
        async with trio.open_nursery() as matches:
            while (match := await self._matchmaker.next()) is not None:
                one, two = match.bots
                players = seats.take(one), seats.take(two)  # at once: whoever is free now may not be so later
                matches.start_soon(self._play_and_return, match, players, seats, sender)
        await seats.clear()

    async def _play_and_return(self, match: PlannedMatch, players: Players, seats: Seats, sender: EventSender) -> None:
        try:
            await self._play_match(match, players, sender)
        except TournamentError as failure:
            self._failure = failure  # raised once everything that is finished is written
            self._playing.cancel()
            return
        for number, player in zip(match.bots, players, strict=True):
            await seats.give_back(number, player)
        if self._audience is not None:
            self._audience.match_over(match.id)
        self._matchmaker.over(match)

    def _beside(self, what: str) -> Path | None:
        """A folder beside the journal: cup.jsonl has cup.stderr and cup.faults."""
        if self._journal is None:
            return None
        path = self._journal.path
        return path.with_name(f"{path.name.removesuffix('.jsonl')}.{what}")

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
                        await player.leave()
        await match.conclude(self._score(planned))
        self._ledger.close(planned)
        for player in players:
            if player.spec.restart is Restart.MATCH:
                await player.leave()

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
        """Deals of rounds that were played before a resume, and may be revealed only with their mirrored rounds."""
        dealt, tactics = self._ledger.dealt, self._config.rules.tactics
        before = [planned for planned in match.rounds if match.mirrored and planned.id in dealt]
        found = {}
        for planned in before:
            seed, salt, attempt = dealt[planned.id]
            found[planned.number] = Dealt(seed, salt, Deal.from_seed(seed, tactics), attempt)
        return found

    def _score(self, match: PlannedMatch) -> Score:
        """Where the match stands, with what was played of it before a resume."""
        return self._ledger.scores.get(match.id) or Score(self._config.rules, match.first)

    async def _play_until_valid(
        self, match: Match, planned: PlannedRound, score: Score, players: Players, sender: EventSender
    ) -> RoundLine:
        names = (players[0].spec.name, players[1].spec.name)
        failures = 0  # of the arena itself; how often a bot is excused has a limit of its own
        while True:
            if self._ledger.withdrawn & set(names):
                played = self._forfeited(planned, score.first, names)
            else:
                await sender.send(RoundStarted(planned, names))
                played = await self._try(match, planned, score)
            if played.void is None:
                return self._settled(match, played, players)
            for player in players:
                await player.leave()
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
            return await match.play_round(planned, score, dealt)
        except Exception as error:  # our own bug, or a machine that is out of something: never a bot's loss
            cause = first_exception(error)
            told = f"{cause.strerror}" if isinstance(cause, OSError) else traceback.format_exc()
            referee = Referee(self._config.rules, dealt.deal, score.first)
            return PlayedRound(planned, score.first, dealt, referee, utc_now(), Void(f"the arena failed: {told}"))

    def _forfeited(self, planned: PlannedRound, first: Seat, names: tuple[str, str]) -> PlayedRound:
        """A round that a withdrawn bot does not play."""
        dealt = self._deal(planned)
        referee = Referee(self._config.rules, dealt.deal, first)
        absent = [seat for seat in SEATS if names[seat] in self._ledger.withdrawn]
        reason = f"withdrawn after {self._config.max_faults} faults in a row"
        if len(absent) == len(SEATS):
            referee.nobody_started(reason, reason)
        else:
            referee.forfeit(absent[0], Fault.FAILED_TO_START, reason)
        return PlayedRound(planned, first, dealt, referee, utc_now(), None, withdrawn=True)

    def _settled(self, match: Match, played: PlayedRound, players: Players) -> RoundLine:
        names = (players[0].spec.name, players[1].spec.name)
        return round_line(
            played.planned,
            match.planned.id,
            names,
            self._config.rules,
            played.dealt,
            played.first,
            played.referee,
            played.started,
            played.bundle,
            played.withdrawn,
        )
