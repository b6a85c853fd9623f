"""A bot as a stream of messages: a conversation over a trio stream."""

import contextlib
from functools import partial
from typing import Final

import trio

from arena.bots.conversation import CHUNK, PEER_NOT_READING, ConversationLimits, LinkClosedError
from arena.bots.wants import Ask, Await, BotLink, Exchange, Logic
from arena.support.streams import MeteredTcpStream, tcp_below
from protocol.messages import BotMessage, Message, Welcome

_USUAL: Final = ConversationLimits()


class Link(BotLink):
    """One connection to one bot. The caller that opened the stream closes it."""

    def __init__(self, stream: trio.abc.Stream, limits: ConversationLimits = _USUAL):
        super().__init__(limits)
        self._stream = stream
        tcp = tcp_below(stream)
        self._meter = tcp if isinstance(tcp, MeteredTcpStream) else None

    async def say(self, message: Message) -> None:
        """Send a message. Raises LinkClosedError if the bot no longer reads, and RemoteProtocolError if `message` is a
        request that the bot has already answered."""
        await self.say_line(self.line_for(message))

    def ask(self, question: Ask) -> Logic[BotMessage]:
        return (yield Exchange(question, self._send_and_hear))  # type: ignore[no-any-return]

    def tell(self, line: bytes, until: float) -> Logic[None]:
        yield Await(partial(self.say_line, line), until)

    def listen(self, until: float) -> Logic[BotMessage]:
        return (yield Await(self.hear, until))  # type: ignore[no-any-return]

    async def _send_and_hear(self, line: bytes) -> BotMessage:
        """Send the line of a request and return the answer. This is `say_line` and `hear` in one function, because it
        runs for every decision. Raises LinkClosedError, RemoteProtocolError."""
        self.transcript.append((False, line))
        try:
            await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosedError(PEER_NOT_READING) from error
        while (message := self.next_message()) is None:
            await self._receive()
        return message

    async def welcome(self, welcome: Welcome) -> None:
        """Send the welcome, then clear the transcript: the hello may contain a token, and the welcome a session. Raises
        LinkClosedError."""
        await self.say(welcome)
        self.transcript.clear()

    async def say_line(self, line: bytes) -> None:
        """Send bytes as they are, without the session. Raises LinkClosedError."""
        self.transcript.append((False, line))
        try:
            await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosedError(PEER_NOT_READING) from error

    async def wait_line(self) -> None:
        """Wait until a complete line has arrived. Raises LinkClosedError, RemoteProtocolError."""
        while not self.has_line:
            await self._receive()

    async def hear(self) -> BotMessage:
        """Wait for the bot's next message, ignoring late answers. Raises LinkClosedError, RemoteProtocolError."""
        while (message := self.next_message()) is None:
            await self._receive()
        return message

    async def _receive(self) -> None:
        try:
            data = await self._stream.receive_some(CHUNK)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosedError("the connection was reset") from error
        if self._meter is not None:
            self._meter.delivered(len(data))
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
