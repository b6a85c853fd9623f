"""Ending all that is below a process, however it forks meanwhile. For keepers and for the process that forks them.

Only the standard library is used here.
"""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Collection
from typing import Final

from arena.bots.process_tree import quick_children

_PR_SET_CHILD_SUBREAPER: Final = 36
_PAUSE: Final = 0.02  # seconds between two turns
_FEW: Final = 8  # processes
_MOMENT: Final = 0.005  # seconds
_MOST_STOPS: Final = 20


_libc: Final = ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """From now on a process below us whose parent ends becomes our child."""
    if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a subreaper")


def hurry() -> None:
    """A bot with thousands of processes leaves little time for others. Whoever may (root) does not wait for it; what we
    start does not inherit this."""
    with contextlib.suppress(OSError):  # not allowed, or not known to this system
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def end_all_below(any_left: Callable[[], bool], spare: Collection[int] = (), seconds: float | None = None) -> bool:
    """Kills what is below this process until nothing is left, or for so many seconds. `any_left` reaps. Programs of
    another user, which a bot may have started, cannot be killed and are left.

    A process that was born while we looked is found in the next turn. A turn has to be quicker than what can be forked
    meanwhile: it reads one small file for each process, and as root we do not wait for our turn (`hurry`).
    """
    until = None if seconds is None else time.monotonic() + seconds
    while any_left():
        killed = _kill_below(spare)
        if not killed or (until is not None and time.monotonic() > until):
            return False
        if killed > _FEW:  # let them die together; to wake up for each of them would take much longer
            time.sleep(_MOMENT)
        else:
            signal.sigtimedwait([signal.SIGCHLD], _PAUSE)
    return True


def _kill_below(spare: Collection[int]) -> int:
    """One turn. Returns how many there were. They are stopped before any of them is killed, because where the system
    allows no more processes to the user (see keeper.py), each that ends makes room for another one."""
    stopped: set[int] = set()
    for _ in range(_MOST_STOPS):
        before, stopped = stopped, send_below(signal.SIGSTOP, spare)
        if len(stopped) <= _FEW or stopped <= before:
            break
    return len(send_below(signal.SIGKILL, spare))


def send_below(number: int, spare: Collection[int] = ()) -> set[int]:
    """Returns who got it."""
    reached, children = set(), quick_children()
    waiting = [pid for pid in children(os.getpid()) if pid not in spare]
    while waiting:
        pid = waiting.pop()
        if _send(pid, number):
            reached.add(pid)
        waiting += children(pid)
    return reached


def _send(pid: int, number: int) -> bool:
    """Whether that is allowed."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # ended meanwhile
    except PermissionError:
        return False
    return True
