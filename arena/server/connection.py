"""One connection of a bot. The task that let it in (door.py) owns it and listens while no match uses it; a match
borrows the connection and returns it."""

import contextlib
import hmac
from typing import Final

import attrs
import trio

from arena.bots.link import Link, LinkClosed
from protocol.messages import Bye, Error
from protocol.session import State

_FAREWELL_SECONDS: Final = 2.0  # that a bot has to take the last words


class Abandoned(Exception):
    """The bot says that this connection is lost, and has another one."""


@attrs.define(eq=False)
class Loan:
    """From one return of a connection to its owner to the next."""

    listening: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    silent: trio.Event = attrs.field(factory=trio.Event)  # the owner has stopped listening
    returned: trio.Event = attrs.field(factory=trio.Event)


class Connection:
    def __init__(
        self,
        name: str,
        link: Link,
        address: str,
        session: str,
        wants_legal: bool = True,
        takes_place_of: "Connection | None" = None,
    ):
        self.name = name
        self.link = link
        self.address = address
        self.session = session
        self.wants_legal = wants_legal
        self.takes_place_of = takes_place_of  # that the bot has lost
        self.successor: Connection | None = None  # reserved for whoever plays on this one and has not noticed yet
        self.lent = False  # to a player
        self._last_words: list[Error | Bye] | None = None  # once it is sent away
        self._abandoned = False
        self._left = False  # its owner listens no more, and nobody else may use it
        self._loan = Loan()

    @property
    def busy(self) -> bool:
        return self.lent or self.is_leaving

    @property
    def is_leaving(self) -> bool:
        return self._last_words is not None

    def is_session(self, text: str) -> bool:
        return hmac.compare_digest(self.session.encode(), text.encode())

    async def stay(self) -> None:
        """The owner's part. Returns when the bot is sent away; raises LinkClosed or RemoteProtocolError when it leaves
        or says something though nobody asked, and Abandoned when another connection takes its place."""
        try:
            while self._last_words is None:
                loan = self._loan
                with loan.listening:
                    await self.link.hear()
                loan.silent.set()
                await loan.returned.wait()
            if self._abandoned:
                raise Abandoned
        finally:
            self._left = True
            self._loan.silent.set()

    def reserve(self) -> None:
        self.lent = True
        self._loan.listening.cancel()

    async def hand_over(self) -> Link:
        """The link, once its owner has stopped listening. Raises LinkClosed if it has left instead."""
        await self._loan.silent.wait()
        if self._left:
            raise LinkClosed("the connection was lost")
        return self.link

    def give_back(self) -> None:
        self.lent = False
        loan, self._loan = self._loan, Loan()
        loan.returned.set()

    def dismiss(self, *last_words: Error | Bye) -> None:
        """Nobody plays on it any more; its owner says the last words and closes it."""
        self.lent = False
        self._end(*last_words)

    def _end(self, *last_words: Error | Bye) -> None:
        self._last_words = list(last_words)
        self._loan.listening.cancel()
        self._loan.returned.set()

    def abandon(self) -> None:
        """Whoever plays on it shall notice at once."""
        self._abandoned = True
        self._end()

    async def say_goodbye(self) -> None:
        with trio.move_on_after(_FAREWELL_SECONDS), contextlib.suppress(LinkClosed):
            for message in self._last_words or ():
                if self.link.session.state is not State.CLOSED:
                    await self.link.say(message)
