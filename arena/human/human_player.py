"""A person who plays a match of this arena, as the tournament sees them: a player on a connection that does not leave
the process.

The person's end of the connection (person_client.py) runs in a task of its own. A closed user interface closes the
connection. To take back a decision, that end says so on the connection and leaves; then the round is led back to that
decision.
"""

import contextlib
import math
import socket
from collections.abc import AsyncIterator, Callable

import trio

from arena.bots.link import Link
from arena.bots.player import BotGoneError, Player, TakenBack
from arena.bots.wants import Await, Logic
from arena.human.person_client import TAKE_BACK, PersonClient
from arena.human.user_interface import UserInterface
from arena.journal.endings import Fault
from arena.plan.bot_spec import AnySpec
from arena.support.streams import TcpStream
from protocol.messages import BotMessage


class LocalPerson:
    """The person at this machine, as a tournament needs them (arena.tournament.player_sources.PersonSource). `hints`:
    the interface shows what an evaluator would play."""

    def __init__(self, interface: UserInterface, *, hints: bool = False):
        self.interface = interface
        self.hints = hints
        self._stop: Callable[[], None] = lambda: None
        self._leaving = trio.CancelScope()
        self._nursery: trio.Nursery | None = None

    @contextlib.asynccontextmanager
    async def attended(self, stop: Callable[[], None]) -> AsyncIterator[None]:
        """The person can play during the block, and then looks at how the match ended. `stop` ends the tournament."""
        self._stop = stop
        async with self.interface.open(), trio.open_nursery() as self._nursery:
            yield
            with self._leaving:
                await self.interface.ready()
            self._nursery.cancel_scope.cancel()

    def leave(self) -> None:
        """Let the person leave at once."""
        self._leaving.cancel()

    def player(self, spec: AnySpec) -> Player:
        return HumanPlayer(spec, self)

    async def wanted(self) -> None:
        """Wait until the person wants to play on. Stops the tournament if they have left."""
        await self.interface.ready()
        if self.interface.closed.is_set():
            self._stop()
            await trio.sleep_forever()

    def connect(self, name: str) -> TcpStream:
        """The arena's end of a new connection to the person."""
        assert self._nursery is not None
        ours, theirs = socket.socketpair()
        self._nursery.start_soon(PersonClient(name, self.interface).converse, TcpStream(theirs))
        return TcpStream(ours)


class PersonLink(Link):
    """The connection to a person, who may say one thing more than a bot."""

    def decoded(self, line: bytes) -> BotMessage | None:
        """The message of a line. Raises TakenBack if the person takes back their last decision."""
        if line == TAKE_BACK:
            raise TakenBack
        return super().decoded(line)


class HumanPlayer(Player):
    """A person in one match."""

    def __init__(self, spec: AnySpec, person: LocalPerson):
        super().__init__(spec)
        self._person = person
        self._stream: TcpStream | None = None
        self.has_hints = person.hints

    def now(self) -> float:
        return trio.current_time()

    @property
    def is_here(self) -> bool:
        """Never: before each round, the match waits until the person has seen the end of the last one."""
        return False

    def arrive(self, seed: int | None = None) -> Logic[None]:  # noqa: ARG002
        yield Await(self._person.wanted)
        if self.link is None:
            self._stream = self._person.connect(self.spec.name)
            self.link = PersonLink(self._stream)
            yield from self.greet(self.link, math.inf)

    def come_back(self, closed: str, until: float) -> Logic[None]:  # noqa: ARG002
        """A person does not come back to a round that they left."""
        yield from ()
        self.hang_up()
        raise BotGoneError(Fault.DISCONNECTED, "the terminal was closed")

    def leave(self) -> Logic[None]:
        yield from ()
        self.hang_up()

    def match_over(self) -> Logic[None]:
        return self.leave()

    def hang_up(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = self.link = None
