"""The worker processes of a tournament, as their owner sees them.

Theory of operation. A worker (arena/worker/main.py) is started when a match begins and all others are busy. One task
for each worker hears its reports, in order. It goes on while play is cancelled, until the worker has ended its bots and
closed its socket, so that no finished round is lost. A worker whose socket closes earlier has died: what it was playing
is returned to whoever asked for it. Another task sends a beat to a worker that was silent for a second, and kills one
that answers none of many.
"""

import contextlib
import math
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

import attrs
import trio

from arena.bots.process_state import exit_words
from arena.bots.streams import TcpStream
from arena.plan.config import Config
from arena.plan.schedule import PlannedRound
from arena.worker.channel import Unpacker, packed
from arena.worker.job import Beat, GoOn, MatchJob, MatchOver, Order, Report, Setup, Shown, Standing, Started, waits
from arena.worker.process import END_SECONDS, WorkerProcess

_BEAT: Final = 1.0  # seconds
_MOST_MISSED: Final = 10  # beats without an answer before a worker is killed; those of a busy machine come in time
_CHUNK: Final = 1 << 16
Hear = Callable[[Report], Awaitable[None]]


@attrs.frozen
class Death:
    """How a worker died, and what it was playing of the match."""

    reason: str
    under_way: PlannedRound | None
    was_shown: bool  # the bots may have seen the deal


@attrs.define(eq=False)
class _Playing:
    """A match in a worker."""

    under_way: PlannedRound | None = None
    was_shown: bool = False
    death: Death | None = None
    over: trio.Event = attrs.field(factory=trio.Event)


class _Worker:
    """One worker process."""

    def __init__(self, process: WorkerProcess, setup: Setup):
        self._process = process
        self._stream = TcpStream(process.socket)
        self.setup = setup
        self._sending = trio.Lock()
        self.matches: dict[str, _Playing] = {}
        self._missed = 0  # beats
        self._is_heard = False  # whether the next report would be heard at once
        self._told: Standing | None = None
        self._hung = ""
        self._listening = trio.CancelScope(shield=True)
        self.gone = trio.Event()

    async def send(self, *orders: Order) -> None:
        async with self._sending:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # `listen` notices that, too
                await self._stream.send_all(b"".join(map(packed, orders)))

    async def tell(self, standing: Standing) -> None:
        """Tell the worker what the tournament has decided, if it does not know yet."""
        if standing != self._told:
            self._told = standing
            await self.send(standing)

    async def begin(self, job: MatchJob) -> _Playing:
        self.matches[job.planned.id] = playing = _Playing()
        orders: list[Order] = [self.setup] if self._told is None else []
        self._told = job.standing
        await self.send(*orders, job)
        return playing

    async def listen(self, hear: Hear) -> None:
        """Hear reports until the worker closes its end."""
        reports = Unpacker()
        with self._listening:
            while data := await self._received():
                for report in reports.feed(data):
                    await self._take(report, hear)
        self._reap()

    async def _received(self) -> bytes:
        self._is_heard = True
        try:
            return await self._stream.receive_some(_CHUNK)
        except trio.BrokenResourceError:
            return b""
        finally:
            self._is_heard, self._missed = False, 0

    async def _take(self, report: Report, hear: Hear) -> None:
        match report:
            case Started(match, planned):
                self.matches[match].under_way, self.matches[match].was_shown = planned, False
            case Shown(match):
                self.matches[match].was_shown = True
                return
            case MatchOver(match):
                self.matches.pop(match).over.set()
                return
        await hear(report)
        if waits(report):
            await self.send(GoOn(report.line.match))

    def _reap(self) -> None:
        self._process.kill()  # only one that hangs is not gone already
        words = self._hung or f"ended ({exit_words(self._process.wait())})"
        self._stream.close()
        self.gone.set()
        for playing in self.matches.values():
            playing.death = Death(f"the worker process that played it {words}", playing.under_way, playing.was_shown)
            playing.over.set()

    async def beat(self, standing: Callable[[], Standing]) -> None:
        """Tell the worker what is new, and kill it if it hangs, until it is gone."""
        while not self.gone.is_set():
            with trio.move_on_after(_BEAT):
                await self.gone.wait()
                return
            await self.tell(standing())
            if not self._is_heard:
                continue
            if self._missed == _MOST_MISSED:
                self._hung = f"did not react for {_MOST_MISSED * _BEAT:.0f} s and was killed"
                self._process.kill()
                return
            self._missed += 1
            await self.send(Beat())

    async def end(self) -> None:
        """Have the worker end its bots, and wait until it is gone."""
        self._process.hang_up()
        with trio.move_on_after(END_SECONDS):
            await self.gone.wait()
            return
        self._process.kill()
        self._listening.cancel()
        await self.gone.wait()


