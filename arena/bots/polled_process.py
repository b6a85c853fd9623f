"""A bot as a process on the poll loop, together with all processes that it starts. All end with one `with` block."""

import os
from collections.abc import Callable
from types import TracebackType
from typing import Self

from arena.bots.polled_link import PolledLink
from arena.journal.identity import Fingerprint
from arena.plan.bot_spec import BotSpec
from arena.processes import launch
from arena.processes.fingerprint import fingerprint_of
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
from arena.support.poll_loop import READABLE, WRITABLE, PollLoop, Signal, Steps, Wait, waiting_for
from arena.support.timekeeping import TimeIsUpError


class PolledProcess:
    """A running bot. The loop watches its stderr and what its keeper reports, whatever else its player does."""

    def __init__(self, loop: PollLoop, link: PolledLink, state: ProcessState[Signal], running: set["PolledProcess"]):
        self._loop = loop
        self.link = link
        self.state = state
        self._running = running
        running.add(self)
        loop.watch(state.kept.control.fileno(), self._look)
        loop.watch(state.errors, self._read_stderr)

    def _look(self) -> None:
        kept = self.state.kept
        kept.look()
        if kept.gone.is_set():
            self._loop.forget([kept.control.fileno()])

    def _read_stderr(self) -> None:
        if self.state.read_stderr() == b"":
            self.state.finish_stderr()
            self._loop.forget([self.state.errors])

    def last_words(self) -> Steps[str]:
        until = self._loop.now() + LAST_WORDS_SECONDS
        yield from waiting_for(self.state.kept.ended, until)
        yield from waiting_for(self.state.stderr_ended, until)
        return self.state.stderr_tail.strip()

    def end(self) -> Steps[None]:
        kept, now = self.state.kept, self._loop.now
        self.state.go_on()
        self.link.close()
        yield from waiting_for(kept.ended, now() + LEAVE_SECONDS)
        kept.tell(TERMINATE)  # even if the first process has exited: its children may still run
        yield from waiting_for(kept.ended, now() + LEAVE_SECONDS)
        kept.tell(KILL)
        if not (yield from waiting_for(kept.gone, now() + launch.END_SECONDS)):
            kept.kill_keeper()
            yield from waiting_for(kept.gone)
        self.close()

    def close(self) -> None:
        """Close all descriptors. If the process is still alive, its keeper then kills it."""
        self._running.remove(self)
        self.state.finish_stderr()
        self.link.close()
        self._loop.forget([self.state.kept.control.fileno(), self.state.errors])
        self.state.kept.close()
        os.close(self.state.errors)


class PolledProcesses:
    """The processes of bots on a loop of their own. At the end of the `with` block all tasks of the loop are dropped,
    also after an exception such as KeyboardInterrupt, and then all processes are ended at the same time. The launcher,
    which may have been started early, is closed then."""

    def __init__(self, launcher: Launcher | None = None) -> None:
        self.loop = PollLoop()
        self.recorded: Callable[[BotSpec, Fingerprint], Fingerprint] = lambda _, found: found  # as the owner knows it
        self._launcher = launcher
        self._running: set[PolledProcess] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, traceback: TracebackType | None) -> None:
        try:
            self.loop.drop_tasks()
            self.loop.run(self.loop.all_of(*(process.end() for process in self._running)))
        finally:
            for process in tuple(self._running):
                process.close()
            self._close_launcher()
            self.loop.close()

    def now(self) -> float:
        return self.loop.now()

    def fingerprint(self, spec: BotSpec) -> Fingerprint:
        return self.recorded(spec, fingerprint_of(spec))

    def start(self, spec: BotSpec, keep_stderr: KeepStderr, until: float) -> Steps[PolledProcess]:  # noqa: ARG002
        """Start a bot. `until` is not enforced here, but by whoever waits for the bot's hello, because the bot can do
        nothing about the time that this takes."""
        with pipes_to(spec) as (ours, theirs):
            kept = yield from self._launch(spec, theirs)
        writer, reader, errors = ours
        state = ProcessState(spec, kept, errors, keep_stderr, self.loop.signal())
        return PolledProcess(self.loop, PolledLink(self.loop, reader, writer), state, self._running)

    def _launch(self, spec: BotSpec, streams: tuple[int, int, int]) -> Steps[KeptProcess[Signal]]:
        """Start a bot with these descriptors as stdin, stdout and stderr; its limits are set before its program runs.
        Raises an error of START_ERRORS, and OSError for what is not the bot's fault."""
        request = start_request(spec)
        try:
            control = self._running_launcher().fork(streams)
        except (BrokenPipeError, ConnectionResetError):  # the launcher was killed; start another one
            self._close_launcher()
            control = self._running_launcher().fork(streams)
        kept = KeptProcess(control, self.loop.signal(), self.loop.signal())
        try:
            yield from self._started(kept, request)
        except BaseException:
            self.loop.forget([control.fileno()])
            kept.close()
            raise
        return kept

    def _started(self, kept: KeptProcess[Signal], request: bytes) -> Steps[None]:
        """Send the request and wait until the bot runs. Raises what `KeptProcess.has_started` raises, and OSError."""
        until = self.now() + launch.START_SECONDS
        left = memoryview(request)
        try:
            while left := kept.send_some(left):
                yield Wait(kept.control.fileno(), WRITABLE, until)
            while not kept.has_started():
                yield Wait(kept.control.fileno(), READABLE, until)
        except TimeIsUpError:
            raise launch.too_slow() from None

    def _running_launcher(self) -> Launcher:
        """The launcher of this loop, started on first use."""
        if self._launcher is None:
            self._launcher = Launcher()
        return self._launcher

    def _close_launcher(self) -> None:
        if self._launcher is not None:
            self._launcher.close()
            self._launcher = None
