"""An attempt, the baits it goes for, and how it is made: in a process of its own, so that it cannot harm the next."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

MARK = b"arena-bait-"  # what hidden baits contain, followed by digits that the bot is not told
_SECONDS = 20  # for one attempt; the longest needs two
_MOST_DETAIL = 200  # characters


class Refused(Exception):
    """The attack had no effect; the text says what was seen instead."""


class Baits(NamedTuple):
    """What the host laid out. In the sandbox, the bot is told of things that it cannot reach."""

    hidden: str  # a file of mode 600
    journal: str
    secret: str  # of the deals
    opponent: str  # a file in the folder of another bot
    own: str  # the bot's own folder
    shared: str  # a file in it, which another instance of the bot reads too
    fifo: str  # a named pipe of another program
    socket: str  # a unix socket of another program
    scratch: str  # the folder in which the bot may write
    shared_memory: str  # the folder of POSIX shared memory
    scratch_bytes: int  # what fits into each of the two
    memory: int  # bytes that the bot may use
    first_process: int  # the one that holds the sandbox together: 1 inside
    host_process: int
    tcp: int  # the port of a listener on the host's loopback
    tcp6: int  # the same for IPv6; 0 on a host without it
    udp: int
    abstract: str  # the name of an abstract unix socket
    key: str  # the description of a key in the user's keyring

    @staticmethod
    def read(path: str) -> Baits:
        with open(path, encoding="utf-8") as file:
            return Baits(**json.load(file))


class Attempt(NamedTuple):
    name: str
    promise: str  # what holds if the attempt is refused
    make: Callable[[Baits], str]
    fatal: bool  # whether the bot ends if the promise holds


class Result(NamedTuple):
    attempt: str
    escaped: bool
    detail: str

    def line(self) -> str:
        return json.dumps(self._asdict())


class Attempts:
    """The attempts of one module, in the order of their definition."""

    def __init__(self) -> None:
        self._made: list[Attempt] = []

    def __iter__(self) -> Iterator[Attempt]:
        return iter(self._made)

    def add(self, promise: str, fatal: bool = False) -> Callable[[Callable[[Baits], str]], Callable[[Baits], str]]:
        """Registers a function as an attempt that is named after it."""

        def register(make: Callable[[Baits], str]) -> Callable[[Baits], str]:
            self._made.append(Attempt(make.__name__.replace("_", "-"), promise, make, fatal))
            return make

        return register


def outcome(attempt: Attempt, baits: Baits) -> Result:
    """The result of making the attempt in this process. An attempt that fails in an unforeseen way was not refused."""
    try:
        return Result(attempt.name, True, attempt.make(baits)[:_MOST_DETAIL])
    except (OSError, Refused) as error:
        return Result(attempt.name, False, str(error)[:_MOST_DETAIL])
    except Exception as error:
        return Result(attempt.name, True, f"the attempt itself failed: {error!r}"[:_MOST_DETAIL])


def try_apart(attempt: Attempt, baits: Baits) -> Result:
    """The result of making the attempt in a child. A child that was killed did not succeed; of one that does not end,
    nobody can say that."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, outcome(attempt, baits).line().encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        return _heard(attempt, reader, child)
    finally:
        os.close(reader)


def _heard(attempt: Attempt, reader: int, child: int) -> Result:
    ready = select.select([reader], [], [], _SECONDS)[0]
    said = os.read(reader, select.PIPE_BUF) if ready else b""
    if not ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if said:
        return Result(**json.loads(said))
    if ready and os.WIFSIGNALED(status):
        return Result(attempt.name, False, f"killed by {signal.Signals(os.WTERMSIG(status)).name}")
    return Result(attempt.name, True, f"no result after {_SECONDS} seconds" if not ready else "no result")
