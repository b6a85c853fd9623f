"""Where `arena check` gets its bot from: it starts a process, or waits for a bot that connects."""

import contextlib
import math
from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

import attrs
import trio

from arena.bots.conversation import ConversationLimits
from arena.bots.link import Link
from arena.plan.bot_spec import BotSpec
from arena.processes.bot_process import BotProcess, spawn

_LIMITS: Final = ConversationLimits(kept_lines=500)  # of a failed check: some rounds, about a megabyte


@attrs.frozen
class Contact:
    """A connection to the bot, and its process if the arena started it."""

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
    """A source of connections to the bot under check."""

    def open(self) -> contextlib.AbstractAsyncContextManager[Contact]:
        """A new connection to the bot, closed at the end of the block."""


@attrs.frozen
class CommandSource:
    """Starts a new process of the bot for each connection."""

    spec: BotSpec

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Contact]:
        async with spawn(self.spec) as process:
            yield Contact(Link(process.stream, _LIMITS), process.stream.close_writer, process)


class ConnectTimeoutError(Exception):
    """No bot connected in time."""


@attrs.define
class ListeningSource:
    """Waits for bots that connect over TCP: without limit for the first connection, `seconds` for each later one."""

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
            raise ConnectTimeoutError(
                f"no bot connected within {self.seconds:g} seconds: start it again for this check"
            )
        self._waits = self.seconds
        async with stream:
            yield Contact(Link(stream, _LIMITS), lambda: _shut(stream), None)


def _shut(stream: trio.SocketStream) -> None:
    """Closes our writing half: the bot sees the end of its input."""
    with contextlib.suppress(OSError):  # the bot has closed the connection already
        stream.socket.shutdown(trio.socket.SHUT_WR)
