"""The bots that are connected, and the players that represent them in matches."""

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs
import trio

from arena.bots.conversation import LinkClosedError
from arena.bots.player import BotGoneError, Player, StartError
from arena.bots.wants import Await, Logic
from arena.journal.endings import Fault
from arena.plan.bot_spec import AnySpec
from arena.server.connection import Connection
from protocol.backoff import LONGEST_WAIT
from protocol.messages import Bye
from protocol.session import State

# Seconds that others who could play wait for a bot that lost its connection: enough to connect again at once.
_BACK_AT_ONCE: Final = 1.0


@attrs.define(eq=False)
class _Waiter:
    """A match that waits for a connection of a bot that is away. At the end there is none if the match gave it up."""

    came: trio.Event = attrs.field(factory=trio.Event)
    connection: Connection | None = None


class Lobby:
    """Keeps the connections of bots and lends them to matches.

    `bot_availability_changed` is called with the name of a bot that connected, left, became free or is waited for,
    `presence_changed` with each connection that came (true) or left (false). `others_can_play` says whether another
    tournament could begin among the bots that are present.
    """

    def __init__(
        self,
        grace: float,
        bot_availability_changed: Callable[[str], None],
        presence_changed: Callable[[Connection, bool], None],
        others_can_play: Callable[[], bool] = lambda: False,
    ):
        self.grace = grace  # seconds that a bot may be away before it loses
        self._bot_availability_changed = bot_availability_changed
        self._presence_changed = presence_changed
        self._others_can_play = others_can_play
        self._here: dict[str, list[Connection]] = {}
        self._waiters: dict[str, list[_Waiter]] = {}
        self._away_since: dict[str, float] = {}
        self._roster: frozenset[str] = frozenset()
        self._began = math.inf

    def begin(self, roster: Iterable[str]) -> None:
        """Begin a tournament among `roster`: from now on, note since when each of these bots is away."""
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
        """Keep the connection in the lobby while the block runs."""
        self._here.setdefault(connection.name, []).append(connection)
        self._presence_changed(connection, True)
        lost = connection.takes_place_of
        if lost is not None and lost.lent:
            connection.reserve()
            lost.successor = connection
            self._bot_availability_changed(connection.name)
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
            self._presence_changed(connection, False)
            self._bot_availability_changed(connection.name)

    def give_back(self, connection: Connection) -> None:
        """Return a connection that a match used, and offer it to others."""
        connection.give_back()
        if not connection.busy and connection in self.connections(connection.name):  # otherwise it is lost or leaving
            self._offer(connection)

    def drop_lost(self, name: str, session: str) -> Connection | None:
        """Drop the connection that a reconnecting bot has lost, and return it, if there is one: that whose session the
        bot names, which may look alive from here, or one that was closed while no task listened."""
        here = [connection for connection in self.connections(name) if not connection.is_leaving]
        lost = next((each for each in here if each.is_session(session)), None)
        lost = lost or next((each for each in here if each.lent and each.link.is_hung_up()), None)
        if lost is not None:
            lost.abandon()
        return lost

    def _offer(self, connection: Connection) -> None:
        """Offer a free connection: a match that waits for this bot takes it first."""
        for waiter in self._waiters.get(connection.name, ()):
            if not waiter.came.is_set():
                connection.reserve()
                waiter.connection = connection
                waiter.came.set()
                break
        self._bot_availability_changed(connection.name)

    def reserve(self, name: str) -> Connection | None:
        """Take a free connection of this bot; None if there is none."""
        for connection in self.connections(name):
            if not connection.busy:
                connection.reserve()
                return connection
        return None

    async def wait_for(self, name: str) -> Connection | None:
        """Take a free connection of this bot as soon as there is one; None if the bot is given up."""
        if free := self.reserve(name):
            return free
        waiter = _Waiter()
        self._waiters.setdefault(name, []).append(waiter)
        try:
            self._bot_availability_changed(name)
            await waiter.came.wait()
            return waiter.connection
        except trio.Cancelled:
            if waiter.connection is not None:
                self.give_back(waiter.connection)
            raise
        finally:
            self._waiters[name].remove(waiter)
            if not self._waiters[name]:
                del self._waiters[name]

    def dismiss_all(self, reason: str, *, again: bool) -> None:
        """Say bye to all bots. `again`: they may connect again."""
        for connections in self._here.values():
            for connection in connections:
                connection.dismiss(Bye(reason, again))

    # What a tournament needs (arena.tournament.player_sources.RemoteBots)

    def is_free(self, name: str) -> bool:
        return any(not connection.busy for connection in self.connections(name))

    def away_until(self, name: str) -> float | None:
        return None if self.is_here(name) else self._absent_since(name) + self.grace

    def _absent_since(self, name: str) -> float:
        return max(self._began, self._away_since.get(name, 0))

    def held_until(self, name: str) -> float | None:
        if self.is_here(name) or not self._others_can_play():
            return None
        # A bot that has not come since a resume may be in the longest pause between two attempts to connect.
        moment = _BACK_AT_ONCE if name in self._away_since else LONGEST_WAIT
        return self._absent_since(name) + min(moment, self.grace)

    def is_awaited(self, name: str) -> bool:
        return any(not waiter.came.is_set() for waiter in self._waiters.get(name, ()))

    def give_up(self, name: str) -> None:
        for waiter in self._waiters.get(name, ()):
            waiter.came.set()

    def player(self, spec: AnySpec) -> Player:
        """The player of one match; if the bot is not free, a player that is not connected."""
        return RemotePlayer(spec, self, self.reserve(spec.name))


