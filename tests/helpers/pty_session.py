"""A command in a real pseudo-terminal, with a screen that can be looked at."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests.helpers.forking import become, is_forkable
from tests.helpers.paths import ROOT

_PATIENCE = 60.0  # seconds until what is expected must be on the screen; only a failure waits that long
_TOP, _DRAWN = b"\x1b[H", b"\x1b[J"  # with which arena.cli.terminal begins and ends a screen


class PtySession:
    def __init__(self, pid: int, descriptor: int, columns: int, rows: int):
        self.pid, self._descriptor = pid, descriptor
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self.status: int | None = None

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def press(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        self._screen.resize(rows, columns)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def attributes(self) -> list[Any]:
        """How the terminal is set, as its user would find it."""
        return termios.tcgetattr(self._descriptor)

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.text, text)

    def wait_for_line(self, number: int, text: str) -> None:
        self.wait_until(lambda: text in self.lines[number], text)

    def wait_for_status(self) -> int:
        """Until the command has ended."""
        self.wait_until(self.has_ended, "the end of the command")
        assert self.status is not None
        return self.status

    def wait_until(self, there: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not (self._is_whole() and there()):
            assert time.monotonic() < deadline, f"{what!r} did not come; the screen shows\n{self.text}"
            self._read(0.05)

    def _is_whole(self) -> bool:
        """Whether the last screen that the command drew has arrived to its end."""
        return self.raw.rfind(_DRAWN) >= self.raw.rfind(_TOP)

    def _read(self, seconds: float) -> bool:
        """Show what has arrived, or arrives in this time. Returns whether anything did."""
        if self._descriptor < 0:
            time.sleep(seconds)
            return False
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if ready:
            with contextlib.suppress(OSError):  # the other end is closed: the command has ended
                data = os.read(self._descriptor, 65536)
                self.raw += data
                self._stream.feed(data)
                return bool(data)
        return False

    def has_ended(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self._read(0.1):
                    pass  # one read may return only a part of what it wrote at its end
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def hang_up(self) -> None:
        """Close the terminal's window."""
        os.close(self._descriptor)
        self._descriptor = -1

    def close(self) -> None:
        if self._descriptor >= 0:
            self.hang_up()

    def kill(self) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


@contextlib.contextmanager
def arena_in_terminal(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, around: Sequence[str] = ()
) -> Iterator[PtySession]:
    """`arena` with these arguments on a terminal of 80 columns and 24 rows; it is ended with the block. `around` is a
    command that runs it."""
    root = str(ROOT)
    settings = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    settings |= {"TERM": "xterm-256color", "PYTHONPATH": root, **(environment or {})}
    command = [*around, sys.executable, "-m", "arena", *arguments]
    pid, descriptor = pty.fork()
    if not pid:
        try:
            os.chdir(folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            if is_forkable(command, os.environ):
                become(command, settings)
            os.execvpe(command[0], command, settings)
        finally:
            os._exit(127)
    session = PtySession(pid, descriptor, 80, 24)
    try:
        yield session
    finally:
        session.kill()
        session.close()
