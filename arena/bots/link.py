"""A bot as a stream of messages: joins byte stream, line framing and session, and keeps a transcript."""

import contextlib
import math
from collections import deque
from typing import Final, cast

import trio

from arena.bots.streams import tcp_below
from protocol.decoding import excerpt, without_token
from protocol.errors import Code, RemoteProtocolError
from protocol.framing import MAX_LINE, LineBuffer
from protocol.messages import (
    PROTOCOL,
    BotHello,
    BotMessage,
    Message,
    Request,
    ServerHello,
    Welcome,
)
from protocol.session import Role, Session

_CHUNK: Final = 4096  # bytes per read: room for dozens of answers, yet cheap to allocate for one
_PEER_NOT_READING: Final = "the bot no longer reads its input"
_KEPT_LINES: Final = 60  # in a transcript: about thirty decisions, enough to see what led to a fault


class LinkClosed(Exception):
    """The bot closed its end: it sends nothing more, or cannot be sent anything more."""


Said = tuple[bool, bytes]  # (sent by the bot?, the line); a plain tuple, because each decision makes two


def said_text(said: Said) -> str:
    """A line of a transcript as text: `<` if the bot sent it, `>` if the arena did; tokens are hidden."""
    by_bot, line = said
    return f"{'<' if by_bot else '>'} {without_token(line.rstrip(NEWLINE).decode(errors='backslashreplace'))}"


NEWLINE: Final = b"\n"


class Link:
    """One connection to one bot. The caller that opened the stream closes it.

    `eof_mid_line_is_disconnect`: if the stream ends in the middle of a line, treat that as a lost connection
    (LinkClosed), not as a fault of the bot (RemoteProtocolError).
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        *,
        line_limit: int = MAX_LINE,
        most_ignored: float = math.inf,
        kept_lines: int = _KEPT_LINES,
        eof_mid_line_is_disconnect: bool = False,
    ):
        self._stream = stream
        self.session = Session(Role.SERVER)
        self._lines = LineBuffer(line_limit)
        self._waiting: deque[bytes] = deque()  # lines that have arrived and are not processed yet
        self.transcript: deque[Said] = deque(maxlen=kept_lines)
        self.ignored = 0  # answers that came too late
        self._most_ignored = most_ignored
        self._eof_mid_line_is_disconnect = eof_mid_line_is_disconnect

    async def say(self, message: Message) -> None:
        """Send a message. Raises LinkClosed if the bot no longer reads, and RemoteProtocolError if `message` is a
        request that the bot has already answered."""
        await self.say_line(self.line_for(message))

    def line_for(self, message: Message) -> bytes:
        """Encode a message; for the session it is now sent. Raises RemoteProtocolError as `say` does."""
        if self._waiting and isinstance(message, Request):
            while self._waiting:
                self._take(self._waiting.popleft())
        return self.session.send(message)

    async def ask(self, line: bytes) -> BotMessage:
        """Send the line of a request and return the answer. This is `say_line` and `hear` in one function, because it
        runs for every decision. Raises LinkClosed, RemoteProtocolError."""
        self.transcript.append((False, line))
        try:
            await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosed(_PEER_NOT_READING) from error
        if not self._waiting:
            await self.wait_line()
        message = self._take(self._waiting.popleft())
        return message if message is not None else await self._hear_after_one_too_late()

    async def greet(self, server: str) -> BotHello:
        """Send the server's hello and return the bot's. Raises LinkClosed, RemoteProtocolError."""
        await self.say(ServerHello(PROTOCOL, server))
        hello = await self.hear()
        assert isinstance(hello, BotHello)  # the session allows nothing else here
        return hello

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
            raise LinkClosed(_PEER_NOT_READING) from error

    async def wait_line(self) -> None:
        """Wait until a complete line has arrived. Raises LinkClosed, RemoteProtocolError."""
        while not self._waiting:
            try:
                data = await self._stream.receive_some(_CHUNK)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise LinkClosed("the connection was reset") from error
            if not data:
                if not self._eof_mid_line_is_disconnect:
                    self._lines.end()
                raise LinkClosed("the bot closed its end")
            self._feed(data)

    def take_over(self, said: Message, heard: bytes) -> None:
        """Take over a connection on which `said` was sent and `heard` received before the link existed. Raises
        RemoteProtocolError if `heard` contains a line that is too long."""
        self.transcript.append((False, self.session.send(said)))
        self._feed(heard)

    def _feed(self, data: bytes | bytearray) -> None:
        try:
            self._waiting.extend(self._lines.feed(data))
        except RemoteProtocolError:
            self.transcript.append((True, bytes(data[:1000])))
            raise

    async def hear(self) -> BotMessage:
        """Wait for the bot's next message, ignoring late answers. Raises LinkClosed, RemoteProtocolError."""
        while True:
            if not self._waiting:
                await self.wait_line()
            message = self._take(self._waiting.popleft())
            if message is not None:
                return message
            self._count_ignored()

    async def _hear_after_one_too_late(self) -> BotMessage:
        self._count_ignored()
        return await self.hear()

    def _count_ignored(self) -> None:
        self.ignored += 1
        if self.ignored > self._most_ignored:
            raise RemoteProtocolError(
                Code.TOO_MANY,
                f"more than {self._most_ignored} answers without a request; answer each request once",
            )

    async def wait_closed(self) -> None:
        """Discard input until the bot has closed its end."""
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while await self._stream.receive_some(_CHUNK):
                pass

    def is_hung_up(self) -> bool:
        """Whether the bot has closed its end of a network connection; what it sent before may still be unread."""
        tcp = tcp_below(self._stream)
        return tcp is not None and tcp.is_hung_up()

    def unfinished_line(self) -> str | None:
        """A message for the bot's author if part of a line has arrived, but not its newline; otherwise None."""
        if not (pending := self._lines.pending):
            return None
        return f"{len(pending)} bytes arrived, but no newline: {excerpt(pending)}; every message has to end with one"

    def _take(self, line: bytes) -> BotMessage | None:
        self.transcript.append((True, line))
        message = self.session.receive(line)
        return cast("BotMessage | None", message)  # a server's session accepts only messages of bots
