"""React to the Enter key, pressed at a terminal or sent through a pipe."""

import os
import stat
import sys
from collections.abc import Callable

import trio


def is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def is_pipe() -> bool:
    try:
        return sys.stdin is not None and stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode)
    except OSError:  # stdin is closed
        return False


async def call_on_enter(call: Callable[[], None]) -> None:
    """Call `call` each time input arrives on stdin; return at the end of the input."""
    while True:
        await trio.lowlevel.wait_readable(sys.stdin.fileno())
        try:
            data = os.read(sys.stdin.fileno(), 1024)
        except OSError:  # the terminal is gone
            return
        if not data:
            return  # end of input: there will be no more keys
        call()
