"""A match in the hands of a worker, and the deals that the worker has of it.

With a public seed a worker gets the seed. Otherwise it gets single deals, for the rounds of about the next second and
two at least. Reports may be lost together with a machine, so nobody can tell which of these deals the bots have seen:
when a worker is lost, its unfinished rounds whose deals it had get new ones.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Self

import attrs
import trio
from msgspec.structs import replace

from arena.cluster.worker_connection import RemoteWorker
from arena.plan.deals import DealKey, Dealt, GrantedDeals
from arena.plan.schedule import PlannedRound
from arena.tournament.worker_pool import Death, PoolWorker
from arena.worker.job import (
    DealWanted,
    FaultBundled,
    MatchJob,
    Relocation,
    Report,
    RoundFinished,
    RoundSeen,
    RoundStarted,
    RoundVoid,
)
from arena.worker.relocation import portable


@attrs.define(eq=False)
class WaitingMatch:
    """A match, from the moment it waits until it is over."""

    make: Callable[[], MatchJob]
    over: trio.Event = attrs.field(factory=trio.Event)
    death: Death | None = None


@attrs.define(eq=False)
class ClusterWorker:
    """A worker on a machine of the cluster, as the pool sees it, and its matches."""

    process: RemoteWorker
    handle: PoolWorker
    matches: dict[str, "AssignedMatch"] = attrs.field(factory=dict)  # by match
    free_since: float = -math.inf  # when its last match was over


@attrs.define(eq=False)
class AssignedMatch:
    match: WaitingMatch
    job: MatchJob
    key: DealKey = attrs.field(repr=False)
    left: deque[PlannedRound]  # rounds whose deals the worker does not have yet
    granted: dict[str, PlannedRound] = attrs.field(factory=dict)  # unfinished rounds whose deals it has
    voids: dict[str, int] = attrs.field(factory=dict)

    @classmethod
    def at(cls, match: WaitingMatch, key: DealKey, relocation: Relocation, ahead: int) -> Self:
        """A match given to a machine, with the deals of its first `ahead` rounds."""
        job = match.make()
        bots = tuple(portable(bot.program) for bot in job.bots if bot.program is not None)
        granted = key if key.is_public else GrantedDeals()
        job = replace(job, bots=(bots[0], bots[1]), relocation=relocation, key=granted)
        left = deque(planned for planned in job.planned.rounds if planned.id not in job.so_far.finished)
        assigned = cls(match, job, key, left, voids=dict(job.so_far.voids))
        if isinstance(granted, GrantedDeals):
            granted.add(assigned.more(ahead))
        return assigned

    @property
    def id(self) -> str:
        return self.job.planned.id

    def more(self, ahead: int, again: str | None = None) -> dict[tuple[str, int], Dealt]:
        """The deals of the next rounds, which are the worker's from now on, so that it has `ahead` of them; and that of
        a round which it had and which was void meanwhile."""
        if self.key.is_public:
            return {}
        found = self._dealt(self.granted[again]) if again in self.granted else {}
        while self.left and len(self.granted) < ahead:
            planned = self.left.popleft()
            self.granted[planned.id] = planned
            found |= self._dealt(planned)
        return found

    def _dealt(self, planned: PlannedRound) -> dict[tuple[str, int], Dealt]:
        """The deal of a round."""
        voids, job = self.voids.get(planned.id, 0), self.job
        dealt = self.key.deal(planned, job.rules, voids=voids, resumes=job.resumes, bots=job.names)
        return {(planned.id, voids): dealt}

    def with_deals(self, death: Death) -> Death:
        """The death of the worker with all rounds whose deals the worker had."""
        if self.key.is_public:
            return death
        under_way = death.under_way if death.under_way and death.under_way.id in self.granted else None
        others = tuple(planned for planned in self.granted.values() if planned != under_way)
        return attrs.evolve(death, under_way=under_way, was_exposed=True, also_exposed=others)


def match_of(report: Report) -> str | None:
    """The match that a report is about; None if it is about none."""
    match report:
        case RoundFinished(line) | RoundVoid(line):
            return line.match
        case RoundStarted(match) | DealWanted(match) | FaultBundled(match):
            return match
        case RoundSeen(scene):
            return scene.match
    return None
