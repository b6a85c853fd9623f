"""A bot as a child process, which lives exactly as long as a `with` block.

The process leads a process group of its own, so that its children can be ended with it. Whatever ends the block (also a
cancellation), the group gets the end of its input and a moment to leave, then SIGTERM, then SIGKILL, and is reaped.
"""

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Final

import attrs
import trio

from arena.bots import BotSpec
from arena.link import PipeStream

_LAST_WORDS_SECONDS: Final = 0.5
_LEAVE_SECONDS: Final = 0.5  # after the end of its input, and again after SIGTERM
_OUR_SHORTAGE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)
_STDERR_CHUNK: Final = 64 * 1024  # read at once: all that a pipe holds
_STDERR_READS_AT_END: Final = 4  # enough for what a pipe holds; a child that lives on may write for ever
_STDERR_TAIL: Final = 8 * 1024  # bytes kept of what the bot wrote last


def pass_on_stderr(data: bytes) -> None:
    """What a bot writes there goes to our own."""
    sys.stderr.buffer.write(data)
    sys.stderr.flush()


def exit_words(status: int) -> str:
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


class SpawnError(Exception):
    """The command could not be started at all."""


@attrs.define
class BotProcess:
    stream: PipeStream
    popen: subprocess.Popen[bytes]
    exit_signal: int  # a descriptor that is readable once the process has ended
    _stderr: deque[bytes] = attrs.field(factory=deque)
    _stderr_ended: trio.Event = attrs.field(factory=trio.Event)
    _ended: trio.Event = attrs.field(factory=trio.Event)

    @property
    def pid(self) -> int:
        return self.popen.pid

    @property
    def exit_status(self) -> int | None:
        """Negative for a signal; None while it runs. The process is not reaped by asking."""
        if self.popen.returncode is not None:
            return self.popen.returncode
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    @property
    def stderr_tail(self) -> str:
        return b"".join(self._stderr)[-_STDERR_TAIL:].decode(errors="replace")

    def keep_stderr(self, data: bytes) -> None:
        self._stderr.append(data)
        while sum(map(len, self._stderr)) - len(self._stderr[0]) >= _STDERR_TAIL:
            self._stderr.popleft()

    def note_stderr_ended(self) -> None:
        self._stderr_ended.set()

    async def last_words(self) -> str:
        """What it wrote on stderr at the end of its life. Waits a moment: an exit is seen before the last words are."""
        with trio.move_on_after(_LAST_WORDS_SECONDS):
            await self.wait_exit()
            await self._stderr_ended.wait()
        return self.stderr_tail.strip()

    async def wait_exit(self) -> None:
        """Returns once the process has ended; it is not reaped yet, so that its group still has its number."""
        await self._ended.wait()

    async def note_exit(self) -> None:
        """The one task that waits for it. Not cancelled: whoever ends the process wants to know, too."""
        with trio.CancelScope(shield=True):
            await trio.lowlevel.wait_readable(self.exit_signal)
        self._ended.set()


@contextlib.asynccontextmanager
async def spawn(spec: BotSpec, keep_stderr: Callable[[bytes], None] | None = None) -> AsyncIterator[BotProcess]:
    """Raises SpawnError if there is no such program. `keep_stderr` gets all that the bot writes there."""
    process, errors = _start(spec)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_read_stderr, process, errors, keep_stderr)
            nursery.start_soon(process.note_exit)
            try:
                yield process
            finally:
                with trio.CancelScope(shield=True):
                    await _end(process)
                nursery.cancel_scope.cancel()
    finally:
        os.close(errors)
        os.close(process.exit_signal)


def _start(spec: BotSpec) -> tuple[BotProcess, int]:
    """The process, and the descriptor to read its stderr from."""
    (their_in, writer), (reader, their_out), (errors, their_err) = _three_pipes()
    ours, theirs = (writer, reader, errors), (their_in, their_out, their_err)
    try:
        popen = subprocess.Popen(
            spec.command,
            stdin=their_in,
            stdout=their_out,
            stderr=their_err,
            cwd=spec.cwd,
            env=spec.environment(),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in the command
        _close_all(ours)
        if isinstance(error, OSError) and error.errno in _OUR_SHORTAGE:
            raise  # of the arena, not the bot's fault
        raise SpawnError(_why_not_started(spec, error)) from error
    finally:
        _close_all(theirs)
    try:
        _limit(popen.pid, spec)
        return BotProcess(PipeStream(reader, writer), popen, os.pidfd_open(popen.pid)), errors
    except OSError as error:
        os.killpg(popen.pid, signal.SIGKILL)
        popen.wait()
        _close_all(ours)
        if error.errno in _OUR_SHORTAGE:
            raise
        raise SpawnError(f"cannot limit or watch {spec.command[0]!r}: {error.strerror}") from error


def _three_pipes() -> list[tuple[int, int]]:
    pipes: list[tuple[int, int]] = []
    try:
        for _ in range(3):
            pipes.append(os.pipe())
    except OSError:
        _close_all(descriptor for pipe in pipes for descriptor in pipe)
        raise
    return pipes


def _close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _why_not_started(spec: BotSpec, error: OSError | ValueError) -> str:
    program = spec.command[0]
    reason = error.strerror if isinstance(error, OSError) else str(error)
    where = f" in {spec.cwd}" if spec.cwd else ""
    here = Path(spec.cwd or ".") / program
    hint = (
        f" (there is such a file: say ./{program}, or its interpreter first)"
        if "/" not in program and here.is_file()
        else ""
    )
    return f"cannot start {program!r}{where}: {reason}{hint}"


def _limit(pid: int, spec: BotSpec) -> None:
    """Set from outside, after the start: code that runs between fork and exec makes a start several times slower."""
    with contextlib.suppress(ProcessLookupError):  # gone already: its link will tell
        if spec.memory is not None:
            resource.prlimit(pid, resource.RLIMIT_AS, (spec.memory, spec.memory))
        if spec.cpu_seconds is not None:
            resource.prlimit(pid, resource.RLIMIT_CPU, (spec.cpu_seconds, spec.cpu_seconds + 1))


async def _read_stderr(process: BotProcess, descriptor: int, keep: Callable[[bytes], None] | None) -> None:
    """To the end, or until cancelled; then what is there already is read as well, for it may say why the bot ended."""
    os.set_blocking(descriptor, False)
    try:
        while True:
            await trio.lowlevel.wait_readable(descriptor)
            if _read_some(process, descriptor, keep) == b"":
                return
    finally:
        for _ in range(_STDERR_READS_AT_END):
            if not _read_some(process, descriptor, keep):
                break
        process.note_stderr_ended()


def _read_some(process: BotProcess, descriptor: int, keep: Callable[[bytes], None] | None) -> bytes | None:
    """What was there: nothing at the end, None if nothing is there yet."""
    try:
        data = os.read(descriptor, _STDERR_CHUNK)
    except BlockingIOError:
        return None
    if data:
        process.keep_stderr(data)
        if keep:
            keep(data)
    return data


async def _end(process: BotProcess) -> None:
    await process.stream.aclose()
    with trio.move_on_after(_LEAVE_SECONDS):
        await process.wait_exit()
    for number in (signal.SIGTERM, signal.SIGKILL):
        # Also when the leader has left already: its children may not have. While the leader is not reaped nobody else
        # can have the number of its group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with trio.move_on_after(_LEAVE_SECONDS):
            await process.wait_exit()
    process.popen.wait()
