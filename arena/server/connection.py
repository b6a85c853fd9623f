"""One connection of a bot. The task that admitted the bot (door.py) owns it and listens while no match uses it; a match
borrows the connection and returns it."""

import hmac
from typing import Final

import attrs
import trio

from arena.bots.conversation import LinkClosedError
from arena.bots.link import Link
from arena.journal.lines import BotLine
from arena.server.lingering import say_last
from protocol.messages import Bye, Error

_FAREWELL_SECONDS: Final = 2.0  # for the bot to receive the last messages


class ReplacedError(Exception):
    """The bot replaced this connection, which it had lost, by another one."""


@attrs.define(eq=False)
class Loan:
    """One turn of the owner and the match that follows: from one return of a connection to the next."""

    listening: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    silent: trio.Event = attrs.field(factory=trio.Event)  # the owner has stopped listening
    returned: trio.Event = attrs.field(factory=trio.Event)


class Connection:
    """A connection that its owner lends to matches. `takes_place_of` is the lost connection that it replaces."""

    def __init__(
        self,
        name: str,
        link: Link,
        address: str,
        session: str,
        wants_legal: bool = True,
        takes_place_of: "Connection | None" = None,
        identity: BotLine | None = None,
    ):
        self.name = name
        self.link = link
        self.address = address
        self.session = session
        self.wants_legal = wants_legal
        self.takes_place_of = takes_place_of
        self.identity = identity
        self.successor: Connection | None = None  # for the match that has not noticed the loss of this one
        self.lent = False  # to a player
        self._last_words: list[Error | Bye] | None = None  # once the bot is dismissed
        self._abandoned = False
        self._left = False  # the owner has stopped listening for good, so no match may use it
        self._loan = Loan()

    @property
    def busy(self) -> bool:
        """Whether no match can borrow the connection now."""
        return self.lent or self.is_leaving

    @property
    def is_leaving(self) -> bool:
        return self._last_words is not None

    def is_session(self, text: str) -> bool:
        """Whether the text is the session of this connection; takes the same time for every text of a length."""
        return hmac.compare_digest(self.session.encode(), text.encode())

    async def stay(self) -> None:
        """Listen while no match uses the connection; called by the owner. Returns when the bot is dismissed. Raises
        LinkClosedError when the bot leaves, RemoteProtocolError when it sends something without a request, and
        ReplacedError when another connection replaces this one."""
        try:
            while self._last_words is None:
                loan = self._loan
                with loan.listening:
                    await self.link.hear()
                loan.silent.set()
                await loan.returned.wait()
            if self._abandoned:
                raise ReplacedError
        finally:
            self._left = True
            self._loan.silent.set()

    def reserve(self) -> None:
        """Lend the connection to a match, which then calls `hand_over`."""
        self.lent = True
        self._loan.listening.cancel()

    async def hand_over(self) -> Link:
        """The link, once the owner has stopped listening. Raises LinkClosedError if the bot has left instead."""
        await self._loan.silent.wait()
        if self._left:
            raise LinkClosedError("the connection was lost")
        return self.link

    def give_back(self) -> None:
        """Return the connection to its owner, who listens again."""
        self.lent = False
        loan, self._loan = self._loan, Loan()
        loan.returned.set()

    def dismiss(self, *last_words: Error | Bye) -> None:
        """Take the connection from its match; its owner sends the last messages and closes it."""
        self.lent = False
        self._end(*last_words)

    def _end(self, *last_words: Error | Bye) -> None:
        self._last_words = list(last_words)
        self._loan.listening.cancel()
        self._loan.returned.set()

    def abandon(self) -> None:
        """Give the connection up as lost, so that a match that uses it notices at once."""
        self._abandoned = True
        self._end()

    async def say_goodbye(self) -> None:
        """Send the last messages; called by the owner."""
        await say_last(self.link, _FAREWELL_SECONDS, *(self._last_words or ()))
