"""What a match needs from a bot, whether the bot is a local process or connected to the server."""

import abc
import contextlib
import errno
import math
from collections.abc import Callable
from typing import Final

import trio

from arena.bots.launch import Overrun
from arena.bots.link import Link, LinkClosed
from arena.bots.process import BotProcess, SpawnError, exit_words, spawn
from arena.journal.endings import Fault
from arena.plan.bot_spec import AnySpec, BotSpec
from arena.support.version import SERVER
from protocol.errors import RemoteProtocolError
from protocol.messages import Bye, Error, Message, Welcome
from protocol.session import Session, State

_LAST_LINES: Final = 2  # of stderr in the reason of a fault: an exception, and what a program says after it
_LAST_WORDS: Final = 300  # characters of them
_SEND_SECONDS: Final = 5.0  # for a message that is not a request, to a bot that does not read


class StartFailure(Exception):
    """The bot failed to start; the text says why. `time_was_up` is its deadline, in trio's time, if it was too slow."""

    def __init__(self, reason: str, time_was_up: float | None = None):
        super().__init__(reason)
        self.time_was_up = time_was_up


class LeftBetweenRounds(Exception):
    """The bot exited on its own between two rounds. It loses the round that was about to begin."""

    def __init__(self, ending: Fault, reason: str):
        super().__init__(reason)
        self.ending = ending


class Gone(Exception):
    """The bot left in the middle of a round and will not come back."""

    def __init__(self, ending: Fault, reason: str):
        super().__init__(reason)
        self.ending = ending


class Player(abc.ABC):
    """A bot that takes part in matches. It is "at the table" while it is connected."""

    def __init__(self, spec: AnySpec) -> None:
        self.spec = spec
        self.link: Link | None = None  # None while the bot is away
        self.wants_legal = True

    @property
    def session(self) -> Session | None:
        return self.link.session if self.link else None

    @property
    def is_here(self) -> bool:
        """Whether the bot is at the table, so that there is no need to wait until it arrives."""
        return self.link is not None

    async def tell(self, message: Message) -> bool:
        """Send a message that needs no answer, and return whether the bot took it. A failure has no other consequence
        here, because the next request to the bot will fail as well."""
        assert self.link is not None
        with trio.move_on_after(_SEND_SECONDS), contextlib.suppress(LinkClosed):
            await self.link.say(message)
            return True
        return False

    @abc.abstractmethod
    async def arrive(self) -> None:
        """Get the bot to the table if it is not there. Raises StartFailure if it does not start, and LeftBetweenRounds
        if it exited since the previous round."""

    @abc.abstractmethod
    async def come_back(self, closed: str) -> None:
        """Wait until a bot whose link closed, as `closed` says, has another one. Raises Gone if it does not come."""

    @abc.abstractmethod
    async def leave(self) -> None:
        """Dismiss the bot; it starts again for its next round."""

    @property
    def exit_status(self) -> int | None:
        return None

    @property
    def overrun(self) -> Overrun | None:
        """The exceeded limit for which the arena killed the bot, if it did."""
        return None

    @property
    def stderr_tail(self) -> str | None:
        return None


