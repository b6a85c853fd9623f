"""A bot as a process, which lives exactly as long as a `with` block, and so do all processes that it makes.

A keeper stands above the bot's processes (see keeper.py), so that none of them can get away. Whatever ends the block
(also a cancellation), the bot gets the end of its input and a moment to leave; then all that is left of it gets
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
from arena.bots.launch import KeeperFailed, Kept, Overrun, Refused, launch
from arena.bots.process_tree import below, memory_of
from arena.bots.streams import PipeStream
from arena.plan.bot_spec import OWN_BOTS, BotSpec
from arena.support.suggestion import did_you_mean

_LAST_WORDS_SECONDS: Final = 0.5
_LEAVE_SECONDS: Final = 0.5  # after the end of its input, and again after SIGTERM
_STDERR_CHUNK: Final = 64 * 1024  # read at once: all that a pipe holds
_STDERR_READS_AT_END: Final = 4  # enough for what a pipe holds; a child that lives on may write for ever
_STDERR_TAIL: Final = 8 * 1024  # bytes kept of what the bot wrote last


def exit_words(status: int) -> str:
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


class SpawnError(Exception):
    """The command could not be started at all."""


@attrs.define
class BotProcess:
    stream: PipeStream
    kept: Kept
    _stderr: deque[bytes] = attrs.field(factory=deque)
    _stderr_ended: trio.Event = attrs.field(factory=trio.Event)

    @property
    def pid(self) -> int:
        """Of the bot's first process."""
        return self.kept.pid

    @property
    def exit_status(self) -> int | None:
        """Of its first process; negative for a signal, None while it runs. Raises KeeperFailed, which is nothing that a
        bot is charged for."""
        self._look()
        return self.kept.exit_status

    @property
    def overrun(self) -> Overrun | None:
        """The limit for which it was ended, if it was. Raises KeeperFailed."""
        self._look()
        return self.kept.overrun

    def _look(self) -> None:
        self.kept.look()
        if self.kept.failure is not None:
            raise KeeperFailed(self.kept.failure)

    @property
    def ended_words(self) -> str | None:
        """How it ended; None while it runs."""
        status = self.exit_status
        if self.kept.overrun:
            return self.kept.overrun.words
        return None if status is None else f"it ended ({exit_words(status)})"

    def memory(self) -> int:
        """Bytes of real memory in all its processes."""
        return memory_of(below(self.kept.keeper))

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
        """Returns once its first process has ended."""
        await self.kept.ended.wait()

    async def listen(self) -> None:
        """The one task that hears what the keeper tells. Not cancelled: whoever ends the process wants to know, too."""
        with trio.CancelScope(shield=True):
            await self.kept.listen()


@contextlib.asynccontextmanager
async def spawn(spec: BotSpec, keep_stderr: Callable[[bytes], None] | None = None) -> AsyncIterator[BotProcess]:
    """Raises SpawnError if there is no such program. `keep_stderr` gets all that the bot writes there, and nothing
    (b"") at the end."""
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
    """The process, and the descriptor to read its stderr from."""
    (their_in, writer), (reader, their_out), (errors, their_err) = _three_pipes()
    ours, theirs = (writer, reader, errors), (their_in, their_out, their_err)
    try:
        kept = await launch(spec, theirs)
    except (Refused, ValueError) as error:
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


def _why_not_started(spec: BotSpec, error: Refused | ValueError) -> str:
    program = spec.command[0]
    where = f" in {spec.cwd}" if spec.cwd else ""
    here = Path(spec.cwd or ".") / program
    hint = (
        f" (there is such a file: say ./{program}, or its interpreter first)"
        if "/" not in program and here.is_file()
        else did_you_mean(program, OWN_BOTS)
    )
    return f"cannot start {program!r}{where}: {error}{hint}"


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
        if keep:
            keep(b"")
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
    process.kept.tell(TERMINATE)  # also when the first process has left already: its children may not have
    with trio.move_on_after(_LEAVE_SECONDS):
        await process.wait_exit()
    process.kept.tell(KILL)
    await process.kept.wait_gone()
