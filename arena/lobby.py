"""Who is here from outside. Every connection has an owner, the task that let it in (door.py), who listens while nobody
plays on it; a match borrows it and gives it back."""

import contextlib
import hmac
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import trio

from arena.bots import RemoteSpec
from arena.link import Link, LinkClosed
from arena.player import Gone, Player, StartFailure
from engine.scoring import Ending
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
    def __init__(self, name: str, link: Link, address: str, session: str, wants_legal: bool = True):
        self.name = name
        self.link = link
        self.address = address
        self.session = session
        self.wants_legal = wants_legal
        self.busy = False
        self._last_words: list[Error | Bye] | None = None  # once it is sent away
        self._abandoned = False
        self._turn = _Turn()

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
            self._turn.silent.set()

    def reserve(self) -> None:
        self.busy = True
        self._turn.listening.cancel()

    async def hand_over(self) -> Link:
        """The link, once its owner has stopped listening."""
        await self._turn.silent.wait()
        return self.link

    def give_back(self) -> None:
        self.busy = self._last_words is not None
        turn, self._turn = self._turn, _Turn()
        turn.returned.set()

    def send_away(self, *last_words: Error | Bye) -> None:
        """The owner says the last words and closes the connection."""
        self.busy = True
        self._last_words = list(last_words)
        self._turn.listening.cancel()
        self._turn.returned.set()

    def abandon(self) -> None:
        """Whoever plays on it shall notice at once."""
        self._abandoned = True
        self.send_away()

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

    def replace(self, name: str, session: str) -> None:
        """The bot says that it has lost this connection, which may look alive from here."""
        for connection in self.connections(name):
            if connection.is_session(session):
                connection.abandon()

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

    async def _arrive(self) -> None:
        if self._connection is None and not await self._comes():
            raise StartFailure(f"it is not connected; it was waited for {self._lobby.grace:g} seconds")
        if self.link is None:
            await self._sit()
            self._match = None

    async def come_back(self, closed: str) -> None:
        assert self._connection is not None
        self._connection.send_away()
        self._drop()
        if not await self._comes():
            raise Gone(Ending.DISCONNECTED, f"{closed}, and it was not back within {self._lobby.grace:g} seconds")
        await self._sit()
        assert self._match is not None
        assert self._round is not None
        await self.tell(self._match)
        await self.tell(self._round)

    async def leave(self) -> None:
        if self._connection is not None:
            self._connection.send_away(Bye("the connection ends with a fault", again=True))
        self._drop()
        self._match = None

    def let_go(self) -> None:
        connection, link = self._connection, self.link
        self._drop()
        if connection is None:
            return
        if link is None or link.session.state is State.IDLE:
            self._lobby.give_back(connection)
        else:  # it does not know that the match is over
            connection.send_away(Bye("connect again", again=True))

    async def _comes(self) -> bool:
        """Waits for a connection, within the time that the bot has."""
        self._connection = self._lobby.reserve(self.spec.name)
        if self._connection is None and not self._given_up:
            with trio.move_on_after(self._lobby.grace):
                self._connection = await self._lobby.wait_for(self.spec.name)
        self._given_up = self._connection is None
        return not self._given_up

    async def _sit(self) -> None:
        assert self._connection is not None
        self.link = await self._connection.hand_over()
        self.wants_legal = self._connection.wants_legal

    def _drop(self) -> None:
        self._connection = self.link = None
