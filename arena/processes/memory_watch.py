"""What a bot uses of memory, for its keeper: exactly, but only as often as that is cheap.

Theory of operation. Resident sizes are quick to read, but they count a page for each process that maps it. Exact shares
make the kernel walk over all mappings and pages of all processes, which takes a bot of sixty-four processes seconds, if
it wants that. So they are read only if the sum of resident sizes is above the limit, and then for a small part of the
time. A bot could take more memory meanwhile, but the machine then has less: the next exact measurement comes at once if
the memory that is available fell by more than the bot had left. A bot that stays within its limit cannot bring this
about.

This module uses only the standard library, because keepers have nothing else.
"""

import math
from collections.abc import Sequence
from time import monotonic, process_time
from typing import Final

from arena.processes.process_tree import ProcessInfo, memory_of, resident_memory_of

_REST_PER_MEASUREMENT: Final = 20  # times the processor time that the last exact measurement took
_SLACK: Final = 64 * 2**20  # bytes that other programs may take in such a rest without another measurement


class MemoryWatch:
    def __init__(self, most: int):
        self.most = most  # bytes that the bot may use
        self._measured = 0  # bytes that it used at the last exact measurement
        self._available = 0  # bytes that the machine had left then
        self._next = -math.inf  # when it is time for another one

    def used(self, processes: Sequence[ProcessInfo]) -> int:
        """Bytes that these processes use together, as far as the limit needs to know: above it only if they exceed
        it."""
        at_most = resident_memory_of(processes)
        if at_most <= self.most:
            return at_most
        if monotonic() > self._next or self._may_have_taken_too_much():
            self._available, before = available_memory(), process_time()
            self._measured = memory_of(processes)
            self._next = monotonic() + _REST_PER_MEASUREMENT * (process_time() - before)
        return self._measured

    def _may_have_taken_too_much(self) -> bool:
        return self._available - available_memory() > self.most - self._measured + _SLACK


def available_memory() -> int:
    """Bytes that programs of this machine can still get without swapping, as the kernel estimates it."""
    return _value("/proc/meminfo", b"MemAvailable:") * 1024


def oom_kills() -> int:
    """How many processes of this machine the kernel has killed because there was not enough memory."""
    return _value("/proc/vmstat", b"oom_kill")


def _value(path: str, name: bytes) -> int:
    with open(path, "rb") as file:
        return next(int(line.split()[1]) for line in file if line.split()[0] == name)
