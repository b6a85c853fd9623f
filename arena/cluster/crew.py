"""The crew of a tournament on a cluster: it hires shifts (shift.py) and gives them matches.

Theory of operation. A match waits here until a shift has room for it. Each shift plays one match at a time; if matches
take only moments, it gets the next one early, so that it need not wait for the answer to its report. There are as many
shifts as the cluster has threads, and as matches are left.

Deals. With a public seed a shift gets the seed. Otherwise it gets single deals, for the rounds of about the next second
and two at least. Reports may be lost together with a machine, so nobody can tell which of these deals the bots have
seen: when a shift is lost, its unfinished rounds whose deals it had get new ones.

Stragglers. When nothing else is left to play and the seed is public, the oldest match is played a second time on a
machine that is free, and the first line of each round counts. With secret deals that would be unfair: a bot that is
losing could take its time, and hope that the second attempt, with another deal, is the faster one. There only a machine
that is silent is replaced, which no bot decides.
"""

import contextlib
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final

import attrs
import msgspec
import trio
from msgspec.structs import replace

from arena.cluster.bridge import Bridge, RemoteWorker
from arena.cluster.hosts import Host, Terms
from arena.plan.bot_spec import BotSpec
from arena.plan.config import Config
from arena.plan.deals import DealKey, Dealt, GrantedDeals
from arena.plan.schedule import PlannedRound
from arena.tournament.crew import CrewWorker, Death, Hear
from arena.worker.away import portable
from arena.worker.job import (
    Bundled,
    Deals,
    DealWanted,
    Finished,
    MatchJob,
    Report,
    RoundSeen,
    Setup,
    Standing,
    Started,
    Voided,
    Warned,
)

_BEAT: Final = 2.0  # seconds: a beat to another machine costs more than one to a local worker
_FEWEST: Final = 2  # deals that a shift has ahead
_MOST: Final = 64
_AHEAD: Final = 1.0  # seconds of play for which a shift has deals
_QUICK: Final = 0.5  # seconds of a match, if the next one should already be there when it ends
_STRAGGLER: Final = 3.0  # times the usual duration of a match
_SOON: Final = 5.0  # seconds in which nothing is a straggler
_AT_ONCE: Final = 30.0  # seconds in which all shifts of a lost machine are noticed


@attrs.define(eq=False)
class _Match:
    """A match, from the moment it waits until it is over."""

    make: Callable[[], MatchJob]
    attempts: dict["_Remote", "_Attempt"] = attrs.field(factory=dict)
    began: float = math.inf
    over: trio.Event = attrs.field(factory=trio.Event)
    death: Death | None = None


@attrs.define(eq=False)
class _Attempt:
    """A match in the hands of one shift."""

    match: _Match
    job: MatchJob
    left: deque[PlannedRound]  # rounds whose deals it does not have yet
    granted: dict[str, PlannedRound] = attrs.field(factory=dict)  # unfinished rounds whose deals it has
    voids: dict[str, int] = attrs.field(factory=dict)


@attrs.define(eq=False)
class _Remote:
    """A shift."""

    process: RemoteWorker
    worker: CrewWorker
    attempts: dict[str, _Attempt] = attrs.field(factory=dict)  # by match


