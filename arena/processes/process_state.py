"""What both drivers know of a bot's process and do alike: its pipes, its state, its stderr, and the words for its end.

A keeper is the parent of the bot's processes (see keeper.py), so that none of them can escape.
"""

import contextlib
import errno
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic

from arena.plan.bot_spec import BUNDLED_BOTS, BotSpec
from arena.processes.launch import E, KeeperError, KeptProcess, KillCause, Overrun, StartRefusedError
from arena.processes.process_tree import descendants, may_run, private_memory_of, quick_children
from arena.sandbox.sandbox_view import SandboxError
from arena.support.suggestion import did_you_mean

LAST_WORDS_SECONDS: Final = 0.5
LEAVE_SECONDS: Final = 0.5  # to exit after the end of its input, and again after SIGTERM
_STDERR_CHUNK: Final = 64 * 1024  # bytes per read: the capacity of a pipe
_STDERR_READS_AT_END: Final = 4  # enough to empty a pipe; bounded, because a child that is still alive may keep writing
_STDERR_TAIL: Final = 8 * 1024  # bytes kept of the bot's latest output

KeepStderr = Callable[[bytes], None]  # called with all that the bot writes to stderr, and with b"" at the end


def exit_words(status: int) -> str:
    return f"killed by signal {-status}" if status < 0 else f"exit status {status}"


class SpawnError(Exception):
    """The bot's command could not be started."""


