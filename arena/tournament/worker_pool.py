"""The worker processes of a tournament, as their owner sees them.

Theory of operation. A worker (arena/worker/worker.py) is started when a match begins and all others are busy. One task
for each worker hears its reports, in order. It goes on while play is cancelled, until the worker has ended its bots and
closed its socket, so that no finished round is lost. A worker whose socket closes earlier has died: what it was playing
is returned to whoever asked for it. Another task sends a beat to a worker that was silent for a second, and kills one
that answers none of many.

Waking up for a report costs more than processing it. So while nobody waits for what a worker reports, the reports stay
in its socket for up to fifty milliseconds, and those of several rounds and workers are heard together. A worker that
dies meanwhile has left them there.
"""

import contextlib
import math
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import attrs
import trio

from arena.plan.config import Config
from arena.plan.schedule import PlannedRound
from arena.support.streams import TcpStream
from arena.worker.channel import Unpacker, packed
from arena.worker.job import (
    Beat,
    DealExposed,
    DealWanted,
    GoOn,
    MatchJob,
    MatchOver,
    Order,
    Report,
    RoundFinished,
    RoundStarted,
    RoundVoid,
    Rulings,
    Setup,
    waits,
)
from arena.worker.worker_process import END_SECONDS, WorkerProcess

_BEAT: Final = 1.0  # seconds
_MOST_MISSED: Final = 10  # beats without an answer before a worker is killed; those of a busy machine come in time
_CHUNK: Final = 1 << 16
_REST: Final = 0.05  # seconds for which reports may stay in the socket, at most; nobody who watches notices them
# A rest must not outlast a match, whose worker then needs another one. So a round is expected to take this part of the
# shortest time that was seen in the match, but at least _FASTEST seconds.
_HASTE: Final = 0.7
_FASTEST: Final = 0.001
_CALM: Final = 20  # rounds in a row after which the match did not wait for an answer; then the next one hardly will
Hear = Callable[[Report], Awaitable[None]]


class AnyWorkerProcess(Protocol):
    """What a pool needs of a worker process, wherever it runs."""

    place: str  # where it runs, in words that end with a space; empty on this machine
    socket: socket.socket  # for orders and reports; its other end is closed when the process is gone

    def kill(self) -> None: ...

    def hang_up(self) -> None:
        """Have it end its bots and exit."""

    def ended(self) -> str:
        """How it ended, in words. It was killed before, or has closed its end."""


@attrs.frozen
class Death:
    """How a worker died, and what it was playing of the match."""

    reason: str
    under_way: PlannedRound | None
    was_exposed: bool  # the bots may have seen the deal
    also_exposed: tuple[PlannedRound, ...] = ()  # other unfinished rounds whose deals they may have seen
    is_ours: bool = True  # a failure that counts; False if the way to the worker was lost, whatever was played


@attrs.define(eq=False)
class _Playing:
    """A match in a worker."""

    length: int  # rounds
    under_way: PlannedRound | None = None
    was_exposed: bool = False
    death: Death | None = None
    over: trio.Event = attrs.field(factory=trio.Event)
    _finished: int = 0  # rounds since the last look at the clock
    _looked: float = attrs.field(factory=trio.current_time)
    _round_seconds: float = math.inf  # the shortest time from look to look, for each of the rounds

    def finished(self) -> None:
        """Count a round."""
        self._finished += 1

    def is_busy_until(self, now: float) -> float:
        """A moment until which the match will hardly be over."""
        if self._finished:
            self._round_seconds = min(self._round_seconds, (now - self._looked) / self._finished)
            self._looked, self._finished = now, 0
        if self.under_way is None:
            return now
        fastest = _FASTEST if self._round_seconds == math.inf else max(_FASTEST, _HASTE * self._round_seconds)
        return now + (self.length - self.under_way.number) * fastest


