"""Whether a worker and its bots stay on one core.

Bots that answer at once spend most of their time waking each other up, which is much quicker on one core. Bots that
think may use several cores, and lose by it. So by default a worker moves to its core after some rounds in a row in
which most answers took no time, and leaves it after the first round that is different.
"""

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import Final

from arena.bots.process_tree import children_of
from arena.journal.lines import RoundLine

_ROUNDS: Final = 3  # in a row, with instant answers


class Pinning:
    """`core` is for this worker alone; None if it may not be pinned. `always`: without looking at the rounds."""

    def __init__(self, core: int | None, *, always: bool):
        self._core = core
        self._always = always
        self._all = os.sched_getaffinity(0)
        self._instant = 0  # rounds in a row
        self.is_pinned = False
        if core is not None and always:
            self._move({core})

    def played(self, line: RoundLine) -> None:
        """Learn from a round."""
        if self._core is None or self._always:
            return
        times = [ms for _, _, ms in line.moves if ms is not None]
        self._instant = self._instant + 1 if 2 * times.count(0) > len(times) else 0
        if self.is_pinned != (self._instant >= _ROUNDS):
            self._move(self._all if self.is_pinned else {self._core})

    def _move(self, cores: Collection[int]) -> None:
        """Move this process and all below it, now and later: processes inherit it."""
        self.is_pinned = not self.is_pinned
        below = [os.getpid()]
        while below:
            pid = below.pop()
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has exited, or is another user's
                os.sched_setaffinity(pid, cores)
            below += children_of(pid)


def other_programs() -> int:
    """How many programs besides this one are running: now, and on average in the last minute. The second figure still
    counts a tournament that has just ended, and the first one may be a coincidence."""
    average, _, _, now, _ = Path("/proc/loadavg").read_text().split()
    return min(round(float(average)), int(now.partition("/")[0]) - 1)
