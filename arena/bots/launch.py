"""The arena's side of the keepers: how a bot's process is started, and what is heard of it later (see keeper.py).

The launcher (launcher.py), from which keepers are forked, is started with the first bot and ends with the run of trio.
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

from arena.bots.keeper import Request
from arena.journal.endings import Fault
from arena.plan.bot_spec import BotSpec

_CODE: Final = "import sys; sys.path.insert(0, sys.argv[1]); from arena.bots.launcher import main; main()"
_START_SECONDS: Final = 30  # for the launcher and the keeper, not for the bot: it is started when its program runs
_END_SECONDS: Final = 5
_CHUNK: Final = 4096
_OUR_SHORTAGE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


class Refused(Exception):
    """The system does not start the program."""

    def __init__(self, number: int):
        super().__init__(os.strerror(number))


class KeeperFailed(Exception):
    """Our own bug, in the process above the bot."""


@attrs.frozen
class Overrun:
    """A limit that a bot exceeded, for which it was ended."""

    ending: Fault
    words: str

    @staticmethod
    def of(limit: str, used: float, allowed: int) -> "Overrun":
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
            case "threads":
                return Overrun(Fault.OUT_OF_PROCESSES, f"it had {used} threads at once; the limit is {allowed}")
        raise AssertionError(f"a keeper knows no limit {limit!r}")


@attrs.define(eq=False)
class Kept:
    """A bot's process, as its keeper tells of it."""

    _control: socket.socket
    pid: int = 0
    keeper: int = 0
    exit_status: int | None = None  # negative for a signal
    overrun: Overrun | None = None
    refused: int | None = None
    failure: str | None = None  # of the keeper: our own bug, or a machine that is out of something
    ended: trio.Event = attrs.field(factory=trio.Event)  # the bot's first process
    gone: trio.Event = attrs.field(factory=trio.Event)  # all of them, and the keeper
    _unread: bytes = b""

    def look(self) -> None:
        """Takes in what the keeper has told meanwhile."""
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
                    self._hear(json.loads(line))
            except BaseException:
                self._closed()  # nobody waits for more
                raise

    def _hear(self, news: dict[str, Any]) -> None:
        match news:
            case {"started": int(pid), "keeper": int(keeper)}:
                self.pid, self.keeper = pid, keeper
            case {"refused": int(number)}:
                self.refused = number
            case {"failed": int(number)}:
                raise OSError(number, os.strerror(number))
            case {"over": [str(limit), int() | float() as used, int(allowed)]}:
                self.overrun = Overrun.of(limit, used, allowed)
            case {"ended": int(status)}:
                self.exit_status = status
                self.ended.set()
            case {"gone": True}:
                pass  # the end of the stream follows
            case {"bug": str(bug)}:
                self.failure = bug
            case _:
                raise AssertionError(f"a keeper does not tell {news!r}")

    def _closed(self) -> None:
        """A keeper that left without a word was killed by somebody, and the launcher kills the bot."""
        if self.exit_status is None:
            self.exit_status = -signal.SIGKILL
        self.ended.set()
        self.gone.set()

    async def listen(self) -> None:
        """Until the keeper is gone."""
        while not self.gone.is_set():
            await trio.lowlevel.wait_readable(self._control)
            self.look()

    async def started(self, request: bytes) -> None:
        """Hands over the request, and waits for the answer. Raises Refused, and OSError for a shortage of our own."""
        left = memoryview(request)
        while left:
            try:
                left = left[self._control.send(left) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._control)
            except (BrokenPipeError, ConnectionResetError):
                break  # why is told in what is left to read
        while not self.pid:
            await trio.lowlevel.wait_readable(self._control)
            self.look()
            if self.refused in _OUR_SHORTAGE:
                raise OSError(self.refused, os.strerror(self.refused))
            if self.refused is not None:
                raise Refused(self.refused)
            if self.failure is not None:
                raise KeeperFailed(self.failure)
            if self.gone.is_set():
                raise OSError(errno.ECHILD, "the keeper of a bot was killed before it started the bot")

    def tell(self, word: bytes) -> None:
        """TERMINATE or KILL, for all processes."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # gone already
            self._control.send(word)

    async def wait_gone(self) -> None:
        """After KILL. A keeper that does not answer, because somebody stopped it, is killed; then the launcher ends the
        bot. Its number is still its own while its end of the socket is open."""
        with trio.move_on_after(_END_SECONDS):
            await self.gone.wait()
            return
        with contextlib.suppress(ProcessLookupError):  # it has just left
            os.kill(self.keeper, signal.SIGKILL)
        await self.gone.wait()

    def close(self) -> None:
        self._control.close()


class Launcher:
    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        root = str(Path(__file__).parents[2])
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _CODE, root],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env={},  # it needs nothing of ours, and a bot can read what it has
                    start_new_session=True,
                )
            except OSError:
                self._socket.close()
                raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def fork(self, streams: tuple[int, int, int]) -> Kept:
        """A new keeper, that waits for its request. Raises OSError; BrokenPipeError if somebody killed the launcher."""
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
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:  # somebody stopped it
            self._process.kill()
            self._process.wait()


_launcher: Final = trio.lowlevel.RunVar[Launcher | None]("launcher", None)


def running_launcher() -> Launcher:
    """The one of this run of trio; it is started if there is none."""
    launcher = _launcher.get()
    if launcher is None:
        launcher = Launcher()
        _launcher.set(launcher)
        trio.lowlevel.spawn_system_task(_close_at_the_end, launcher)
    return launcher


async def _close_at_the_end(launcher: Launcher) -> None:
    """System tasks are cancelled when the run is over."""
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
    return Request(command, cwd, environment, spec.memory, spec.cpu_seconds, spec.processes).encoded()


async def launch(spec: BotSpec, streams: tuple[int, int, int]) -> Kept:
    """Starts a bot with these descriptors as stdin, stdout and stderr; its limits hold before its program runs. Raises
    Refused, ValueError for a command that is none, and OSError for what is not the bot's fault."""
    request = _request(spec)
    try:
        kept = running_launcher().fork(streams)
    except (BrokenPipeError, ConnectionResetError):  # somebody killed the launcher; another one does it
        _launcher.set(None)
        kept = running_launcher().fork(streams)
    try:
        with trio.CancelScope(shield=True), trio.fail_after(_START_SECONDS):
            await kept.started(request)
    except trio.TooSlowError:
        kept.close()
        raise OSError(errno.ETIMEDOUT, f"the keeper of a bot did not start it within {_START_SECONDS} s") from None
    except BaseException:
        kept.close()
        raise
    return kept