class PoolWorker:
    """One worker process. It hangs if it answers none of many beats, which come every `pause` seconds."""

    def __init__(self, process: AnyWorkerProcess, setup: Setup, pause: float = _BEAT):
        self._pause = pause
        self._process = process
        self._stream = TcpStream(process.socket)
        self._setup = setup
        self._sending = trio.Lock()
        self.matches: dict[str, _Playing] = {}
        self._missed = 0  # beats
        self._calm = 0  # rounds in a row after which no match waited
        self._is_heard = False  # whether the next report would be heard at once
        self._is_set_up = False
        self._told: Rulings | None = None
        self._hung = ""
        self._listening = trio.CancelScope(shield=True)
        self.gone = trio.Event()

    async def send(self, *orders: Order) -> None:
        async with self._sending:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # `listen` notices that, too
                await self._stream.send_all(b"".join(map(packed, orders)))

    async def tell(self, rulings: Rulings) -> None:
        """Tell the worker what the tournament has decided, if it does not know yet."""
        if rulings != self._told:
            self._told = rulings
            await self.send(rulings)

    async def _begin(self, job: MatchJob) -> _Playing:
        self.matches[job.planned.id] = playing = _Playing(job.planned.length)
        orders: list[Order] = [] if self._is_set_up else [self._setup]
        self._is_set_up, self._told = True, job.rulings
        await self.send(*orders, job)
        return playing

    async def play(self, job: MatchJob) -> Death | None:
        """Have a match played. Returns None when it is over, or how the worker died."""
        if self.gone.is_set():
            return Death("the worker process that was to play it is gone", None, was_exposed=False)
        playing = await self._begin(job)
        await playing.over.wait()
        return playing.death

    async def listen(self, hear: Hear) -> None:
        """Hear reports until the worker closes its end."""
        reports = Unpacker()
        with self._listening:
            while data := await self._received():
                for report in reports.feed(data):
                    await self._take(report, hear)
                if self._calm >= _CALM and len(data) < _CHUNK:  # else there is more
                    await self._rest()
        self._reap()

    async def _rest(self) -> None:
        """Let reports of the next milliseconds wait, unless a match may be over by then."""
        now = trio.current_time()
        busy = min((playing.is_busy_until(now) for playing in self.matches.values()), default=now)
        if busy > now:
            together = (now // _REST + 1) * _REST  # all workers at the same time
            await trio.sleep_until(min(together, busy))

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
            case RoundStarted(match, planned):
                self.matches[match].under_way, self.matches[match].was_exposed = planned, False
            case DealExposed(match):
                self.matches[match].was_exposed = True
                return
            case RoundFinished(line):
                self._calm += 1
                self.matches[line.match].finished()
            case RoundVoid(line):
                self.matches[line.match].was_exposed = False  # the next attempt at the round has a new deal
            case MatchOver(match):
                self.matches.pop(match).over.set()
                return
        await hear(report)
        if waits(report):
            self._calm = 0
            await self.send(GoOn(report.match if isinstance(report, DealWanted) else report.line.match))

    def _reap(self) -> None:
        self._process.kill()  # only one that hangs is not gone already
        words = self._process.ended()
        self._stream.close()
        self.gone.set()
        for playing in self.matches.values():
            playing.death = Death(
                f"the worker process that played it {self._process.place}{self._hung or words}",
                playing.under_way,
                playing.was_exposed,
            )
            playing.over.set()

    async def beat(self, rulings: Callable[[], Rulings]) -> None:
        """Tell the worker what is new, and kill it if it hangs, until it is gone. A worker that hangs reads nothing
        either, so nothing here waits until something is sent."""
        async with trio.open_nursery() as sending:
            while not self.gone.is_set():
                with trio.move_on_after(self._pause):
                    await self.gone.wait()
                    return
                sending.start_soon(self.tell, rulings())
                if not (self._is_heard or self._sending.locked()):
                    continue
                if self._missed == _MOST_MISSED:
                    self._hung = f"did not react for {_MOST_MISSED * self._pause:.0f} s and was killed"
                    self._process.kill()
                    return
                self._missed += 1
                sending.start_soon(self.send, Beat())

    async def end(self) -> None:
        """Have the worker end its bots, and wait until it is gone."""
        self._process.hang_up()
        with trio.move_on_after(END_SECONDS):
            await self.gone.wait()
            return
        self._process.kill()
        self._listening.cancel()
        await self.gone.wait()


class AnyPool(Protocol):
    """Who plays the matches between bots that the arena starts."""

    @property
    def most_matches(self) -> int:
        """How many matches it takes at once, though some may wait."""

    def open(self) -> AbstractAsyncContextManager[None]:
        """Matches can be played during the block."""

    async def play(self, job: Callable[[], MatchJob]) -> Death | None:
        """Have a match played; `job` makes it, from what is known of it by then. Returns None when it is over, or how
        its worker died."""

    async def tell(self, rulings: Rulings) -> None:
        """Take note of what the tournament has decided."""


# Makes a pool of workers. It may call the last argument, with the reason, if it cannot go on.
MakePool = Callable[[Config, Hear, Callable[[], Rulings], Callable[[str], None]], AnyPool]


class WorkerPool:
    """The workers of a tournament. `hear` is called with each report, and `rulings` says what the tournament has
    decided. `spare` is a worker that was started early."""

    def __init__(self, config: Config, hear: Hear, rulings: Callable[[], Rulings], spare: WorkerProcess | None = None):
        self.most_matches = config.matches_at_once
        self._most = config.most_workers
        self._setup = Setup(math.ceil(self.most_matches / self._most), config.affinity)
        self._hear = hear
        self._rulings = rulings
        self._spare = spare
        self._workers: list[PoolWorker] = []
        self._nursery: trio.Nursery | None = None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Workers can play during the block; at its end all of them end."""
        async with trio.open_nursery() as self._nursery:
            try:
                yield
            finally:
                with trio.CancelScope(shield=True):
                    async with trio.open_nursery() as ending:
                        for worker in self._workers:
                            ending.start_soon(worker.end)

    async def play(self, job: Callable[[], MatchJob]) -> Death | None:
        try:
            worker = self._free()
        except OSError as error:
            return Death(f"no worker process could be started: {error.strerror}", None, was_exposed=False)
        return await worker.play(job())

    async def tell(self, rulings: Rulings) -> None:
        """Tell all workers what the tournament has decided."""
        for worker in tuple(self._workers):
            await worker.tell(rulings)

    def _free(self) -> PoolWorker:
        """The worker with the fewest matches; a new one if all have some and there may be more. Raises OSError."""
        free = min(self._workers, key=lambda worker: len(worker.matches), default=None)
        if free is None or (free.matches and len(self._workers) < self._most):
            assert self._nursery is not None
            process, self._spare = self._spare or WorkerProcess(), None
            free = PoolWorker(process, self._setup)
            self._workers.append(free)
            self._nursery.start_soon(self._listen, free)
            self._nursery.start_soon(free.beat, self._rulings)
        return free

    async def _listen(self, worker: PoolWorker) -> None:
        try:
            await worker.listen(self._hear)
        finally:
            self._workers.remove(worker)