class ProcessState(Generic[E]):
    """A bot's process: how it is, and the tail of its stderr."""

    def __init__(
        self, spec: BotSpec, kept: KeptProcess[E], errors: int, keep_stderr: KeepStderr | None, stderr_ended: E
    ) -> None:
        self.kept = kept
        self._is_sandboxed = spec.is_sandboxed
        self.is_stopped = False
        self._group = 0  # of its processes, once it was stopped
        self.errors = errors  # the descriptor to read its stderr from
        self._keep_stderr = keep_stderr
        self.stderr_ended = stderr_ended
        self._stderr: deque[bytes] = deque()
        os.set_blocking(errors, False)

    @property
    def pid(self) -> int:
        """The process id of the bot's first process."""
        return self.kept.pid

    @property
    def exit_status(self) -> int | None:
        """The exit status of the bot's first process: negative for a signal, None while it runs. Raises KeeperError,
        which is never the bot's fault."""
        self._look()
        return self.kept.exit_status

    @property
    def overrun(self) -> Overrun | None:
        """The exceeded limit for which the keeper killed the bot, if it did. Raises KeeperError."""
        self._look()
        return self.kept.overrun

    @property
    def killed(self) -> KillCause | None:
        """What ended the bot, if it was neither the bot itself nor its keeper. Raises KeeperError."""
        self._look()
        return self.kept.killed

    def _look(self) -> None:
        self.kept.look()
        if self.kept.failure is not None:
            raise KeeperError(self.kept.failure)

    @property
    def never_ran(self) -> bool:
        """Whether the bot's sandbox ended before its program ran. What is on stderr then comes from bubblewrap."""
        self._look()
        return self.kept.never_ran

    @property
    def ended_words(self) -> str | None:
        """How the bot ended, in words; None while it runs. Raises KeeperError."""
        status = self.exit_status
        if self.kept.overrun:
            return self.kept.overrun.words
        return None if status is None else f"it ended ({exit_words(status)})"

    def stop(self) -> None:
        """Stop the bot, which has said hello: all processes of its process group, at once, even while they fork. None
        leaves the group in a sandbox."""
        if not self._group:
            # In a sandbox, what the arena started is bubblewrap, whose child leads the group inside.
            leaders = quick_children()(self.pid) if self._is_sandboxed else [self.pid]
            self._group = next(iter(leaders), 0)
        self.is_stopped = self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Continue what `stop` has stopped."""
        if self.is_stopped:
            self.is_stopped = False
            self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> bool:
        """Send a signal to the bot's group; returns whether it reached a process. It is not sent once the bot has
        ended, because the number may then become that of another group."""
        if not self._group or self.kept.ended.is_set():
            return False
        try:
            os.killpg(self._group, number)
        except (ProcessLookupError, PermissionError):  # it has just ended, or is another user's now
            return False
        return True

    def is_busy(self) -> bool:
        """Whether a process of the bot may use the processor, or would if others left it."""
        return may_run(self.kept.keeper)

    def private_memory(self) -> int:
        """Bytes of physical memory and swap that all processes of the bot wrote and share with no other."""
        return private_memory_of(descendants(self.kept.keeper))

    @property
    def stderr_tail(self) -> str:
        return b"".join(self._stderr)[-_STDERR_TAIL:].decode(errors="replace")

    def read_stderr(self) -> bytes | None:
        """Read and keep what has arrived: b"" at the end of the stream, None if there is nothing to read yet."""
        try:
            data = os.read(self.errors, _STDERR_CHUNK)
        except BlockingIOError:
            return None
        if data:
            self._stderr.append(data)
            while sum(map(len, self._stderr)) - len(self._stderr[0]) >= _STDERR_TAIL:
                self._stderr.popleft()
            if self._keep_stderr:
                self._keep_stderr(data)
        return data

    def finish_stderr(self) -> None:
        """Read what the pipe still holds, because it may say why the bot exited; nothing is read after that."""
        if self.stderr_ended.is_set():
            return
        for _ in range(_STDERR_READS_AT_END):
            if not self.read_stderr():
                break
        if self._keep_stderr:
            self._keep_stderr(b"")
        self.stderr_ended.set()


Ends = tuple[int, int, int]


@contextlib.contextmanager
def pipes_to(spec: BotSpec) -> Iterator[tuple[Ends, Ends]]:
    """Pipes for the three streams of a bot that the block starts: our ends, which are writer, reader and errors, and
    the bot's ends, which are closed after the block. If the block fails, ours are closed too, and what it raises is as
    `not_started` words it."""
    ours, theirs = _three_pipes()
    try:
        yield ours, theirs
    except START_ERRORS as error:
        _close_all(ours)
        raise not_started(spec, error) from error
    except BaseException:
        _close_all(ours)
        raise
    finally:
        _close_all(theirs)


def _three_pipes() -> tuple[Ends, Ends]:
    pipes: list[tuple[int, int]] = []
    try:
        for _ in range(3):
            pipes.append(os.pipe())
    except OSError:
        _close_all(descriptor for pipe in pipes for descriptor in pipe)
        raise
    (their_in, writer), (reader, their_out), (errors, their_err) = pipes
    return (writer, reader, errors), (their_in, their_out, their_err)


def _close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


# What starting a bot raises if it fails; `not_started` says whose fault it is.
START_ERRORS: Final = (StartRefusedError, SandboxError, ValueError)


def not_started(spec: BotSpec, error: Exception) -> SpawnError | OSError:
    """The error to raise: OSError if what makes the bot's sandbox did not start, which is not the bot's fault."""
    if spec.is_sandboxed and isinstance(error, StartRefusedError):
        return OSError(errno.ECHILD, f"bubblewrap could not be started: {error}")
    program = spec.command[0]
    where = f" in {spec.cwd}" if spec.cwd else ""
    here = os.path.join(spec.cwd or ".", program)
    return SpawnError(f"cannot start {program!r}{where}: {error}{_hint(program, here)}")


def _hint(program: str, here: str) -> str:
    if os.path.isdir(here):
        return " (it is a folder: name the program in it)"
    if os.path.isfile(here) and "/" not in program:
        return f" (such a file exists: write ./{program}, or put its interpreter first)"
    if os.path.isfile(here):
        return f" (put its interpreter first, such as python3 {program}, or make it executable)"
    return did_you_mean(program, BUNDLED_BOTS)