class Crew:
    """The workers of a tournament. `hear` is called with each report, and `standing` says what the tournament has
    decided. `spare` is a worker that was started early."""

    def __init__(
        self, config: Config, hear: Hear, standing: Callable[[], Standing], spare: WorkerProcess | None = None
    ):
        self._most = config.most_workers
        self._share = math.ceil(config.concurrency / self._most)
        self._affinity = config.affinity
        self._cores = _cores(config)
        self._hear = hear
        self._standing = standing
        self._spare = spare
        self._workers: list[_Worker] = []
        self._nursery: trio.Nursery | None = None

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Workers can play during the block; at its end all of them end."""
        async with trio.open_nursery() as self._nursery:
            try:
                yield
            finally:
                with trio.CancelScope(shield=True):
                    async with trio.open_nursery() as ending:
                        for worker in self._workers:
                            ending.start_soon(worker.end)

    async def play(self, job: MatchJob) -> Death | None:
        """Have a match played. Returns None when it is over, or how its worker died."""
        try:
            worker = self._free()
        except OSError as error:
            return Death(f"no worker process could be started: {error.strerror}", None, was_shown=False)
        playing = await worker.begin(job)
        await playing.over.wait()
        return playing.death

    async def tell(self, standing: Standing) -> None:
        """Tell all workers what the tournament has decided."""
        for worker in tuple(self._workers):
            await worker.tell(standing)

    def _free(self) -> _Worker:
        """The worker with the fewest matches; a new one if all have some and there may be more. Raises OSError."""
        free = min(self._workers, key=lambda worker: len(worker.matches), default=None)
        if free is None or (free.matches and len(self._workers) < self._most):
            assert self._nursery is not None
            process, self._spare = self._spare or WorkerProcess(), None
            free = _Worker(process, self._setup())
            self._workers.append(free)
            self._nursery.start_soon(self._listen, free)
            self._nursery.start_soon(free.beat, self._standing)
        return free

    def _setup(self) -> Setup:
        """For a new worker: the core that fewest others have."""
        taken = Counter(worker.setup.core for worker in self._workers)
        core = min(self._cores, key=taken.__getitem__, default=None)
        return Setup(self._share, core, always_pinned=bool(self._affinity))

    async def _listen(self, worker: _Worker) -> None:
        try:
            await worker.listen(self._hear)
        finally:
            self._workers.remove(worker)


def _cores(config: Config) -> list[int]:
    """The cores to which workers may be pinned. By default none unless each worker can have one that is idle, because
    a pinned worker cannot avoid other programs."""
    cores = sorted(os.sched_getaffinity(0))
    if config.affinity is False or (config.affinity is None and config.most_workers + _others() > len(cores)):
        return []
    return cores


def _others() -> int:
    """How many programs besides this one are running: now, and on average in the last minute. The second figure still
    counts a tournament that has just ended, and the first one may be a coincidence."""
    average, _, _, now, _ = Path("/proc/loadavg").read_text().split()
    return min(round(float(average)), int(now.partition("/")[0]) - 1)
