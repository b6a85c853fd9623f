"""What a hostile bot might try against the machine that it runs on, as a program that a bot can be:

    python3 sandbox_attempts.py TARGETS [NAME]...

TARGETS is a file that Targets.read reads, and each NAME that of an attempt. Without names, the program makes all that a
bot survives; it then also leaves a process that runs on, for the host to see what becomes of it. Each result is a line
of JSON on stdout.

Each attempt is a function. It returns what it got if the attack succeeded, and raises OSError or NoEffectError if it
did not. The host lays out targets, and an attempt touches nothing else: without a sandbox the attacks succeed, and do
no harm.

This module uses only the standard library and runs on Python 3.9, because a copy of it runs inside the sandbox, on
whatever interpreter is there.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

MARK = b"arena-target-"  # what hidden targets contain, followed by digits that the bot is not told
EFFECT_SECONDS = 0.2  # a signal has had its effect by then
HOLD_SECONDS = 2  # the keeper has measured by then
_ATTEMPT_SECONDS = 20  # the longest needs two
_ANSWER_SECONDS = 1.0
_DAEMON_SECONDS = 600
_MOST_DETAIL = 200  # characters
_MANY_PROCESSES = 200
_PIECE = 1 << 20
_EXAMPLE_ADDRESS = "192.0.2.53"  # of nobody; nothing is sent there
_SETUID_PROGRAMS = ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/newgrp")
SomeTargets = TypeVar("SomeTargets", bound="Targets")


class NoEffectError(Exception):
    """The attack had no effect; the text says what was seen instead."""


@dataclass(frozen=True)
class Targets:
    """What the host laid out. In the sandbox, the bot is told of things that it cannot reach."""

    hidden: str  # a file of mode 600
    opponent: str  # a file in the folder of another bot
    own: str  # the bot's own folder
    program: str  # the copy of this module in it
    memory: int  # bytes that the bot may use
    first_process: int  # the one that holds the sandbox together: 1 inside
    host_process: int
    tcp: int  # the port of a listener on the host's loopback

    @classmethod
    def read(cls: type[SomeTargets], path: str) -> SomeTargets:
        with open(path, encoding="utf-8") as file:
            return cls(**json.load(file))


class Attempt(NamedTuple):
    name: str
    promise: str  # what holds if the attempt is refused
    make: Callable[[Any], str]  # with the targets of its program
    fatal: bool  # whether the bot ends if the promise holds


class Result(NamedTuple):
    attempt: str
    escaped: bool
    detail: str

    def line(self) -> str:
        return json.dumps(self._asdict())


_Make = TypeVar("_Make", bound=Callable[[Any], str])


class Attempts(dict[str, Attempt]):
    """The attempts of one module by name, in the order of their definition."""

    def add(self, promise: str, fatal: bool = False) -> Callable[[_Make], _Make]:
        """Registers a function as an attempt that is named after it."""

        def register(make: _Make) -> _Make:
            name = make.__name__.replace("_", "-")
            self[name] = Attempt(name, promise, make, fatal)
            return make

        return register


# Processes come last, because the target among them is killed.
TRIALS = Attempts()


@TRIALS.add("a bot reads no file outside of /usr and its own folder")
def read_hidden_file(targets: Targets) -> str:
    return marked(targets.hidden)


@TRIALS.add("a bot does not read the folder of another bot")
def read_opponent(targets: Targets) -> str:
    return marked(targets.opponent)


def marked(path: str) -> str:
    """What was got by reading a target."""
    with open(path, "rb") as file:
        if MARK in file.read(1 << 20):
            return f"it read {path}"
    raise NoEffectError(f"{path} is not the target")


@TRIALS.add("a bot does not write into its own folder")
def write_own_folder(targets: Targets) -> str:
    return written(targets.own)


@TRIALS.add("a bot writes nowhere but in /tmp and /dev/shm")
def write_elsewhere(_: Targets) -> str:
    problem = OSError("there is no such folder")
    for folder in ("/", "/dev", "/etc", "/proc", "/proc/1", "/var/tmp", "/run", "/home", "/mnt", "/bin", "/lib"):
        try:
            return written(folder)
        except OSError as error:
            problem = error
    raise problem


def written(folder: str) -> str:
    """What was got by making a file there, which is removed at once."""
    path = os.path.join(folder, f".arena-escape-{os.getpid()}")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return f"it wrote {path}"


@TRIALS.add("a bot does not connect to a program on this machine")
def connect_to_loopback(targets: Targets) -> str:
    socket.create_connection(("127.0.0.1", targets.tcp), _ANSWER_SECONDS).close()
    return "it connected"


@TRIALS.add("a bot has no way to any other machine")
def find_route(_: Targets) -> str:
    """To connect a datagram socket sends nothing; the kernel only looks for a way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((_EXAMPLE_ADDRESS, 9))
        return f"there is a way from {client.getsockname()[0]}"


