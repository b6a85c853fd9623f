"""The arena's side of the keepers (keeper.py): start a bot's process and receive what its keeper reports.

The launcher (launcher.py), which forks the keepers, starts with the first bot and ends with the run of trio.
"""

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import attrs
import trio

from arena.bots.sandbox import OWN_PROCESSES, sandboxed
from arena.bots.spawning import StartRequest
from arena.journal.endings import Fault
from arena.plan.bot_spec import BotSpec

_CODE: Final = "import sys; sys.path.insert(0, sys.argv[1]); from arena.bots.launcher import main; main()"
_START_SECONDS: Final = 30  # for the launcher and the keeper, not for the bot: this ends when the bot's program runs
END_SECONDS: Final = 5
_CHUNK: Final = 4096
_OUR_SHORTAGE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


class StartRefused(Exception):
    """The system refused to start the bot's program."""

    def __init__(self, number: int):
        super().__init__(os.strerror(number))


class KeeperFailed(Exception):
    """The keeper failed: a bug of ours, not the bot's fault."""


@attrs.frozen
class Overrun:
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
            case "threads":
                return Overrun(Fault.OUT_OF_PROCESSES, f"it had {used} threads at once; the limit is {allowed}")
        raise AssertionError(f"unknown limit of a keeper: {limit!r}")


@attrs.define(eq=False)
class Kept:
    """A bot's process, as its keeper reports it."""

    _control: socket.socket
    pid: int = 0
    keeper: int = 0
    exit_status: int | None = None  # negative for a signal
    overrun: Overrun | None = None
    refused: int | None = None
    never_ran: bool = False  # its sandbox ended before the bot's program ran
    failure: str | None = None  # traceback of the keeper: a bug of ours, or a machine that ran out of a resource
    ended: trio.Event = attrs.field(factory=trio.Event)  # the bot's first process
    gone: trio.Event = attrs.field(factory=trio.Event)  # all of the bot's processes, and the keeper
    _unread: bytes = b""

    def look(self) -> None:
        """Process the keeper's reports that have arrived, without waiting. Raises OSError if the keeper could not be
        forked."""
        while not self.gone.is_set():
            try:
                data = self._control.recv(_CHUNK)
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
        self.ended.set()
        self.gone.set()

    async def listen(self) -> None:
        """Process the keeper's reports until the keeper is gone."""
        while not self.gone.is_set():
            await trio.lowlevel.wait_readable(self._control)
            self.look()

    async def started(self, request: bytes) -> None:
        """Send the request and wait until the bot runs. Raises StartRefused, KeeperFailed, and OSError if the arena's
        machine is short of a resource."""
        left = memoryview(request)
        while left:
            try:
                left = left[self._control.send(left) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._control)
            except (BrokenPipeError, ConnectionResetError):
                break  # the unread reports say why
        while not self.pid:
            await trio.lowlevel.wait_readable(self._control)
            self.look()
            if self.refused in _OUR_SHORTAGE:
                raise OSError(self.refused, os.strerror(self.refused))
            if self.refused is not None:
                raise StartRefused(self.refused)
            if self.failure is not None:
                raise KeeperFailed(self.failure)
            if self.gone.is_set():
                raise OSError(errno.ECHILD, "the keeper of a bot was killed before it started the bot")

    def tell(self, word: bytes) -> None:
        """Send TERMINATE or KILL, which the keeper applies to all of the bot's processes."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # gone already
            self._control.send(word)

    async def wait_gone(self) -> None:
        """After KILL, wait until keeper and bot are gone. A keeper that does not react, because it was stopped, is
        killed; the launcher then kills the bot. The keeper's pid cannot have been reused while its end of the socket is
        open."""
        with trio.move_on_after(END_SECONDS):
            await self.gone.wait()
            return
        with contextlib.suppress(ProcessLookupError):  # it has just exited
            os.kill(self.keeper, signal.SIGKILL)
        await self.gone.wait()

    def close(self) -> None:
        self._control.close()


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

    def fork(self, streams: tuple[int, int, int]) -> Kept:
        """Fork a keeper, which then waits for its request. Raises OSError; BrokenPipeError if the launcher was
        killed."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._socket, [b"keeper"], [theirs.fileno(), *streams])
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        return Kept(ours)

    def close(self) -> None:
        self._socket.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:  # it was stopped, for example by SIGSTOP
            self._process.kill()
            self._process.wait()


_launcher: Final = trio.lowlevel.RunVar[Launcher | None]("launcher", None)


def running_launcher() -> Launcher:
    """The launcher of this run of trio, started on first use."""
    launcher = _launcher.get()
    if launcher is None:
        launcher = Launcher()
        _launcher.set(launcher)
        trio.lowlevel.spawn_system_task(_close_at_the_end, launcher)
    return launcher


async def _close_at_the_end(launcher: Launcher) -> None:
    """Close the launcher when trio cancels its system tasks, which it does at the end of the run."""
    try:
        await trio.sleep_forever()
    finally:
        launcher.close()


def _request(spec: BotSpec) -> bytes:
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


async def launch(spec: BotSpec, streams: tuple[int, int, int]) -> Kept:
    """Start a bot with these descriptors as stdin, stdout and stderr; its limits are set before its program runs.
    Raises StartRefused, SandboxError, ValueError for a command with a null byte, and OSError for what is not the bot's
    fault."""
    request = _request(spec)
    try:
        kept = running_launcher().fork(streams)
    except (BrokenPipeError, ConnectionResetError):  # the launcher was killed; start another one
        _launcher.set(None)
        kept = running_launcher().fork(streams)
    try:
        with trio.CancelScope(shield=True), trio.fail_after(_START_SECONDS):
            await kept.started(request)
    except trio.TooSlowError:
        kept.close()
        raise OSError(errno.ETIMEDOUT, f"the keeper of a bot did not start it within {_START_SECONDS} s") from None
    except BaseException as error:
        kept.close()
        if spec.is_sandboxed and isinstance(error, StartRefused):  # not the bot, but what makes its sandbox
            raise OSError(errno.ECHILD, f"bubblewrap could not be started: {error}") from None
        raise
    return kept
