"""The descriptors of stdout and stderr: whether anybody reads them, and how to write no more to them."""

import os
import select
from typing import Final, TextIO

# A pipe that is ready takes this much at once. select.PIPE_BUF is documented to be that number.
AT_ONCE: Final = select.PIPE_BUF


def descriptor_of(stream: TextIO) -> int | None:
    """None if it has no descriptor, or is closed."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


def is_ready(descriptor: int, seconds: float = 0) -> bool:
    """Whether a write would not wait for a reader: it takes the bytes, or fails. A full pipe is not ready, and neither
    is a terminal after Ctrl-S. Waits for at most this many seconds until it is ready."""
    return bool(_polled(descriptor, seconds))


def is_closed(descriptor: int) -> bool:
    """Whether nobody can read any more: the other end of the pipe is closed, or the terminal is gone."""
    return any(found & (select.POLLERR | select.POLLHUP) for _, found in _polled(descriptor, 0))


def _polled(descriptor: int, seconds: float) -> list[tuple[int, int]]:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLOUT)
    return waiting.poll(1000 * seconds)


def silence(stream: TextIO) -> None:
    """Point a stream to nowhere, and with it what is left in its buffer: otherwise that fails, or waits for a reader,
    when the interpreter ends."""
    descriptor = descriptor_of(stream)
    if descriptor is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
