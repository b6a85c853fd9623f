"""How a bot comes to its check: as a process of ours, or by connecting."""

import contextlib
import math
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import attrs
import trio

from arena.bots.link import Link
from arena.bots.process import BotProcess, spawn
from arena.plan.bot_spec import BotSpec


@attrs.frozen
class Contact:
    """A connection to the bot, and its process if it is ours."""

    link: Link
    close_input: Callable[[], None]
    process: BotProcess | None

    async def wait_gone(self) -> None:
        """Returns once the process has ended, or the bot has closed the connection."""
        if self.process:
            await self.process.wait_exit()
        else:
            await self.link.wait_closed()


class BotSource(Protocol):
    """Where a bot comes in: each opening is a new connection."""

    def open(self) -> contextlib.AbstractAsyncContextManager[Contact]: ...


@attrs.frozen
class CommandSource:
    spec: BotSpec

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Contact]:
        async with spawn(self.spec) as process:
            yield Contact(Link(process.stream), process.stream.close_writer, process)


class ConnectTimeout(Exception):
    """No bot connected in time."""


@attrs.define
class ListeningSource:
    """For bots that connect over TCP. The first may take its time, later ones have `seconds`."""

    listener: trio.SocketListener
    seconds: float
    tell: Callable[[str], None]
    _waits: float = math.inf

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Contact]:
        if self._waits < math.inf:
            self.tell(f"Start the bot again now: it has {self.seconds:g} seconds to connect.")
        with trio.move_on_after(self._waits) as scope:
            stream = await self.listener.accept()
        if scope.cancelled_caught:
            raise ConnectTimeout(f"no bot connected within {self.seconds:g} seconds: start it again for this check")
        self._waits = self.seconds
        async with stream:
            yield Contact(Link(stream), lambda: _shut(stream), None)


def _shut(stream: trio.SocketStream) -> None:
    """The bot sees the end of its input."""
    with contextlib.suppress(OSError):  # it has gone already
        stream.socket.shutdown(trio.socket.SHUT_WR)
