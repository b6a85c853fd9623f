"""A bot as a stream of messages: a conversation over a trio stream."""

import contextlib
from typing import Final

import trio

from arena.bots.conversation import CHUNK, PEER_NOT_READING, Conversation, ConversationLimits, LinkClosed
from arena.bots.streams import tcp_below
from protocol.messages import BotMessage, Message, Welcome

_USUAL: Final = ConversationLimits()


class Link(Conversation):
    """One connection to one bot. The caller that opened the stream closes it."""

    def __init__(self, stream: trio.abc.Stream, limits: ConversationLimits = _USUAL):
        super().__init__(limits)
        self._stream = stream

    async def say(self, message: Message) -> None:
        """Send a message. Raises LinkClosed if the bot no longer reads, and RemoteProtocolError if `message` is a
        request that the bot has already answered."""
        await self.say_line(self.line_for(message))

    async def ask(self, line: bytes) -> BotMessage:
        """Send the line of a request and return the answer. This is `say_line` and `hear` in one function, because it
        runs for every decision. Raises LinkClosed, RemoteProtocolError."""
        self.transcript.append((False, line))
        try:
            await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosed(PEER_NOT_READING) from error
        while (message := self.next_message()) is None:
            await self._receive()
        return message

    async def welcome(self, welcome: Welcome) -> None:
        """Send the welcome, then clear the transcript: the hello may contain a token, and the welcome a session. Raises
        LinkClosed."""
        await self.say(welcome)
        self.transcript.clear()

    async def say_line(self, line: bytes) -> None:
        """Send bytes as they are, without the session. Raises LinkClosed."""
        self.transcript.append((False, line))
        try:
            await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosed(PEER_NOT_READING) from error

    async def wait_line(self) -> None:
        """Wait until a complete line has arrived. Raises LinkClosed, RemoteProtocolError."""
        while not self.has_line:
            await self._receive()

    async def hear(self) -> BotMessage:
        """Wait for the bot's next message, ignoring late answers. Raises LinkClosed, RemoteProtocolError."""
        while (message := self.next_message()) is None:
            await self._receive()
        return message

    async def _receive(self) -> None:
        try:
            data = await self._stream.receive_some(CHUNK)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosed("the connection was reset") from error
        self.feed(data)

    async def wait_closed(self) -> None:
        """Discard input until the bot has closed its end."""
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while await self._stream.receive_some(CHUNK):
                pass

    def is_hung_up(self) -> bool:
        """Whether the bot has closed its end of a network connection; what it sent before may still be unread."""
        tcp = tcp_below(self._stream)
        return tcp is not None and tcp.is_hung_up()
