"""Play the matches of bots that the arena does not start, in the process of the owner. It is loaded only if there are
such bots."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

import trio

from arena.bots.player import Player, Processes
from arena.bots.trio_driver import TrioProcesses, driven
from arena.bots.wants import Await, Logic
from arena.bots.watchdog import Watchdog
from arena.match.audience import Audience
from arena.match.round_play import Players
from arena.plan.bot_spec import AnySpec
from arena.plan.config import Config
from arena.plan.schedule import PlannedMatch
from arena.processes.stderr import StderrKeeper
from arena.tournament.player_sources import PlayerSource
from arena.worker.idle_bots import IdleBots
from arena.worker.job import MatchJob, Report
from arena.worker.job_play import JobPlay


class Owner(Protocol):
    """What a match that is played here needs of its tournament."""

    def warn(self, text: str) -> None: ...

    def is_withdrawn(self, name: str) -> bool: ...

    def may_excuse(self, name: str) -> bool: ...

    async def hear(self, report: Report) -> None: ...


class PlayHere:
    """Plays while the nursery `tasks` is open."""

    def __init__(
        self,
        config: Config,
        remote_bots: PlayerSource,
        stderr: StderrKeeper,
        owner: Owner,
        audience: Audience | None,
        tasks: trio.Nursery,
    ):
        self._pool = PlayerPool(config.bots, remote_bots, TrioProcesses(tasks), config.matches_at_once, stderr)
        self._owner = OwnerLogic(owner)
        self._audience = audience
        self._watch = Watchdog()
        tasks.start_soon(self._watch.run)

    def players(self, match: PlannedMatch) -> Players:
        """The players of a match that begins now. A bot that is free now may not be free later."""
        one, two = match.bots
        return self._pool.take(one), self._pool.take(two)

    async def play(self, job: MatchJob, players: Players) -> None:
        play = JobPlay(job, players, self._watch, self._owner, self._audience)
        await driven(play.play(), self._watch)
        for player in players:
            await driven(player.match_over())

    async def end(self) -> None:
        """End all idle processes."""
        await driven(self._pool.clear())


class OwnerLogic:
    """The owner of all matches that are played here."""

    def __init__(self, owner: Owner):
        self._hear: Callable[[Report], Awaitable[None]] = owner.hear
        self.warn = owner.warn
        self.is_withdrawn = owner.is_withdrawn
        self.may_excuse = owner.may_excuse

    def report(self, report: Report) -> Logic[None]:
        yield Await(partial(self._hear, report))


class PlayerPool:
    """Gives players to matches."""

    def __init__(
        self,
        bots: tuple[AnySpec, ...],
        remote_bots: PlayerSource,
        processes: Processes,
        concurrency: int,
        stderr: StderrKeeper,
    ):
        self._bots = bots
        self._remote_bots = remote_bots
        self._idle = IdleBots(processes, concurrency)
        self._stderr = stderr

    def take(self, number: int) -> Player:
        spec = self._bots[number]
        if (program := spec.program) is None:
            return self._remote_bots.player(spec)
        return self._idle.take(number, program, self._stderr)

    def clear(self) -> Logic[None]:
        """End all idle processes."""
        for leave in self._idle.clear():
            yield from leave