class RemotePlayer(Player):
    """A bot in one match, on one of its connections, or on the next one if that is lost."""

    def __init__(self, spec: AnySpec, lobby: Lobby, connection: Connection | None):
        super().__init__(spec)
        self._lobby = lobby
        self._connection = connection
        self._given_up = connection is None  # do not wait for it any more, but use a connection that is free
        away_until = None if connection else lobby.away_until(spec.name)
        self._was_dropped = away_until is not None and self.now() < away_until  # before its time, for the others

    def now(self) -> float:
        return trio.current_time()

    def arrive(self, seed: int | None = None) -> Logic[None]:  # noqa: ARG002
        """It was welcomed when it connected, so its first seed is that in the start of a round."""
        if self.link is None and not (yield Await(self._sit)):
            raise StartError(f"it is not connected and did not connect {self._in_time}")

    def come_back(self, closed: str, until: float) -> Logic[None]:
        self._lose()
        if not (yield Await(self._sit, until)):
            raise BotGoneError(Fault.DISCONNECTED, f"{closed}, and it did not reconnect {self._in_time}")

    @property
    def _in_time(self) -> str:
        return "before the others went on" if self._was_dropped else f"within {self._lobby.grace:g} seconds"

    def leave(self) -> Logic[None]:
        yield from ()  # nothing to wait for: the door closes the connection
        self._lose(Bye("the connection ends with a fault", again=True))

    def match_over(self) -> Logic[None]:
        """Return the connections to the lobby."""
        yield from ()
        if self.link is not None and self.link.session.state is not State.IDLE:
            self._lose(Bye("connect again", again=True))  # the bot has not received the end of the match
        self.link = None
        while (connection := self._connection) is not None:
            self._connection = connection.successor
            self._lobby.give_back(connection)

    def _lose(self, *last_words: Bye) -> None:
        """Give up the connection, and continue with the one by which the bot has replaced it, if any."""
        self.link = None
        if (connection := self._connection) is not None:
            connection.dismiss(*last_words)
            self._connection = connection.successor

    async def _sit(self) -> bool:
        """Take a seat on the connection at hand, or on one that comes within the grace period; False if none does."""
        until = trio.current_time() + self._lobby.grace
        while True:
            connection = self._connection = self._connection or await self._next(until)
            self._given_up = connection is None
            if connection is None:
                return False
            try:
                self.link = await connection.hand_over()
            except LinkClosedError:
                self._lose()
            else:
                self.wants_legal = connection.wants_legal
                self.identity = connection.identity
                return True

    async def _next(self, until: float) -> Connection | None:
        if self._given_up:
            return self._lobby.reserve(self.spec.name)
        with trio.CancelScope(deadline=until):
            found = await self._lobby.wait_for(self.spec.name)
            self._was_dropped = found is None
            return found
        return None
