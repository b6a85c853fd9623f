"""A person instead of a bot, as the bridge needs one: what a bot does on stdin and stdout, the interface of the person
does on a connection that does not leave the process."""

import contextlib
import socket
from collections.abc import AsyncIterator

import trio

from arena.client.dial import ConnectError
from arena.human.person_client import PersonClient
from arena.human.user_interface import UserInterface
from arena.plan.bot_spec import HUMAN
from arena.processes.launch import Overrun
from arena.support.streams import TcpStream


class Person:
    """The bridge's end of the connection to a person."""

    exit_status: int | None = None
    overrun: Overrun | None = None

    def __init__(self, stream: TcpStream):
        self.stream = stream
        self.gone = trio.Event()

    async def wait_exit(self) -> None:
        await self.gone.wait()

    async def last_words(self) -> str:
        return ""


@contextlib.asynccontextmanager
async def seated(interface: UserInterface) -> AsyncIterator[Person]:
    """The person plays during the block. Raises ConnectError after it if they left."""
    ours, theirs = socket.socketpair()
    person = Person(TcpStream(ours))

    async def play() -> None:
        await PersonClient(HUMAN, interface).converse(TcpStream(theirs))
        person.gone.set()

    async with person.stream, trio.open_nursery() as nursery:
        nursery.start_soon(play)
        yield person
        nursery.cancel_scope.cancel()
    if interface.closed.is_set():
        raise ConnectError("the terminal was closed")
