"""Who is here from outside. Every connection has an owner, the task that let it in (door.py), who listens while nobody
plays on it; a match borrows it and gives it back."""

import contextlib
import hmac
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import trio

from arena.bots.link import Link, LinkClosed
from arena.bots.player import Gone, Player, StartFailure
from arena.journal.endings import Fault
from arena.plan.bot_spec import RemoteSpec
from protocol.messages import Bye, Error
from protocol.session import State

_FAREWELL_SECONDS: Final = 2.0  # that a bot has to take the last words


class Abandoned(Exception):
    """The bot says that this connection is lost, and has another one."""


@attrs.define(eq=False)
class _Turn:
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
        self._turn = _Turn()

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
                turn = self._turn
                with turn.listening:
                    await self.link.hear()
                turn.silent.set()
                await turn.returned.wait()
            if self._abandoned:
                raise Abandoned
        finally:
            self._left = True
            self._turn.silent.set()

    def reserve(self) -> None:
        self.lent = True
        self._turn.listening.cancel()

    async def hand_over(self) -> Link:
        """The link, once its owner has stopped listening. Raises LinkClosed if it has left instead."""
        await self._turn.silent.wait()
        if self._left:
            raise LinkClosed("the connection was lost")
        return self.link

    def give_back(self) -> None:
        self.lent = False
        turn, self._turn = self._turn, _Turn()
        turn.returned.set()

    def send_away(self, *last_words: Error | Bye) -> None:
        """Nobody plays on it any more; its owner says the last words and closes it."""
        self.lent = False
        self._end(*last_words)

    def _end(self, *last_words: Error | Bye) -> None:
        self._last_words = list(last_words)
        self._turn.listening.cancel()
        self._turn.returned.set()

    def abandon(self) -> None:
        """Whoever plays on it shall notice at once."""
        self._abandoned = True
        self._end()

    async def take_leave(self) -> None:
        with trio.move_on_after(_FAREWELL_SECONDS), contextlib.suppress(LinkClosed):
            for message in self._last_words or ():
                if self.link.session.state is not State.CLOSED:
                    await self.link.say(message)


@attrs.define(eq=False)
class _Waiter:
    """Somebody who needs a connection of a bot that is away."""

    came: trio.Event = attrs.field(factory=trio.Event)
    connection: Connection | None = None


