"""A bot as a process that lives exactly as long as a `with` block, together with all processes that it starts, in trio.

When the block ends, also by cancellation, the bot's input is closed and it gets a moment to exit; then everything that
is left of it gets SIGTERM, then SIGKILL, and is reaped. The launcher (launcher.py), which forks the keepers, starts
with the first bot and ends with the run of trio.
"""

import contextlib
import os
from collections.abc import AsyncIterator
from typing import Final

import trio

from arena.plan.bot_spec import BotSpec
from arena.processes import launch
from arena.processes.keeper import KILL, TERMINATE
from arena.processes.launch import KeptProcess, start_request
from arena.processes.launcher_process import Launcher
from arena.processes.process_state import (
    LAST_WORDS_SECONDS,
    LEAVE_SECONDS,
    KeepStderr,
    ProcessState,
    pipes_to,
)
from arena.support.streams import PipeStream


class BotProcess(ProcessState[trio.Event]):
    """A running bot: its stdin and stdout as a stream, the tail of its stderr, and its exit."""

    def __init__(
        self,
        spec: BotSpec,
        stream: PipeStream,
        kept: KeptProcess[trio.Event],
        errors: int,
        keep_stderr: KeepStderr | None,
    ):
        super().__init__(spec, kept, errors, keep_stderr, trio.Event())
        self.stream = stream

    async def last_words(self) -> str:
        """The tail of stderr once the bot has exited. Waits a moment, because the exit is noticed before the last
        output is read."""
        with trio.move_on_after(LAST_WORDS_SECONDS):
            await self.wait_exit()
            await self.stderr_ended.wait()
        return self.stderr_tail.strip()

    async def wait_exit(self) -> None:
        """Wait until the bot's first process has exited."""
        await self.kept.ended.wait()

    async def listen(self) -> None:
        """Receive the keeper's reports, in one task per bot. Shielded from cancellation, because the code that ends the
        process waits for those reports."""
        with trio.CancelScope(shield=True):
            while not self.kept.gone.is_set():
                await trio.lowlevel.wait_readable(self.kept.control)
                self.kept.look()

    async def listen_to_stderr(self) -> None:
        """Read stderr to its end or until cancelled."""
        try:
            while True:
                await trio.lowlevel.wait_readable(self.errors)
                if self.read_stderr() == b"":
                    return
        finally:
            self.finish_stderr()

    async def end(self) -> None:
        """End all of the bot's processes."""
        self.go_on()
        await self.stream.aclose()
        with trio.move_on_after(LEAVE_SECONDS):
            await self.wait_exit()
        self.kept.tell(TERMINATE)  # even if the first process has exited: its children may still run
        with trio.move_on_after(LEAVE_SECONDS):
            await self.wait_exit()
        self.kept.tell(KILL)
        with trio.move_on_after(launch.END_SECONDS):
            await self.kept.gone.wait()
            return
        self.kept.kill_keeper()
        await self.kept.gone.wait()

    def close(self) -> None:
        os.close(self.errors)
        self.kept.close()


@contextlib.asynccontextmanager
async def spawn(spec: BotSpec, keep_stderr: KeepStderr | None = None) -> AsyncIterator[BotProcess]:
    """Run a bot for the duration of the block. Raises SpawnError if the program cannot be started."""
    process = await _start(spec, keep_stderr)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.listen_to_stderr)
            nursery.start_soon(process.listen)
            try:
                yield process
            finally:
                with trio.CancelScope(shield=True):
                    await process.end()
                nursery.cancel_scope.cancel()
    finally:
        process.close()


async def _start(spec: BotSpec, keep_stderr: KeepStderr | None) -> BotProcess:
    """Start the process. Raises SpawnError, and OSError for what is not the bot's fault."""
    with pipes_to(spec) as (ours, theirs):
        kept = await _launch(spec, theirs)
    writer, reader, errors = ours
    return BotProcess(spec, PipeStream(reader, writer), kept, errors, keep_stderr)


async def _launch(spec: BotSpec, streams: tuple[int, int, int]) -> KeptProcess[trio.Event]:
    """Start a bot with these descriptors as stdin, stdout and stderr; its limits are set before its program runs.
    Raises an error of START_ERRORS, and OSError for what is not the bot's fault."""
    request = start_request(spec)
    try:
        kept = fork(streams)
    except (BrokenPipeError, ConnectionResetError):  # the launcher was killed; start another one
        _launcher.set(None)
        kept = fork(streams)
    try:
        with trio.CancelScope(shield=True), trio.fail_after(launch.START_SECONDS):
            await started(kept, request)
    except trio.TooSlowError:
        kept.close()
        raise launch.too_slow() from None
    except BaseException:
        kept.close()
        raise
    return kept


def fork(streams: tuple[int, int, int]) -> KeptProcess[trio.Event]:
    """Fork a keeper, which then waits for its request. Raises OSError."""
    return KeptProcess(running_launcher().fork(streams), trio.Event(), trio.Event())


async def started(kept: KeptProcess[trio.Event], request: bytes) -> None:
    """Send the request and wait until the bot runs. Raises what `KeptProcess.has_started` raises."""
    left = kept.send_some(memoryview(request))
    while left:
        await trio.lowlevel.wait_writable(kept.control)
        left = kept.send_some(left)
    while not kept.has_started():
        await trio.lowlevel.wait_readable(kept.control)


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
