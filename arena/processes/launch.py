"""The arena's side of the keepers (keeper.py): ask for a bot's process and receive what its keeper reports.

Nothing here waits: each driver waits in its own way (bot_process.py, polled_process.py) and then looks.
"""

import contextlib
import errno
import json
import os
import signal
import socket
from typing import Any, Final, Generic, Protocol, TypeVar

import attrs
from msgspec import Struct

from arena.journal.endings import Fault
from arena.plan.bot_spec import BotSpec
from arena.sandbox.bubblewrap import OWN_PROCESSES, sandboxed
from arena.sandbox.spawning import StartRequest

START_SECONDS: Final = 30  # for the launcher and the keeper, not for the bot: this ends when the bot's program runs
END_SECONDS: Final = 5
_CHUNK: Final = 4096
_OUR_SHORTAGE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


class StartRefusedError(Exception):
    """The system refused to start the bot's program."""

    def __init__(self, number: int):
        super().__init__(os.strerror(number))


def too_slow() -> OSError:
    """The error if the launcher and the keeper did not start the bot in time."""
    return OSError(errno.ETIMEDOUT, f"the keeper of a bot did not start it within {START_SECONDS} s")


class KeeperError(Exception):
    """The keeper failed: a bug of ours, not the bot's fault."""


class Overrun(Struct, frozen=True):
    """The limit that a bot exceeded, which is why its keeper killed it."""

    ending: Fault
    words: str

    @staticmethod
    def of(limit: str, used: float, allowed: int) -> "Overrun":
        """The overrun of a limit, as the keeper names it."""
        match limit:
            case "memory":
                sizes = f"{used / 2**20:.1f} MiB of memory in all its processes; the limit is {allowed / 2**20:.1f} MiB"
                return Overrun(Fault.OUT_OF_MEMORY, f"it used {sizes} (option memory)")
            case "cpu":
                seconds = f"{used:.1f} seconds of processor time in all its processes; the limit is {allowed}"
                return Overrun(Fault.OUT_OF_CPU, f"it used {seconds} (option cpu)")
            case "processes":
                return Overrun(
                    Fault.OUT_OF_PROCESSES,
                    f"it had {used} or more processes at once; the limit is {allowed} (option processes)",
                )
            case "files":
                return Overrun(
                    Fault.OUT_OF_MEMORY,
                    f"it had {used} files in one folder of its sandbox; the limit is {allowed} (option scratch)",
                )
            case "descriptors":
                return Overrun(
                    Fault.OUT_OF_MEMORY,
                    f"it had {used} open files, pipes and sockets in its sandbox; the limit is {allowed}",
                )
            case "watches":
                return Overrun(
                    Fault.OUT_OF_MEMORY, f"it had {used} watches of epoll in its sandbox; the limit is {allowed}"
                )
            case "hidden processes":
                words = "a process of it hid what it has open, as programs do that nobody may read"
                return Overrun(Fault.OUT_OF_MEMORY, f"{words}; in a sandbox that is not allowed")
            case "threads":
                return Overrun(Fault.OUT_OF_PROCESSES, f"it had {used} threads at once; the limit is {allowed}")
        raise AssertionError(f"unknown limit of a keeper: {limit!r}")


class KillCause(Struct, frozen=True):
    """What ended a bot, if it was neither the bot itself nor its keeper."""

    words: str
    is_shortage: bool  # the kernel killed it, which a bot in a sandbox cannot bring about alone


_BY_KERNEL: Final = KillCause("the kernel killed it, because the machine was short of memory", is_shortage=True)
_WITHOUT_KEEPER: Final = KillCause("its keeper, a process of the arena, was killed", is_shortage=False)


class AwaitableEvent(Protocol):
    """Something that happens once, for which the tasks of a driver can wait."""

    def set(self) -> None: ...

    def is_set(self) -> bool: ...


E = TypeVar("E", bound=AwaitableEvent)


