"""Where a worker process begins. The launcher of its bots loads its modules while the worker loads its own."""

import contextlib
import ctypes
import os
import signal
import socket
from typing import Final

from arena.processes.launcher_process import Launcher
from arena.support.process_limits import raise_descriptor_limit, tune_gc
from arena.worker.worker_process import OWNERS_SIGNALS

_PR_SET_PDEATHSIG: Final = 1


def main(owner_pid: int) -> None:
    """The life of a worker. Its stdin is the socket to its owner."""
    for number in OWNERS_SIGNALS:
        signal.signal(number, lambda *_: None)  # not SIG_IGN, which bots would inherit
    signal.pthread_sigmask(signal.SIG_UNBLOCK, OWNERS_SIGNALS)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != owner_pid:
        return  # it was killed before the kernel knew
    with socket.socket(fileno=os.dup(0)) as owner:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # other processes must not inherit the socket
        os.close(nothing)
        raise_descriptor_limit()
        launcher = None
        with contextlib.suppress(OSError):  # the first bot then needs another one, and reports what is wrong
            launcher = Launcher()
        tune_gc()
        from arena.bots.polled_process import PolledProcesses
        from arena.worker.worker import Worker

        tune_gc()  # again, so that it leaves what is loaded alone
        with PolledProcesses(launcher) as processes:
            Worker(owner, processes).run()
