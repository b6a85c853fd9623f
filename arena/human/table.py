"""A person who plays a match of this arena, as the tournament sees them: a player that connects, on a connection that
does not leave the process.

The person's end of the connection (guest.py) runs in a task of its own. A closed desk closes the connection. So does a
decision that is taken back; but then the player asks for the round to be led back to it.
"""

import contextlib
import math
import socket
from collections.abc import AsyncIterator, Callable

import trio

from arena.bots.link import Link
from arena.bots.player import Gone, Player, TakenBack
from arena.bots.streams import TcpStream
from arena.bots.wants import Await, Logic
from arena.human.desk import Desk
from arena.human.guest import Guest
from arena.journal.endings import Fault
from arena.plan.bot_spec import RemoteSpec


class PersonAtTable:
    """The person at `desk`, as a tournament needs them (arena.tournament.player_pool.RemoteBots). `hints`: the desk
    shows what an evaluator would play."""

    grace = 0.0

    def __init__(self, desk: Desk, *, hints: bool = False):
        self.desk = desk
        self.hints = hints
        self._stop: Callable[[], None] = lambda: None
        self._leaving = trio.CancelScope()
        self._nursery: trio.Nursery | None = None

    @contextlib.asynccontextmanager
    async def attended(self, stop: Callable[[], None]) -> AsyncIterator[None]:
        """The person can play during the block, and then looks at how the match ended. `stop` ends the tournament."""
        self._stop = stop
        async with self.desk.open(), trio.open_nursery() as self._nursery:
            yield
            with self._leaving:
                await self.desk.ready()
            self._nursery.cancel_scope.cancel()

    def leave(self) -> None:
        """Let the person leave at once."""
        self._leaving.cancel()

    def is_free(self, name: str) -> bool:  # noqa: ARG002
        return True

    def away_until(self, name: str) -> float | None:  # noqa: ARG002
        return None

    def held_until(self, name: str) -> float | None:  # noqa: ARG002
        return None

    def is_awaited(self, name: str) -> bool:  # noqa: ARG002
        return False

    def give_up(self, name: str) -> None:
        raise AssertionError(f"{name} is never awaited")

    def player(self, spec: RemoteSpec) -> Player:
        return HumanPlayer(spec, self)

    def let_go(self, player: Player) -> None:
        assert isinstance(player, HumanPlayer)
        player.hang_up()

    async def wanted(self) -> None:
        """Wait until the person wants to play on. Stops the tournament if they have left."""
        await self.desk.ready()
        if self.desk.closed.is_set():
            self._stop()
            await trio.sleep_forever()

    def connect(self, name: str, take_back: Callable[[], None]) -> TcpStream:
        """The arena's end of a new connection to the person."""
        assert self._nursery is not None
        ours, theirs = socket.socketpair()
        self._nursery.start_soon(Guest(name, self.desk, take_back).converse, TcpStream(theirs))
        return TcpStream(ours)


class HumanPlayer(Player):
    """A person in one match."""

    spec: RemoteSpec

    def __init__(self, spec: RemoteSpec, table: PersonAtTable):
        super().__init__(spec)
        self._table = table
        self._stream: TcpStream | None = None
        self._takes_back = False
        self.has_hints = table.hints

    def now(self) -> float:
        return trio.current_time()

    @property
    def is_here(self) -> bool:
        """Never: before each round, the match waits until the person has seen the end of the last one."""
        return False

    def arrive(self, seed: int | None = None) -> Logic[None]:  # noqa: ARG002
        yield Await(self._table.wanted)
        if self.link is None:
            self._stream = self._table.connect(self.spec.name, self._take_back)
            self.link = Link(self._stream)
            yield from self.greet(self.link, math.inf)

    def come_back(self, closed: str, until: float) -> Logic[None]:  # noqa: ARG002
        """A person does not come back to a round that they left. Raises TakenBack if they left in order to take a
        decision back."""
        yield from ()
        self.hang_up()
        if self._takes_back:
            self._takes_back = False
            raise TakenBack
        raise Gone(Fault.DISCONNECTED, "the terminal or the input was closed")

    def leave(self) -> Logic[None]:
        yield from ()
        self.hang_up()

    def hang_up(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = self.link = None

    def _take_back(self) -> None:
        self._takes_back = True