@TRIALS.add("a program with setuid does not give a bot rights")
def run_setuid(_: Targets) -> str:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:
        if "NoNewPrivs:\t1\n" in file:
            raise NoEffectError("the kernel ignores setuid for it")
    found = [path for path in _SETUID_PROGRAMS if os.path.exists(path) and os.stat(path).st_mode & 0o4000]
    if found:
        return f"it can run {found[0]} as another user"
    raise NoEffectError("there is no program with setuid")


@TRIALS.add("a bot has no more memory than it may", fatal=True)
def take_memory(targets: Targets) -> str:
    taken: list[bytes] = []
    while len(taken) * _PIECE < 2 * targets.memory:
        taken.append(b"x" * _PIECE)
    time.sleep(HOLD_SECONDS)
    return f"it had {len(taken)} MiB"


@TRIALS.add("a bot has at most as many processes as it may", fatal=True)
def fork_without_end(_: Targets) -> str:
    children: list[int] = []
    try:
        while len(children) < _MANY_PROCESSES:
            children.append(_sleeping_child())
        time.sleep(HOLD_SECONDS)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
    return f"it had {_MANY_PROCESSES} processes"


def _sleeping_child() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(10 * HOLD_SECONDS)
        os._exit(0)
    return child


@TRIALS.add("a bot has one session, and with it one share of the processors")
def leave_session(_: Targets) -> str:
    os.setsid()
    return "it has another session"


@TRIALS.add("a bot does not see the processes of the host")
def see_host_process(targets: Targets) -> str:
    with open(f"/proc/{targets.host_process}/cmdline", "rb") as file:
        if MARK in file.read():
            return f"it sees process {targets.host_process}"
    raise NoEffectError("another process has this number")


@TRIALS.add("a bot cannot kill the process that holds its sandbox")
def kill_first_process(targets: Targets) -> str:
    """In a sandbox, the bot would end with it."""
    os.kill(targets.first_process, signal.SIGKILL)
    time.sleep(EFFECT_SECONDS)
    if targets.first_process != 1 and state(targets.first_process) == "Z":
        return "it killed another process"
    raise NoEffectError("the signal had no effect")


def state(pid: int) -> str:
    """The letter for what the process does, as in proc(5)."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


def outcome(attempt: Attempt, targets: Targets) -> Result:
    """The result of making the attempt in this process. An attempt that fails in an unforeseen way was not refused."""
    try:
        return Result(attempt.name, True, attempt.make(targets)[:_MOST_DETAIL])
    except (OSError, NoEffectError) as error:
        return Result(attempt.name, False, str(error)[:_MOST_DETAIL])
    except Exception as error:
        return Result(attempt.name, True, f"the attempt itself failed: {error!r}"[:_MOST_DETAIL])


def try_apart(attempt: Attempt, targets: Targets) -> Result:
    """The result of making the attempt in a child, so that it cannot harm the next. A child that was killed did not
    succeed; of one that does not end, nobody can say that."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, outcome(attempt, targets).line().encode())
        finally:
            os._exit(0)
    os.close(writer)
    try:
        return _heard(attempt, reader, child)
    finally:
        os.close(reader)


def _heard(attempt: Attempt, reader: int, child: int) -> Result:
    ready = select.select([reader], [], [], _ATTEMPT_SECONDS)[0]
    said = os.read(reader, select.PIPE_BUF) if ready else b""
    if not ready:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if said:
        return Result(**json.loads(said))
    if ready and os.WIFSIGNALED(status):
        return Result(attempt.name, False, f"killed by {signal.Signals(os.WTERMSIG(status)).name}")
    return Result(attempt.name, True, f"no result after {_ATTEMPT_SECONDS} seconds" if not ready else "no result")


def results(attempts: Mapping[str, Attempt], targets: Targets, names: Iterable[str] = ()) -> Iterator[Result]:
    """The results of the attempts with these names; without names, of all that a bot survives."""
    for name in list(names) or [each.name for each in attempts.values() if not each.fatal]:
        yield try_apart(attempts[name], targets)


def leave_daemon() -> None:
    """Start a process that left everything behind by which its ancestors could find it. A sandbox keeps it in its
    session."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(PermissionError):
            os.setsid()
        if os.fork() == 0:
            os.closerange(0, 3)
            time.sleep(_DAEMON_SECONDS)
        os._exit(0)
    os.waitpid(child, 0)


def main(attempts: Mapping[str, Attempt], kind: type[Targets]) -> None:
    targets, names = kind.read(sys.argv[1]), sys.argv[2:]
    if not names:
        leave_daemon()
    for result in results(attempts, targets, names):
        print(result.line(), flush=True)


if __name__ == "__main__":
    main(TRIALS, Targets)