class ClusterCrew:
    def __init__(
        self,
        config: Config,
        hear: Hear,
        standing: Callable[[], Standing],
        fail: Callable[[str], None],
        *,
        scheduler: str,
        terms: Terms,
        most: int | None = None,
        twice: bool = False,
    ):
        """`most` matches are played at once, or as many as the cluster has threads. With `twice`, every match is played
        twice, to test that each round counts once."""
        assert config.key is not None
        self._config = config
        self._key: DealKey = config.key
        self._hear = hear
        self._standing = standing
        self._fail = fail
        self._scheduler = scheduler
        self._terms = terms
        self._most = most
        self._twice = twice
        self._waiting: deque[_Match] = deque()
        self._open: dict[str, _Match] = {}  # by id: under way
        self._shifts: list[_Remote] = []
        self._tasks = 0  # submitted and not over
        self._slots = 0
        self._pace = _Pace()
        self._losses: dict[str, tuple[float, frozenset[str]]] = {}  # by machine: since when, and whose rounds counted
        self._is_closing = False
        self.second_attempts = 0  # at matches that another shift was playing
        self._nursery: trio.Nursery | None = None
        self._bridge: Bridge | None = None

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        with Bridge(self._scheduler, self._terms, self) as self._bridge:
            async with trio.open_nursery() as self._nursery:
                try:
                    yield
                finally:
                    self._is_closing = True
                    with trio.CancelScope(shield=True):
                        async with trio.open_nursery() as ending:
                            for shift in self._shifts:
                                ending.start_soon(shift.worker.end)

    async def play(self, job: Callable[[], MatchJob]) -> Death | None:
        match = _Match(job)
        self._waiting.append(match)
        self._look_around()
        try:
            await match.over.wait()
        finally:
            self._open = {name: each for name, each in self._open.items() if each is not match}
            self._waiting = deque(each for each in self._waiting if each is not match)
        self._look_around()
        return match.death

    async def tell(self, standing: Standing) -> None:
        for shift in tuple(self._shifts):
            await shift.worker.tell(standing)

    # What the bridge tells.

    def slots_are(self, count: int) -> None:
        self._slots = min(count, self._most or count)
        self._look_around()

    def arrived(self, worker: RemoteWorker) -> None:
        assert self._nursery is not None
        if self._is_closing:
            worker.hang_up()
            worker.socket.close()
            return
        shift = _Remote(worker, CrewWorker(worker, self._setup(worker), _BEAT))
        self._shifts.append(shift)
        self._nursery.start_soon(self._listen, shift)
        self._nursery.start_soon(shift.worker.beat, self._standing)
        self._look_around()

    def _setup(self, worker: RemoteWorker) -> Setup:
        affinity = self._config.affinity
        return Setup(1, None if affinity is False else worker.core, always_pinned=bool(affinity), in_turn=True)

    def refused(self, host: Host) -> None:
        self._warn(f"{host.name} does not play: {host.problems[0]}")

    def _warn(self, text: str) -> None:
        if not self._is_closing:
            assert self._nursery is not None
            self._nursery.start_soon(self._hear, Warned(text))

    def task_over(self) -> None:
        self._tasks -= 1
        self._look_around()

    def lost(self, reason: str) -> None:
        self._warn(f"{reason}; what was under way is played again")

    def failed(self, reason: str) -> None:
        self._fail(reason)

    # Giving matches to shifts.

    def _look_around(self) -> None:
        """Give matches to shifts that have room, and hire shifts if there are too few."""
        if self._is_closing or self._nursery is None:
            return
        while self._waiting and (shift := self._with_room()) is not None:
            self._give(shift, self._waiting.popleft())
        if not self._waiting or self._twice:
            self._help_stragglers()
        matches = len(self._waiting) + len(self._open)
        needed = min(self._slots, 2 * matches if self._twice else matches)
        for _ in range(needed - self._tasks):
            assert self._bridge is not None
            self._tasks += 1
            self._bridge.submit()

    def _with_room(self) -> _Remote | None:
        """The shift with the fewest matches, if it may have one more."""
        shift = min(self._shifts, key=lambda each: len(each.attempts), default=None)
        room = 2 if self._pace.match_seconds < _QUICK else 1
        return shift if shift is not None and len(shift.attempts) < room else None

    def _help_stragglers(self) -> None:
        """Have the oldest matches played a second time, if that is fair and a shift is free."""
        alone = [(name, match) for name, match in self._open.items() if len(match.attempts) == 1]
        for name, match in sorted(alone, key=lambda each: each[1].began) if self._key.is_public else ():
            late = time.monotonic() - match.began > max(_SOON, _STRAGGLER * self._pace.match_seconds)
            others = [shift for shift in self._shifts if name not in shift.attempts]
            free = min(others, key=lambda shift: len(shift.attempts), default=None)
            if free is not None and (self._twice or (late and not free.attempts)):
                self.second_attempts += 1
                self._give(free, match)

    def _give(self, shift: _Remote, match: _Match) -> None:
        job = match.make()
        bots = tuple(portable(bot) for bot in job.bots if isinstance(bot, BotSpec))
        job = replace(
            job,
            bots=(bots[0], bots[1]),
            away=shift.process.host.away,
            key=self._key if self._key.is_public else GrantedDeals(),
        )
        left = deque(planned for planned in job.planned.rounds if planned.id not in job.so_far.finished)
        attempt = _Attempt(match, job, left, voids=dict(job.so_far.voids))
        if isinstance(job.key, GrantedDeals):
            job.key.add(self._more(attempt))
        match.began = min(match.began, time.monotonic())
        match.attempts[shift] = shift.attempts[job.planned.id] = attempt
        self._open[job.planned.id] = match
        assert self._nursery is not None
        self._nursery.start_soon(self._watch, shift, attempt)

    async def _watch(self, shift: _Remote, attempt: _Attempt) -> None:
        """Wait for the end of an attempt. The match is over when one attempt is, or when the last one is lost."""
        match, name = attempt.match, attempt.job.planned.id
        began = time.monotonic()
        death = await shift.worker.play(attempt.job)
        del match.attempts[shift], shift.attempts[name]
        if death is None:
            self._pace.match_took(time.monotonic() - began)
        if match.over.is_set() or (death is not None and match.attempts):
            self._look_around()
            return  # another attempt counts
        if death is not None:
            match.death = self._with_deals(death, attempt, shift)
        match.over.set()

    def _with_deals(self, death: Death, attempt: _Attempt, shift: _Remote) -> Death:
        """The death with all rounds whose deals the shift had."""
        death = attrs.evolve(death, is_ours=self._counts(shift.process, frozenset(attempt.job.names)))
        if self._key.is_public:
            return death
        under_way = death.under_way if death.under_way and death.under_way.id in attempt.granted else None
        others = tuple(planned for planned in attempt.granted.values() if planned != under_way)
        return attrs.evolve(death, under_way=under_way, was_shown=True, also_shown=others)

    def _counts(self, process: RemoteWorker, bots: frozenset[str]) -> bool:
        """Whether the loss of this worker counts as one of its bots: nobody knows whether a bot caused it. A machine
        that is lost takes all its matches along, which counts once for each bot."""
        if process.with_all or not process.is_lost:
            return not process.with_all
        now = time.monotonic()
        since, counted = self._losses.get(process.host.name, (-math.inf, frozenset[str]()))
        if now - since > _AT_ONCE:
            since, counted = now, frozenset()
        self._losses[process.host.name] = since, counted | bots
        return not bots <= counted

    async def _listen(self, shift: _Remote) -> None:
        try:
            await shift.worker.listen(partial(self._heard, shift))
        finally:
            self._shifts.remove(shift)
            self._look_around()

    # What shifts report.

    async def _heard(self, shift: _Remote, report: Report) -> None:
        name = _match_of(report)
        attempt = shift.attempts.get(name) if name is not None else None
        if name is not None and (attempt is None or attempt.match is not self._open.get(name)):
            return  # another attempt ended the match
        match report:
            case DealWanted(_, round_id, _) if attempt:
                await self._grant(shift, attempt, round_id)
                return
            case Voided() if attempt and len(attempt.match.attempts) > 1:
                shift.process.kill()  # the other attempt goes on with the deal that would be void now
                return
            case Voided(line) if attempt:
                attempt.voids[line.id] = attempt.voids.get(line.id, 0) + 1
            case Finished(line) if attempt:
                attempt.granted.pop(line.id, None)
                self._pace.round_over()
                report = Finished(msgspec.structs.replace(line, host=shift.process.host.name))
        await self._hear(report)
        if attempt and len(attempt.granted) <= self._pace.deals // 2 and attempt.left:
            await self._grant(shift, attempt)

    async def _grant(self, shift: _Remote, attempt: _Attempt, again: str | None = None) -> None:
        """Give a shift more deals of a match; `again` is a round that was void meanwhile."""
        if isinstance(attempt.job.key, GrantedDeals):
            deals = self._more(attempt)
            if again in attempt.granted:
                deals |= self._dealt(attempt, attempt.granted[again])
            if deals:
                await shift.worker.send(Deals(attempt.job.planned.id, deals))

    def _more(self, attempt: _Attempt) -> dict[tuple[str, int], Dealt]:
        """The deals of the next rounds, which are the shift's from now on."""
        found: dict[tuple[str, int], Dealt] = {}
        while attempt.left and len(attempt.granted) < self._pace.deals:
            planned = attempt.left.popleft()
            attempt.granted[planned.id] = planned
            found |= self._dealt(attempt, planned)
        return found

    def _dealt(self, attempt: _Attempt, planned: PlannedRound) -> dict[tuple[str, int], Dealt]:
        """The deal of a round. If it mirrors another one, the shift knows its seed; only the salt is needed."""
        voids = attempt.voids.get(planned.id, 0)
        job = attempt.job
        dealt = self._key.deal(planned, job.rules, voids=voids, resumes=job.resumes, bots=job.names)
        return {(planned.id, voids): dealt}


def _match_of(report: Report) -> str | None:
    """The match that a report is about; None if it is about none."""
    match report:
        case Finished(line) | Voided(line):
            return line.match
        case Started(match) | DealWanted(match) | Bundled(match):
            return match
        case RoundSeen(scene):
            return scene.match
    return None


class _Pace:
    """How fast matches are played, from the latest of them."""

    def __init__(self) -> None:
        self._rounds: deque[float] = deque(maxlen=_MOST)  # when the latest ended, in all shifts
        self._matches: deque[float] = deque(maxlen=9)  # how long the latest took

    def round_over(self) -> None:
        self._rounds.append(time.monotonic())

    def match_took(self, seconds: float) -> None:
        self._matches.append(seconds)

    @property
    def match_seconds(self) -> float:
        """The usual duration of a match; long, until one is over."""
        return sorted(self._matches)[len(self._matches) // 2] if self._matches else math.inf

    @property
    def deals(self) -> int:
        """How many deals a shift should have ahead."""
        recent = sum(time.monotonic() - ended < _AHEAD for ended in self._rounds)
        return max(_FEWEST, min(recent, _MOST))
