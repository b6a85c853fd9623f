"""Kill all descendants of this process, even while they fork. Used by keepers and by the launcher.

This module uses only the standard library, because keepers have nothing else.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Collection
from typing import Final

from arena.processes.process_tree import quick_children

_PR_SET_CHILD_SUBREAPER: Final = 36
_PAUSE: Final = 0.02  # seconds between two passes
_FEW: Final = 8  # processes
_MOMENT: Final = 0.005  # seconds
_MOST_STOPS: Final = 20  # passes of SIGSTOP before SIGKILL


_libc: Final = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Become a subreaper: from now on a descendant whose parent exits becomes a child of this process."""
    if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a subreaper")


def raise_priority() -> None:
    """Use real-time scheduling if allowed (as root), because a bot with thousands of processes leaves little processor
    time for others. Child processes do not inherit this."""
    with contextlib.suppress(OSError):  # not allowed, or not supported by this system
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def kill_descendants(any_left: Callable[[], bool], spare: Collection[int] = (), seconds: float | None = None) -> bool:
    """Kill all descendants of this process until none is left, or for at most `seconds`. Returns whether none is left.

    `any_left` reaps exited children and reports whether there are others. Children in `spare` are left alone, and so
    are programs of another user, which a bot may have started: they cannot be killed.

    A process that is forked during a pass is found in the next one. A pass has to be faster than the bot can fork: it
    reads one small file per process, and as root this process has priority (`raise_priority`).
    """
    until = None if seconds is None else time.monotonic() + seconds
    while any_left():
        killed = _kill_pass(spare)
        if not killed or (until is not None and time.monotonic() > until):
            return False
        if killed > _FEW:  # let them die together; waking up for each exit would take much longer
            time.sleep(_MOMENT)
        else:
            signal.sigtimedwait([signal.SIGCHLD], _PAUSE)
    return True


def _kill_pass(spare: Collection[int]) -> int:
    """One pass; returns the number of processes killed. All are stopped before any is killed, because where the user's
    process limit is reached (see keeper.py), each process that exits makes room for another fork."""
    stopped: set[int] = set()
    for _ in range(_MOST_STOPS):
        before, stopped = stopped, signal_descendants(signal.SIGSTOP, spare)
        if len(stopped) <= _FEW or stopped <= before:
            break
    return len(signal_descendants(signal.SIGKILL, spare))


def signal_descendants(number: int, spare: Collection[int] = (), root: int | None = None) -> set[int]:
    """Send a signal to all descendants of process `root`, by default this one, except its children in `spare`. Returns
    the pids that it reached."""
    reached, children = set(), quick_children()
    waiting = [pid for pid in children(root or os.getpid()) if pid not in spare]
    while waiting:
        pid = waiting.pop()
        if _send(pid, number):
            reached.add(pid)
        waiting += children(pid)
    return reached


def _send(pid: int, number: int) -> bool:
    """Send a signal; returns whether this process is permitted to."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it has exited in the meantime
    except PermissionError:
        return False
    return True