@attrs.define(eq=False)
class KeptProcess(Generic[E]):
    """A bot's process, as its keeper reports it."""

    control: socket.socket
    ended: E  # the bot's first process
    gone: E  # all of the bot's processes, and the keeper
    pid: int = 0
    keeper: int = 0
    exit_status: int | None = None  # negative for a signal
    overrun: Overrun | None = None
    refused: int | None = None
    killed: KillCause | None = None
    never_ran: bool = False  # its sandbox ended before the bot's program ran
    failure: str | None = None  # traceback of the keeper: a bug of ours, or a machine that ran out of a resource
    _unread: bytes = b""

    def look(self) -> None:
        """Process the keeper's reports that have arrived, without waiting. Raises OSError if the keeper could not be
        forked."""
        while not self.gone.is_set():
            try:
                data = self.control.recv(_CHUNK)
            except BlockingIOError:
                return
            except ConnectionResetError:
                data = b""
            if not data:
                self._closed()
                return
            *lines, self._unread = (self._unread + data).split(b"\n")
            try:
                for line in lines:
                    self.hear(json.loads(line))
            except BaseException:
                self._closed()  # wake the tasks that wait for further reports
                raise

    def hear(self, news: dict[str, Any]) -> None:
        """Process one report. Raises OSError if the keeper could not be forked."""
        match news:
            case {"started": int(pid), "keeper": int(keeper)}:
                self.pid, self.keeper = pid, keeper
            case {"refused": int(number)}:
                self.refused = number
            case {"failed": int(number)}:
                raise OSError(number, os.strerror(number))
            case {"over": [str(limit), int() | float() as used, int(allowed)]}:
                self.overrun = Overrun.of(limit, used, allowed)
            case {"ended": int(status), **more}:
                self.exit_status = status
                self.never_ran = more.get("ran") is False
                if more.get("oom"):
                    self.killed = _BY_KERNEL
                self.ended.set()
            case {"gone": True}:
                pass  # the end of the stream follows
            case {"bug": str(bug)}:
                self.failure = bug
            case _:
                raise AssertionError(f"unknown report of a keeper: {news!r}")

    def _closed(self) -> None:
        """The keeper is gone. If it did not report the bot's exit first, it was killed, and the launcher kills the
        bot."""
        if self.exit_status is None:
            self.exit_status = -signal.SIGKILL
            if self.overrun is None:
                self.killed = _WITHOUT_KEEPER
        self.ended.set()
        self.gone.set()

    def send_some(self, request: memoryview) -> memoryview:
        """Send a part of the request without waiting, and return the rest."""
        try:
            return request[self.control.send(request) :]
        except BlockingIOError:
            return request
        except (BrokenPipeError, ConnectionResetError):
            return request[:0]  # the unread reports say why

    def has_started(self) -> bool:
        """Look whether the bot runs. Raises StartRefusedError, KeeperError, and OSError if the arena's machine is short
        of a resource."""
        self.look()
        if self.refused in _OUR_SHORTAGE:
            raise OSError(self.refused, os.strerror(self.refused))
        if self.refused is not None:
            raise StartRefusedError(self.refused)
        if self.failure is not None:
            raise KeeperError(self.failure)
        if self.gone.is_set() and not self.pid:
            raise OSError(errno.ECHILD, "the keeper of a bot was killed before it started the bot")
        return bool(self.pid)

    def tell(self, word: bytes) -> None:
        """Send TERMINATE or KILL, which the keeper applies to all of the bot's processes."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # gone already
            self.control.send(word)

    def kill_keeper(self) -> None:
        """Kill a keeper that does not react to KILL, because it was stopped; the launcher then kills the bot. The pid
        cannot have been reused while the keeper's end of the socket is open."""
        with contextlib.suppress(ProcessLookupError):  # it has just exited
            os.kill(self.keeper, signal.SIGKILL)

    def close(self) -> None:
        self.control.close()


def start_request(spec: BotSpec) -> bytes:
    """What a keeper has to start, and the limits that it sets before. Raises ValueError for a null byte."""
    environment = {os.fsencode(name): os.fsencode(value) for name, value in spec.environment().items()}
    command = [os.fsencode(word) for word in spec.command]
    cwd = os.fsencode(spec.cwd) if spec.cwd else None
    if any(b"\0" in part for part in (*command, *environment, *environment.values(), cwd or b"")):
        raise ValueError("embedded null byte")
    limits = spec.memory, spec.cpu_seconds, spec.processes
    if not spec.is_sandboxed:
        return StartRequest(command, cwd, environment, *limits, [], 0, 0).encoded()
    box = sandboxed(spec)
    command = [os.fsencode(word) for word in box.command]
    return StartRequest(command, b"/", {}, *limits, list(box.data), OWN_PROCESSES, spec.sandbox.scratch).encoded()
