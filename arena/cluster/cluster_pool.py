"""The crew of a tournament on a cluster: it hires shifts (dask_task.py) and gives them matches.

Theory of operation. A match waits here until a shift has room for it. Each shift plays one match at a time; if matches
take only moments, it gets the next one early, so that it need not wait for the answer to its report. The last matches
are not given early, because another shift may be free sooner; unless they are so short that the shift is probably free
already, as its last report shows. There are as many shifts as the cluster has threads, and as matches are left.

A match is given to another machine only if its own is lost or silent, which no bot decides. A bot that is losing could
take its time, if that gave it another deal.
"""

import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final

import attrs
import msgspec
import trio

from arena.cluster.assigned_match import Attempt, Match, Shift, match_of
from arena.cluster.cluster_client import Bridge
from arena.cluster.losses import Losses
from arena.cluster.pace import Pace
from arena.cluster.preparation import Host, Terms
from arena.cluster.worker_connection import RemoteWorker
from arena.plan.config import Config
from arena.plan.deals import DealKey
from arena.tournament.worker_pool import CrewWorker, Death, Hear
from arena.worker.job import (
    Deals,
    DealWanted,
    Finished,
    MatchJob,
    Report,
    Setup,
    Standing,
    Voided,
    Warned,
)

_BEAT: Final = 2.0  # seconds: a beat to another machine costs more than one to a local worker


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
    ):
        """`most` matches are played at once, or as many as the cluster has threads."""
        assert config.key is not None
        self._config = config
        self._key: DealKey = config.key
        self._hear = hear
        self._standing = standing
        self._fail = fail
        self._scheduler = scheduler
        self._terms = terms
        self._most = most
        self._waiting: deque[Match] = deque()
        self._open: dict[str, Match] = {}  # by id: under way
        self._shifts: list[Shift] = []
        self._tasks = 0  # submitted and not over
        self._slots = 0
        self._pace = Pace()
        self._losses = Losses()
        self._is_closing = False
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
        match = Match(job)
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
        shift = Shift(worker, CrewWorker(worker, Setup(1, self._config.affinity, in_turn=True), _BEAT))
        self._shifts.append(shift)
        self._nursery.start_soon(self._listen, shift)
        self._nursery.start_soon(shift.worker.beat, self._standing)
        self._look_around()

    def refused(self, host: Host) -> None:
        self._warn(f"{host.name} does not play: {host.problems[0]}")

    def deserted(self, reason: str) -> None:
        self._warn(reason)

    def _warn(self, text: str) -> None:
        if not self._is_closing:
            assert self._nursery is not None
            self._nursery.start_soon(self._hear, Warned(text, at_once=True))

    def task_over(self) -> None:
        self._tasks -= 1
        self._look_around()

    def lost(self, reason: str) -> None:
        self._warn(f"{reason}; what was under way will be played again")

    def failed(self, reason: str) -> None:
        self._fail(reason)

    # Giving matches to shifts.

    def _look_around(self) -> None:
        """Give matches to shifts that have room, and hire shifts if there are too few."""
        if self._is_closing or self._nursery is None:
            return
        while self._waiting and (shift := self._with_room()) is not None:
            self._give(shift, self._waiting.popleft())
        needed = min(self._slots, len(self._waiting) + len(self._open))
        for _ in range(needed - self._tasks):
            assert self._bridge is not None
            self._tasks += 1
            self._bridge.submit()

    def _with_room(self) -> Shift | None:
        """The shift with the fewest matches, if it may have one more; of several, the one that was free last."""
        shift = min(self._shifts, key=lambda each: (len(each.attempts), -each.free_since), default=None)
        if shift is None:
            return None
        room = self._pace.matches
        if not self._pace.is_ahead(shift.free_since):
            room = min(room, 1 + (len(self._waiting) - 1) // len(self._shifts))  # the last ones are shared
        return shift if len(shift.attempts) < room else None

    def _give(self, shift: Shift, match: Match) -> None:
        attempt = Attempt.at(match, self._key, shift.process.host.away, self._pace.deals)
        shift.attempts[attempt.id] = attempt
        self._open[attempt.id] = match
        assert self._nursery is not None
        self._nursery.start_soon(self._watch, shift, attempt)

    async def _watch(self, shift: Shift, attempt: Attempt) -> None:
        """Wait for the end of an attempt. Then the match is over, or its machine is lost."""
        match, began = attempt.match, time.monotonic()
        death = await shift.worker.play(attempt.job)
        del shift.attempts[attempt.id]
        now = time.monotonic()
        if death is None:
            self._pace.match_took(now - max(began, shift.free_since))
        shift.free_since = now
        if death is not None:
            counts = self._losses.counts(shift.process, frozenset(attempt.job.names))
            match.death = attempt.with_deals(attrs.evolve(death, is_ours=counts))
        match.over.set()

    async def _listen(self, shift: Shift) -> None:
        try:
            await shift.worker.listen(partial(self._heard, shift))
        finally:
            self._shifts.remove(shift)
            self._look_around()

    # What shifts report.

    async def _heard(self, shift: Shift, report: Report) -> None:
        name = match_of(report)
        attempt = shift.attempts.get(name) if name is not None else None
        if name is not None and (attempt is None or attempt.match is not self._open.get(name)):
            return  # the match was given up
        match report:
            case DealWanted(_, round_id, _) if attempt:
                await self._grant(shift, attempt, round_id)
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

    async def _grant(self, shift: Shift, attempt: Attempt, again: str | None = None) -> None:
        """Give a shift more deals of a match; `again` is a round that was void meanwhile."""
        if deals := attempt.more(self._pace.deals, again):
            await shift.worker.send(Deals(attempt.id, deals))