class Lobby:
    def __init__(self, grace: float, on_change: Callable[[str], None]):
        self.grace = grace  # seconds that a bot may be away
        self.on_change = on_change  # told the name of a bot that came, went or became free
        self._here: dict[str, list[Connection]] = {}
        self._waiters: dict[str, list[_Waiter]] = {}
        self._away_since: dict[str, float] = {}
        self._roster: frozenset[str] = frozenset()
        self._began = math.inf

    def begin(self, roster: Iterable[str]) -> None:
        """From now on it counts who of them is away."""
        self._roster = frozenset(roster)
        self._began = trio.current_time()
        self._away_since.clear()

    def connections(self, name: str) -> list[Connection]:
        return self._here.get(name, [])

    def names(self) -> list[str]:
        return list(self._here)

    def is_here(self, name: str) -> bool:
        return name in self._here

    @contextlib.contextmanager
    def present(self, connection: Connection) -> Iterator[None]:
        """As long as the block runs, the connection is here."""
        self._here.setdefault(connection.name, []).append(connection)
        lost = connection.takes_place_of
        if lost is not None and lost.lent:
            connection.reserve()
            lost.successor = connection
            self.on_change(connection.name)
        else:
            self._offer(connection)
        try:
            yield
        finally:
            left = self._here[connection.name]
            left.remove(connection)
            if not left:
                del self._here[connection.name]
                if connection.name in self._roster:
                    self._away_since[connection.name] = trio.current_time()
            self.on_change(connection.name)

    def give_back(self, connection: Connection) -> None:
        connection.give_back()
        if not connection.busy and connection in self.connections(connection.name):  # else it is lost or leaves
            self._offer(connection)

    def drop_lost(self, name: str, session: str) -> Connection | None:
        """A bot that comes again may have lost the connection that it names, which may look alive from here, or one
        that is closed while nobody listens. Returns the one that was dropped."""
        here = [connection for connection in self.connections(name) if not connection.is_leaving]
        lost = next((each for each in here if each.is_session(session)), None)
        lost = lost or next((each for each in here if each.lent and each.link.is_hung_up()), None)
        if lost is not None:
            lost.abandon()
        return lost

    def _offer(self, connection: Connection) -> None:
        """Whoever waits for just this bot comes first."""
        for waiter in self._waiters.get(connection.name, ()):
            if waiter.connection is None:
                connection.reserve()
                waiter.connection = connection
                waiter.came.set()
                break
        self.on_change(connection.name)

    def reserve(self, name: str) -> Connection | None:
        """A connection that is free, for whoever asks first."""
        for connection in self.connections(name):
            if not connection.busy:
                connection.reserve()
                return connection
        return None

    async def wait_for(self, name: str) -> Connection:
        """The next connection of this bot that is free."""
        if free := self.reserve(name):
            return free
        waiter = _Waiter()
        self._waiters.setdefault(name, []).append(waiter)
        try:
            await waiter.came.wait()
            assert waiter.connection is not None
            return waiter.connection
        except trio.Cancelled:
            if waiter.connection is not None:
                self.give_back(waiter.connection)
            raise
        finally:
            self._waiters[name].remove(waiter)
            if not self._waiters[name]:
                del self._waiters[name]

    def send_all_away(self, reason: str, *, again: bool) -> None:
        for connections in self._here.values():
            for connection in connections:
                connection.send_away(Bye(reason, again))

    # What the matchmaker asks

    def is_free(self, name: str) -> bool:
        return any(not connection.busy for connection in self.connections(name))

    def away_until(self, name: str) -> float | None:
        return None if self.is_here(name) else max(self._began, self._away_since.get(name, 0)) + self.grace

    def player(self, spec: RemoteSpec) -> Player:
        return RemotePlayer(spec, self, self.reserve(spec.name))

    def let_go(self, player: Player) -> None:
        assert isinstance(player, RemotePlayer)
        player.let_go()


class RemotePlayer(Player):
    """A bot for one match, on one of its connections, or on the next one if that is lost."""

    def __init__(self, spec: RemoteSpec, lobby: Lobby, connection: Connection | None):
        super().__init__(spec)
        self._lobby = lobby
        self._connection = connection
        self._given_up = connection is None  # nobody waits for it any more; it may come all the same

    async def arrive(self) -> None:
        if self.link is None and not await self._sit():
            raise StartFailure(f"it is not connected; it was waited for {self._lobby.grace:g} seconds")

    async def come_back(self, closed: str) -> None:
        self._lose()
        if not await self._sit():
            raise Gone(Fault.DISCONNECTED, f"{closed}, and it was not back within {self._lobby.grace:g} seconds")

    async def leave(self) -> None:
        self._lose(Bye("the connection ends with a fault", again=True))

    def let_go(self) -> None:
        if self.link is not None and self.link.session.state is not State.IDLE:
            self._lose(Bye("connect again", again=True))  # it does not know that the match is over
        self.link = None
        while (connection := self._connection) is not None:
            self._connection = connection.successor
            self._lobby.give_back(connection)

    def _lose(self, *last_words: Bye) -> None:
        """What comes next is the connection that the bot has put in the place of this one, if it has."""
        self.link = None
        if (connection := self._connection) is not None:
            connection.send_away(*last_words)
            self._connection = connection.successor

    async def _sit(self) -> bool:
        """On the connection that it has, or on another one that comes within the time that the bot has."""
        until = trio.current_time() + self._lobby.grace
        while True:
            connection = self._connection = self._connection or await self._next(until)
            self._given_up = connection is None
            if connection is None:
                return False
            try:
                self.link = await connection.hand_over()
            except LinkClosed:
                self._lose()
            else:
                self.wants_legal = connection.wants_legal
                return True

    async def _next(self, until: float) -> Connection | None:
        if self._given_up:
            return self._lobby.reserve(self.spec.name)
        with trio.CancelScope(deadline=until):
            return await self._lobby.wait_for(self.spec.name)
        return None