class LocalPlayer(Player):
    """A bot that is a local process: started on demand, kept running between rounds, ended with its nursery."""

    spec: BotSpec

    def __init__(self, spec: BotSpec, nursery: trio.Nursery, keep_stderr: Callable[[bytes], None]):
        super().__init__(spec)
        self._nursery = nursery
        self._keep_stderr = keep_stderr
        self.process: BotProcess | None = None
        self._leave = trio.Event()
        self._gone = trio.Event()

    @property
    def is_here(self) -> bool:
        return self.link is not None and self.exit_status is None

    async def arrive(self) -> None:
        if self.process is not None and (status := self.process.exit_status) is not None:
            overrun, wrote = self.process.overrun, await self.process.last_words()
            await self.leave()
            if overrun:
                raise LeftBetweenRounds(overrun.ending, f"after the previous round {overrun.words}")
            ended = f"it exited on its own after the previous round ({exit_words(status)})"
            raise LeftBetweenRounds(Fault.CRASHED, with_last_words(ended, wrote))
        if self.process is None:
            await self._start()

    async def come_back(self, closed: str) -> None:
        process = self.process
        assert process is not None
        with trio.CancelScope(shield=True):  # the bot's deadline no longer applies
            wrote = await process.last_words()  # a closed pipe is seen a moment before the exit
        if overrun := process.overrun:
            raise Gone(overrun.ending, overrun.words)
        raise Gone(Fault.CRASHED, with_last_words(process.ended_words or f"{closed}, but it is still running", wrote))

    async def leave(self) -> None:
        """End the process and wait until it is gone."""
        if self.process is None:
            return
        if self.link and self.link.session.state is not State.CLOSED:
            await self.tell(Bye("this process is no longer needed"))
        self._leave.set()
        await self._gone.wait()
        self.process = self.link = None

    @property
    def exit_status(self) -> int | None:
        return self.process.exit_status if self.process else None

    @property
    def overrun(self) -> Overrun | None:
        return self.process.overrun if self.process else None

    @property
    def stderr_tail(self) -> str | None:
        return self.process.stderr_tail if self.process else None

    async def _start(self) -> None:
        self._leave, self._gone = trio.Event(), trio.Event()
        allowed = self.spec.limits.start_ms
        deadline = trio.current_time() + (math.inf if allowed is None else allowed / 1000)
        try:
            with trio.fail_at(deadline):
                self.process = await self._nursery.start(self._live)
                self.link = Link(self.process.stream)
                await self._greet(self.link)
        except SpawnError as error:
            raise StartFailure(str(error)) from None
        except trio.TooSlowError:
            silence = (self.link and self.link.unfinished_line()) or "it did not say hello"
            raise await self._failed(f"{silence} (the limit is {allowed} ms)", deadline) from None
        except RemoteProtocolError as error:
            await self.tell(Error(error.code, str(error), fatal=True))
            raise await self._failed(f"{error} ({error.code})") from None
        except LinkClosed as error:
            raise await self._failed(f"{error} before it said hello") from None

    async def _live(self, task_status: trio.TaskStatus[BotProcess]) -> None:
        """Own the process: one task per bot, so that bots start and end in any order."""
        try:
            async with spawn(self.spec, self._keep_stderr) as process:
                task_status.started(process)
                await self._leave.wait()
        finally:
            self._gone.set()

    async def _greet(self, link: Link) -> None:
        hello = await link.greet(SERVER)
        self.wants_legal = hello.legal
        await link.welcome(Welcome(self.spec.name))

    async def _failed(self, reason: str, time_was_up: float | None = None) -> StartFailure:
        """End the process, and return the error to raise, with the exit status and the last output on stderr."""
        if self.process:
            if self.process.overrun:
                reason = f"{self.process.overrun.words}, before it said hello"
            self._leave.set()
            await self._gone.wait()
            status = self.process.exit_status
            wrote = self.process.stderr_tail.strip()
            never_ran = self.process.never_ran
            self.process = self.link = None
            if never_ran:
                return _not_run_in_sandbox(wrote)
            reason += f"; exit status {status}" if status is not None and status >= 0 else ""
            reason = with_last_words(reason, wrote)
        return StartFailure(reason, time_was_up)


def _not_run_in_sandbox(wrote: str) -> StartFailure:
    """The failure of a bot whose program bubblewrap could not run. Raises OSError if bubblewrap failed before it came
    to the program, which is not the bot's fault: its sandbox could be made when the run began."""
    if "execvp" not in wrote:
        raise OSError(errno.ECHILD, f"bubblewrap could not make the sandbox of a bot: {wrote or 'it said nothing'}")
    return StartFailure(f"its program cannot be run in the sandbox; {wrote}")


def with_last_words(reason: str, wrote: str) -> str:
    """The reason, and the end of what the bot wrote on stderr. Indented lines are left out: they are stack frames."""
    lines = [line.rstrip() for line in wrote.splitlines() if line.strip() and not line[0].isspace()]
    words = " / ".join(lines[-_LAST_LINES:])[-_LAST_WORDS:]
    return f"{reason}; on stderr: {words}" if words else reason
