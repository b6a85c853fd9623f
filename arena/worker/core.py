"""A core that a worker has for itself and its bots, and what others use of it, by what Linux tells in /proc."""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from arena.journal.lines import RoundLine
from arena.processes.process_tree import ProcessInfo, descendants, threads_of
from arena.support.poll_loop import PollLoop, Steps, waiting_for
from arena.worker.job import Report, RoundFinished, RoundStarted
from arena.worker.pinning import Pinning

_TICKS: Final = os.sysconf("SC_CLK_TCK")  # per second
_PASSES: Final = 3  # a thread that begins during one is found by the next
_GLANCE: Final = 0.05  # seconds between two looks at the rounds of a worker that has a core
_LOOK: Final = 0.25  # seconds between two looks at what others use; /proc counts idle time in hundredths


class Usage(NamedTuple):
    """Seconds until some moment."""

    clock: float
    idle: float  # of the core
    ours: float  # processor time of this process and all below it


class Core:
    """At most one core for this process and all below it. No other worker of this machine has the same: the kernel
    lets one process bind the name of a socket, and frees it when the process ends, however it ends."""

    def __init__(self, name: str = "schotten-arena-core") -> None:
        self._name = name
        self._all = os.sched_getaffinity(0)
        self._untried: list[int] = []
        self._held: socket.socket | None = None
        self._core = -1
        self._before = Usage(0.0, 0.0, 0.0)

    @property
    def is_taken(self) -> bool:
        return self._held is not None

    def take(self) -> None:
        """Take a core that no other worker has, if there is one; not the last one again, if there are others."""
        for _ in self._all:
            self._untried = self._untried or sorted(self._all, reverse=True)
            core = self._untried.pop()
            held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                held.bind(f"\0{self._name}-{core}")
            except OSError:
                held.close()
                continue
            self._held, self._core = held, core
            _move(self._all, {core})
            self._before = usage(core)
            return

    def leave(self) -> None:
        if self._held is not None:
            _move({self._core}, self._all)
            self._held.close()
            self._held = None

    def used_by_others(self) -> float:
        """The part of the core that others used since this was asked last."""
        before, self._before = self._before, usage(self._core)
        return used_by_others(before, self._before)


def usage(core: int) -> Usage:
    """Of this core by now."""
    below = sum(_own_seconds(process) + process.waited_seconds for process in descendants(os.getpid()))
    ours = time.process_time() + sum(os.times()[2:4]) + below  # with children that it has waited for
    return Usage(time.monotonic(), idle_seconds(Path("/proc/stat").read_text(), core), ours)


def _own_seconds(process: ProcessInfo) -> float:
    """Exactly, by the clock that Linux keeps for each process: /proc rounds the time of each down, by up to a fifth of
    what is measured here."""
    try:
        return time.clock_gettime(~process.pid << 3 | 2)  # as clock_getcpuclockid(3) makes it
    except OSError:  # it has exited
        return process.own_seconds


def used_by_others(before: Usage, now: Usage) -> float:
    elapsed, idle, ours = (new - old for old, new in zip(before, now, strict=True))
    return (elapsed - idle - ours) / elapsed


def idle_seconds(stat: str, core: int) -> float:
    """How long the core had nothing to do since the machine started, by the text of /proc/stat; 0 if that is silent."""
    for line in stat.splitlines():
        if line.startswith(f"cpu{core} "):
            _, _, _, _, idle, waiting, *_ = line.split()
            return (int(idle) + int(waiting)) / _TICKS
    return 0.0


def _move(here: Iterable[int], there: Iterable[int]) -> None:
    """Move all threads of this process and of all below it that may run exactly `here`, now and later: new ones inherit
    it. A bot that chose its cores itself keeps them."""
    here = set(here)
    for _ in range(_PASSES):
        moved = 0
        for pid in (os.getpid(), *(process.pid for process in descendants(os.getpid()))):
            for thread in threads_of(pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):  # it has exited, or is another user's
                    if os.sched_getaffinity(thread) == here:
                        os.sched_setaffinity(thread, there)
                        moved += 1
        if not moved:
            return


class Affinity:
    """Where a worker and its bots run: always on a core of their own, if there is one, or never; by default (None) when
    that is quicker. `start` runs a task of the loop."""

    def __init__(self, core: Core, loop: PollLoop, start: Callable[[Steps[None]], None], *, pinned: bool | None):
        self._core = core
        self._loop = loop
        self._start = start
        self._pinning = Pinning() if pinned is None else None
        if pinned:
            self._core.take()

    def heard(self, report: Report) -> None:
        """Learn from what the matches report."""
        if self._pinning is None:
            return
        now = self._loop.now()
        match report:
            case RoundStarted(match):
                self._pinning.began(match, now)
            case RoundFinished(RoundLine() as line):
                self._pinning.played(line.match, [ms for _, _, ms in line.moves], now)
                if not self._core.is_taken and self._pinning.wants_core(now):
                    self._take(self._pinning, now)

    def _take(self, pinning: Pinning, now: float) -> None:
        self._core.take()
        if self._core.is_taken:
            self._start(self._stay(pinning))
        else:
            pinning.shared(1.0, now)  # other workers have all cores

    def _stay(self, pinning: Pinning) -> Steps[None]:
        """Leave the core when that is better."""
        looked = self._loop.now()
        while self._core.is_taken:
            yield from waiting_for(self._loop.signal(), self._loop.now() + _GLANCE)
            now = self._loop.now()
            if now - looked >= _LOOK:
                pinning.shared(self._core.used_by_others(), now)
                looked = now
            if not pinning.wants_core(now):
                self._core.leave()
