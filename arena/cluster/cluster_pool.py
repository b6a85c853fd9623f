"""The pool of a tournament on a cluster: it starts workers on its machines (dask_task.py) and gives them matches.

Theory of operation. A match waits here until a worker has room for it. Each worker plays one match at a time; if
matches take only moments, it gets the next one early, so that it need not wait for the answer to its report. The last
matches are not given early, because another worker may be free sooner; unless they are so short that the worker is
probably free already, as its last report shows. There are as many workers as the cluster has threads, and as matches
are left.

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

from arena.cluster.assigned_match import AssignedMatch, ClusterWorker, WaitingMatch, match_of
from arena.cluster.cluster_client import ClusterClient
from arena.cluster.losses import Losses
from arena.cluster.pace import Pace
from arena.cluster.preparation import Machine, Terms
from arena.cluster.worker_connection import RemoteWorker
from arena.plan.config import Config
from arena.plan.deals import DealKey
from arena.tournament.worker_pool import Death, Hear, PoolWorker
from arena.worker.job import (
    Deals,
    DealWanted,
    MatchJob,
    Noticed,
    Report,
    RoundFinished,
    RoundVoid,
    Rulings,
    Setup,
)

_WAITING: Final = 4  # matches that wait for a thread of the cluster, for each one that has one
_FEWEST_WAITING: Final = 256  # in all: more machines may join
_BEAT: Final = 2.0  # seconds: a beat to another machine costs more than one to a local worker


class ClusterPool:
    def __init__(
        self,
        config: Config,
        hear: Hear,
        rulings: Callable[[], Rulings],
        fail: Callable[[str], None],
        *,
        scheduler: str,
        terms: Terms,
        machines: int,
    ):
        """As many matches are played at once as the organiser chose, or as the cluster has threads. `machines` are
        those that it has now."""
        assert config.key is not None
        self._config = config
        self._key: DealKey = config.key
        self._hear = hear
        self._rulings = rulings
        self._fail = fail
        self._scheduler = scheduler
        self._terms = terms
        self._most = config.concurrency
        self.most_matches = max(_FEWEST_WAITING, _WAITING * (self._most or machines))
        self._waiting: deque[WaitingMatch] = deque()
        self._open: dict[str, WaitingMatch] = {}  # by id: under way
        self._workers: list[ClusterWorker] = []
        self._tasks = 0  # submitted and not over
        self._slots = 0
        self._pace = Pace()
        self._losses = Losses()
        self._is_closing = False
        self._nursery: trio.Nursery | None = None
        self._client: ClusterClient | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        with ClusterClient(self._scheduler, self._terms, self) as self._client:
            async with trio.open_nursery() as self._nursery:
                try:
                    yield
                finally:
                    self._is_closing = True
                    with trio.CancelScope(shield=True):
                        async with trio.open_nursery() as ending:
                            for worker in self._workers:
                                ending.start_soon(worker.handle.end)

    async def play(self, job: Callable[[], MatchJob]) -> Death | None:
        match = WaitingMatch(job)
        self._waiting.append(match)
        self._look_around()
        try:
            await match.over.wait()
        finally:
            self._open = {name: each for name, each in self._open.items() if each is not match}
            self._waiting = deque(each for each in self._waiting if each is not match)
        self._look_around()
        return match.death

    async def tell(self, rulings: Rulings) -> None:
        for worker in tuple(self._workers):
            await worker.handle.tell(rulings)

    # What the client tells.

    def slots_are(self, count: int) -> None:
        self._slots = min(count, self._most or count)
        self._look_around()

    def arrived(self, process: RemoteWorker) -> None:
        assert self._nursery is not None
        if self._is_closing:
            process.hang_up()
            process.socket.close()
            return
        worker = ClusterWorker(process, PoolWorker(process, Setup(1, self._config.affinity, in_turn=True), _BEAT))
        self._workers.append(worker)
        self._nursery.start_soon(self._listen, worker)
        self._nursery.start_soon(worker.handle.beat, self._rulings)
        self._look_around()

    def refused(self, machine: Machine) -> None:
        self._warn(f"{machine.name} does not play: {machine.problems[0]}")

    def deserted(self, reason: str) -> None:
        self._warn(reason)

    def _warn(self, text: str) -> None:
        if not self._is_closing:
            assert self._nursery is not None
            self._nursery.start_soon(self._hear, Noticed(text))

    def task_over(self) -> None:
        self._tasks -= 1
        self._look_around()

    def lost(self, reason: str) -> None:
        self._warn(f"{reason}; what was under way will be played again")

    def failed(self, reason: str) -> None:
        self._fail(reason)

    # Giving matches to workers.

    def _look_around(self) -> None:
        """Give matches to workers that have room, and start workers if there are too few."""
        if self._is_closing or self._nursery is None:
            return
        while self._waiting and (worker := self._with_room()) is not None:
            self._give(worker, self._waiting.popleft())
        needed = min(self._slots, len(self._waiting) + len(self._open))
        for _ in range(needed - self._tasks):
            assert self._client is not None
            self._tasks += 1
            self._client.submit()

    def _with_room(self) -> ClusterWorker | None:
        """The worker with the fewest matches, if it may have one more; of several, the one that was free last."""
        worker = min(self._workers, key=lambda each: (len(each.matches), -each.free_since), default=None)
        if worker is None:
            return None
        room = self._pace.matches
        if not self._pace.is_ahead(worker.free_since):
            room = min(room, 1 + (len(self._waiting) - 1) // len(self._workers))  # the last ones are shared
        return worker if len(worker.matches) < room else None

    def _give(self, worker: ClusterWorker, match: WaitingMatch) -> None:
        assigned = AssignedMatch.at(match, self._key, worker.process.machine.relocation, self._pace.deals)
        worker.matches[assigned.id] = assigned
        self._open[assigned.id] = match
        assert self._nursery is not None
        self._nursery.start_soon(self._watch, worker, assigned)

    async def _watch(self, worker: ClusterWorker, assigned: AssignedMatch) -> None:
        """Wait for the end of an assigned match. Then the match is over, or its machine is lost."""
        match, began = assigned.match, time.monotonic()
        death = await worker.handle.play(assigned.job)
        del worker.matches[assigned.id]
        now = time.monotonic()
        if death is None:
            # A match that was given early first waited for the one before it; that is not part of its time.
            self._pace.match_took(now - max(began, worker.free_since))
        worker.free_since = now
        if death is not None:
            # Whoever waits for the match has it played again. Nobody knows which of its deals the bots have seen, so
            # all that the worker had count as seen.
            counts = self._losses.counts(worker.process, frozenset(assigned.job.names))
            match.death = assigned.with_deals(attrs.evolve(death, is_ours=counts))
        match.over.set()

    async def _listen(self, worker: ClusterWorker) -> None:
        try:
            await worker.handle.listen(partial(self._heard, worker))
        finally:
            self._workers.remove(worker)
            self._look_around()

    # What workers report.

    async def _heard(self, worker: ClusterWorker, report: Report) -> None:
        name = match_of(report)
        assigned = worker.matches.get(name) if name is not None else None
        if name is not None and (assigned is None or assigned.match is not self._open.get(name)):
            return  # the match was given up
        match report:
            case DealWanted(_, round_id, _) if assigned:
                await self._grant(worker, assigned, round_id)
                return
            case RoundVoid(line) if assigned:
                assigned.voids[line.id] = assigned.voids.get(line.id, 0) + 1
            case RoundFinished(line) if assigned:
                assigned.granted.pop(line.id, None)
                self._pace.round_over()
                report = RoundFinished(msgspec.structs.replace(line, host=worker.process.machine.name))
        await self._hear(report)
        if assigned and len(assigned.granted) <= self._pace.deals // 2 and assigned.left:
            await self._grant(worker, assigned)

    async def _grant(self, worker: ClusterWorker, assigned: AssignedMatch, again: str | None = None) -> None:
        """Give a worker more deals of a match; `again` is a round that was void meanwhile."""
        if deals := assigned.more(self._pace.deals, again):
            await worker.handle.send(Deals(assigned.id, deals))
