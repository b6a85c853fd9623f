"""What the logic of a match wants next. Pure.

Theory of operation. Matches and players are logic without I/O, written as generators: `answer = yield Ask(...)` says
what is wanted and stops there. A driver does it and resumes the logic with the result, or throws what went wrong into
it: LinkClosed, RemoteProtocolError or TimeIsUp. Two drivers run the same logic: trio's (trio_driver.py), for bots that
connect and for everything that happens beside the matches, and one on bare descriptors (polled_driver.py), for a
process that only plays. All times are those of the driver's clock, in seconds.
"""

import math
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from msgspec import Struct

from arena.bots.conversation import Conversation
from arena.support.poll_loop import Wait

T = TypeVar("T")


class Ask(Struct, eq=False, gc=False):
    """Send the line of a request and hear the answer within `seconds`.

    The driver notes two moments: `asked` just before it writes, because what the arena does before is not the bot's
    time, and `heard` when it has read the answer.
    """

    link: Conversation
    line: bytes
    seconds: float
    asked: float = math.nan
    heard: float = math.nan
    is_repeated: bool = False

    def begin(self, now: float) -> float:
        """Note that the line is written now. Returns the deadline."""
        if not self.is_repeated:
            self.asked = now
        return self.asked + self.seconds

    def again(self, link: Conversation, line: bytes) -> "Ask":
        """The same question on another connection; its time has been running since it was asked first."""
        return Ask(link, line, self.seconds, self.asked, is_repeated=True)

    @property
    def until(self) -> float:
        """The deadline, once the line was written."""
        return self.asked + self.seconds

    def seconds_at(self, moment: float) -> float:
        """How long the bot has had at this moment."""
        return moment - self.asked


class Say(Struct, frozen=True):
    """Send a line that needs no answer."""

    link: Conversation
    line: bytes
    until: float


class Hear(Struct, frozen=True):
    """Hear the bot's next message."""

    link: Conversation
    until: float


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


# `Wait` is for a descriptor or a signal of the poll loop; only the polled driver can.
Want = Ask | Say | Hear | Both | Run | Await | Wait
Logic = Generator[Want, Any, T]
