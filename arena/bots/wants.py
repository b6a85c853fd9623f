"""What the logic of a match wants next. Pure.

Theory of operation. Matches and players are logic without I/O, written as generators: `yield Both(...)` says what is
wanted and stops there. A driver does it and resumes the logic with the result, or throws what went wrong into it. Two
drivers run the same logic: trio's (trio_driver.py), for bots that connect and for everything that happens beside the
matches, and one on bare descriptors (polled_driver.py), for a process that only plays. All times are those of the
driver's clock, in seconds.

What is said to a bot goes through its link, whose methods are logic too: they want what the driver of this kind of link
can do. So neither a match nor a driver knows how a bot is reached.
"""

import abc
import math
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from msgspec import Struct

from arena.bots.conversation import Conversation
from arena.support.poll_loop import Wait
from protocol.messages import BotMessage

T = TypeVar("T")


def _nothing() -> None:
    pass


class Ask(Struct, eq=False, gc=False):
    """A question to a bot: the line of a request, to be answered within `seconds`. While no answer comes at once
    (turns.py), the driver calls `meanwhile` at each beat.

    The link notes two moments: `asked` just before it writes, because what the arena does before is not the bot's time,
    and `heard` when it has read the answer.
    """

    line: bytes
    seconds: float
    asked: float = math.nan
    heard: float = math.nan
    is_repeated: bool = False
    meanwhile: Callable[[], None] = _nothing

    def begin(self, now: float) -> float:
        """Note that the line is written now. Returns the deadline."""
        if not self.is_repeated:
            self.asked = now
        return self.asked + self.seconds

    def again(self, line: bytes) -> "Ask":
        """The same question on another connection; its time has been running since it was asked first."""
        return Ask(line, self.seconds, self.asked, is_repeated=True, meanwhile=self.meanwhile)

    @property
    def until(self) -> float:
        """The deadline, once the line was written."""
        return self.asked + self.seconds

    def seconds_at(self, moment: float) -> float:
        """How long the bot has had at this moment."""
        return moment - self.asked


class Both(Struct, frozen=True):
    """Run two logics at the same time until both are over. The result is the pair of their results."""

    one: "Logic[Any]"
    two: "Logic[Any]"


class Run(Struct, frozen=True):
    """Run a logic to its end; the result is its result. It is like `yield from`, but the driver resumes the logic
    directly, not through every generator that waits for it. That saves time if it wants something for each decision."""

    logic: "Logic[Any]"


class Await(Struct, frozen=True):
    """Await a function of trio's world, such as a place in the lobby; only the trio driver can."""

    function: Callable[[], Awaitable[Any]]
    until: float = math.inf


class Exchange(Struct, frozen=True):
    """Call `send_and_hear` with the line of the question, and await the answer until the question's deadline; only the
    trio driver can."""

    question: Ask
    send_and_hear: Callable[[bytes], Awaitable[BotMessage]]


# `Wait` is for a descriptor or a signal of the poll loop; only the polled driver can.
Want = Both | Run | Await | Exchange | Wait
Logic = Generator[Want, Any, T]


class BotLink(Conversation, abc.ABC):
    """A connection to one bot, as matches use it."""

    @abc.abstractmethod
    def ask(self, question: Ask) -> Logic[BotMessage]:
        """Ask, and return the answer. Raises LinkClosedError, RemoteProtocolError and TimeIsUpError."""

    @abc.abstractmethod
    def tell(self, line: bytes, until: float) -> Logic[None]:
        """Send a line that needs no answer. Raises LinkClosedError and TimeIsUpError."""

    @abc.abstractmethod
    def listen(self, until: float) -> Logic[BotMessage]:
        """Wait for the bot's next message. Raises LinkClosedError, RemoteProtocolError and TimeIsUpError."""
