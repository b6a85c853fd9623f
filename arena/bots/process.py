"""A bot as a process that lives exactly as long as a `with` block, together with all processes that it starts.

A keeper is the parent of the bot's processes (see keeper.py), so that none of them can escape. When the block ends,
also by cancellation, the bot's input is closed and it gets a moment to exit; then everything that is left of it gets
SIGTERM, then SIGKILL, and is reaped.
"""

import contextlib
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Final

import attrs
import trio

from arena.bots.keeper import KILL, TERMINATE
from arena.bots.launch import KeeperFailed, Kept, Overrun, StartRefused, launch
from arena.bots.process_tree import descendants, memory_of
from arena.bots.sandbox_view import SandboxError
from arena.bots.streams import PipeStream
from arena.plan.bot_spec import BUNDLED_BOTS, BotSpec
from arena.support.suggestion import did_you_mean

_LAST_WORDS_SECONDS: Final = 0.5
_LEAVE_SECONDS: Final = 0.5  # to exit after the end of its input, and again after SIGTERM
_STDERR_CHUNK: Final = 64 * 1024  # bytes per read: the capacity of a pipe
_STDERR_READS_AT_END: Final = 4  # enough to empty a pipe; bounded, because a child that is still alive may keep writing
_STDERR_TAIL: Final = 8 * 1024  # bytes kept of the bot's latest output


def exit_words(status: int) -> str:
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


class SpawnError(Exception):
    """The bot's command could not be started."""


@attrs.define
class BotProcess:
    """A running bot: its stdin and stdout as a stream, the tail of its stderr, and its exit."""

    stream: PipeStream
    kept: Kept
    _stderr: deque[bytes] = attrs.field(factory=deque)
    _stderr_ended: trio.Event = attrs.field(factory=trio.Event)

    @property
    def pid(self) -> int:
        """The process id of the bot's first process."""
        return self.kept.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status of the bot's first process: negative for a signal, None while it runs. Raises KeeperFailed,
        which is never the bot's fault."""
        self._look()
        return self.kept.exit_status

    @property
    def overrun(self) -> Overrun | None:
        """The exceeded limit for which the keeper killed the bot, if it did. Raises KeeperFailed."""
        self._look()
        return self.kept.overrun

    def _look(self) -> None:
        self.kept.look()
        if self.kept.failure is not None:
            raise KeeperFailed(self.kept.failure)

    @property
    def never_ran(self) -> bool:
        """Whether the bot's sandbox ended before its program ran. What is on stderr then comes from bubblewrap."""
        self._look()
        return self.kept.never_ran

    @property
    def ended_words(self) -> str | None:
        """How the bot ended, in words; None while it runs. Raises KeeperFailed."""
        status = self.exit_status
        if self.kept.overrun:
            return self.kept.overrun.words
        return None if status is None else f"it ended ({exit_words(status)})"

    def memory(self) -> int:
        """Bytes of physical memory and swap that all processes of the bot use."""
        return memory_of(descendants(self.kept.keeper))

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
        """The tail of stderr once the bot has exited. Waits a moment, because the exit is noticed before the last
        output is read."""
        with trio.move_on_after(_LAST_WORDS_SECONDS):
            await self.wait_exit()
            await self._stderr_ended.wait()
        return self.stderr_tail.strip()

    async def wait_exit(self) -> None:
        """Wait until the bot's first process has exited."""
        await self.kept.ended.wait()

    async def listen(self) -> None:
        """Receive the keeper's reports, in one task per bot. Shielded from cancellation, because the code that ends the
        process waits for those reports."""
        with trio.CancelScope(shield=True):
            await self.kept.listen()


@contextlib.asynccontextmanager
async def spawn(spec: BotSpec, keep_stderr: Callable[[bytes], None] | None = None) -> AsyncIterator[BotProcess]:
    """Run a bot for the duration of the block. `keep_stderr` is called with all that the bot writes to stderr, and with
    b"" at the end. Raises SpawnError if the program cannot be started."""
    process, errors = await _start(spec)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_read_stderr, process, errors, keep_stderr)
            nursery.start_soon(process.listen)
            try:
                yield process
            finally:
                with trio.CancelScope(shield=True):
                    await _end(process)
                nursery.cancel_scope.cancel()
    finally:
        os.close(errors)
        process.kept.close()


async def _start(spec: BotSpec) -> tuple[BotProcess, int]:
    """Start the process; returns it and the descriptor to read its stderr from. Raises SpawnError."""
    (their_in, writer), (reader, their_out), (errors, their_err) = _three_pipes()
    ours, theirs = (writer, reader, errors), (their_in, their_out, their_err)
    try:
        kept = await launch(spec, theirs)
    except (StartRefused, SandboxError, ValueError) as error:
        _close_all(ours)
        raise SpawnError(_why_not_started(spec, error)) from error
    except BaseException:
        _close_all(ours)
        raise
    finally:
        _close_all(theirs)
    return BotProcess(PipeStream(reader, writer), kept), errors


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


def _why_not_started(spec: BotSpec, error: Exception) -> str:
    program = spec.command[0]
    where = f" in {spec.cwd}" if spec.cwd else ""
    here = Path(spec.cwd or ".") / program
    return f"cannot start {program!r}{where}: {error}{_hint(program, here)}"


def _hint(program: str, here: Path) -> str:
    if here.is_dir():
        return " (it is a folder: name the program in it)"
    if here.is_file() and "/" not in program:
        return f" (such a file exists: write ./{program}, or put its interpreter first)"
    if here.is_file():
        return f" (put its interpreter first, such as python3 {program}, or make it executable)"
    return did_you_mean(program, BUNDLED_BOTS)


async def _read_stderr(process: BotProcess, descriptor: int, keep: Callable[[bytes], None] | None) -> None:
    """Read stderr to its end or until cancelled. After a cancellation, read what the pipe still holds, because it may
    say why the bot exited."""
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
        if keep:
            keep(b"")
        process.note_stderr_ended()


def _read_some(process: BotProcess, descriptor: int, keep: Callable[[bytes], None] | None) -> bytes | None:
    """Read and keep what has arrived: b"" at the end of the stream, None if there is nothing to read yet."""
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
    process.kept.tell(TERMINATE)  # even if the first process has exited: its children may still run
    with trio.move_on_after(_LEAVE_SECONDS):
        await process.wait_exit()
    process.kept.tell(KILL)
    await process.kept.wait_gone()
