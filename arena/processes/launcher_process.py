"""The launcher (launcher.py) as a process, as the arena starts it. Only the standard library is needed, so that a
worker can start it before it loads its own modules."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

_CODE: Final = "import sys; sys.path.insert(0, sys.argv[1]); from arena.processes.launcher import main; main()"
_END_SECONDS: Final = 5


class Launcher:
    """The arena's handle of the launcher process."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        root = str(Path(__file__).parents[2])
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _CODE, root],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env={},  # it needs none of our variables, and a bot can read those of its parent
                    start_new_session=True,
                )
            except OSError:
                self._socket.close()
                raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def fork(self, streams: tuple[int, int, int]) -> socket.socket:
        """Fork a keeper, which then waits for its request on the other end of the socket. Raises OSError;
        BrokenPipeError if the launcher was killed."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._socket, [b"keeper"], [theirs.fileno(), *streams])
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        return ours

    def close(self) -> None:
        self._socket.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:  # it was stopped, for example by SIGSTOP
            self._process.kill()
            self._process.wait()
