"""A worker as a process, as its owner starts it. Only the standard library is needed, so that the first worker can load
its modules while its owner still loads its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_CODE: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from arena.worker.entry import main; main(int(sys.argv[2]))"
)
END_SECONDS: Final = 10.0  # to end its bots, which takes up to two
OWNERS_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # sent to all, but only the owner reacts


class WorkerProcess:
    """A worker, and our end of the socket to it. Raises OSError if it cannot be started."""

    place = ""  # on this machine

    def __init__(self) -> None:
        self.socket, theirs = socket.socketpair()
        words = [sys.executable, "-P", "-c", _CODE, str(Path(__file__).parents[2]), str(os.getpid())]
        # A worker is born with these signals blocked, because it takes a moment until it can ignore them.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, OWNERS_SIGNALS)
        with theirs:
            try:
                self._process = subprocess.Popen(words, stdin=theirs.fileno(), stdout=subprocess.DEVNULL)
            except OSError:
                self.socket.close()
                raise
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, traceback: TracebackType | None) -> None:
        """Kill a worker that nobody used, which has no bots."""
        if self.socket.fileno() >= 0:
            self.kill()
        self.close()

    def kill(self) -> None:
        self._process.kill()

    def hang_up(self) -> None:
        """Have the worker end its bots and exit; what it still reports can be read."""
        with contextlib.suppress(OSError):  # it is gone already
            self.socket.shutdown(socket.SHUT_WR)

    def wait(self) -> int:
        """Wait for a worker that was killed or has closed its end. Returns its exit status."""
        return self._process.wait()

    def ended(self) -> str:
        """Wait likewise. Returns how it ended, in words."""
        from arena.processes.process_state import exit_words

        return f"ended ({exit_words(self.wait())})"

    def close(self) -> None:
        """End the worker, if it is not gone already."""
        self.socket.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
