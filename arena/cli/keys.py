"""React to the Enter key, pressed at a terminal or sent through a pipe."""

import os
import stat
import sys
from collections.abc import Callable

import trio

from arena.server.gathering import BeginKey


def begin_key(*, or_pipe: bool) -> BeginKey | None:
    """A task that waits for Enter; None if stdin is not a terminal. With `or_pipe` a pipe counts as a terminal."""
    return call_on_enter if _is_terminal() or (or_pipe and _is_pipe()) else None


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _is_pipe() -> bool:
    try:
        return sys.stdin is not None and stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    except OSError:  # stdin is closed
        return False


async def call_on_enter(call: Callable[[], None]) -> None:
    """Calls `call` each time Enter is pressed, until the input ends."""
    while True:
        await trio.lowlevel.wait_readable(sys.stdin.fileno())
        try:
            data = os.read(sys.stdin.fileno(), 1024)
        except OSError:  # the terminal is gone
            return
        if not data:
            return  # end of input
        call()
