"""A bot as a stream of messages: bytes, lines, session and a memory of the last exchanges, in one place."""

import contextlib
import math
from collections import deque
from typing import Final, cast

import trio

from arena.bots.streams import TcpStream
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
    shown,
    without_token,
)
from protocol.session import Role, Session

_CHUNK: Final = 4096  # read at once: dozens of answers, and cheap to allocate for one
_DEAF: Final = "the bot does not read any more"
_KEPT_LINES: Final = 60  # of a transcript: some thirty decisions, enough to see a fault come


class LinkClosed(Exception):
    """The bot's end is closed: nothing more comes, or nothing more can be said."""


Said = tuple[bool, bytes]  # by the bot?, the line; a plain tuple, because two are made for every decision


def said_text(said: Said) -> str:
    by_bot, line = said
    return f"{'<' if by_bot else '>'} {without_token(line.rstrip(NEWLINE).decode(errors='backslashreplace'))}"


NEWLINE: Final = b"\n"


class Link:
    """One connection to one bot. Whoever opened the stream closes it.

    `may_tear`: the end of the stream in the middle of a line is a lost connection, not the bot's fault.
    """

    def __init__(
        self,
        stream: trio.abc.Stream,
        *,
        line_limit: int = MAX_LINE,
        most_ignored: float = math.inf,
        kept_lines: int = _KEPT_LINES,
        may_tear: bool = False,
    ):
        self._stream = stream
        self.session = Session(Role.SERVER)
        self._lines = LineBuffer(line_limit)
        self._waiting: deque[bytes] = deque()  # lines that came together with an earlier one
        self.transcript: deque[Said] = deque(maxlen=kept_lines)
        self.ignored = 0  # answers that came too late
        self._most_ignored = most_ignored
        self._may_tear = may_tear

    async def say(self, message: Message) -> None:
        """Raises LinkClosed if the bot cannot hear, and RemoteProtocolError if it has already answered a request that
        is only being made now."""
        await self.say_line(self.line_for(message))

    def line_for(self, message: Message) -> bytes:
        """The line that says it; from now on it counts as said."""
        if self._waiting and isinstance(message, Request):
            while self._waiting:
                self._take(self._waiting.popleft())
        return self.session.send(message)

    async def ask(self, line: bytes) -> BotMessage:
        """Says the line of a request and returns the answer: `say_line` and `hear` in one piece, because this is done
        for every decision."""
        self.transcript.append((False, line))
        try:
            await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosed(_DEAF) from error
        if not self._waiting:
            await self.wait_line()
        message = self._take(self._waiting.popleft())
        return message if message is not None else await self._hear_after_one_too_late()

    async def greet(self, server: str) -> BotHello:
        """Says hello and returns the bot's. Raises LinkClosed, RemoteProtocolError."""
        await self.say(ServerHello(PROTOCOL, server))
        hello = await self.hear()
        assert isinstance(hello, BotHello)  # the session allows nothing else here
        return hello

    async def welcome(self, welcome: Welcome) -> None:
        """The transcript begins after it: the hello may hold a token, and the welcome a session. Raises LinkClosed."""
        await self.say(welcome)
        self.transcript.clear()

    async def say_line(self, line: bytes) -> None:
        """Bytes as they are, past the session."""
        self.transcript.append((False, line))
        try:
            await self._stream.send_all(line)
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise LinkClosed(_DEAF) from error

    async def wait_line(self) -> None:
        """Returns once there is something to hear. Raises LinkClosed, RemoteProtocolError."""
        while not self._waiting:
            try:
                data = await self._stream.receive_some(_CHUNK)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise LinkClosed("the connection was reset") from error
            if not data:
                if not self._may_tear:
                    self._lines.end()
                raise LinkClosed("the bot closed its end")
            self._feed(data)

    def take_over(self, said: Message, heard: bytes) -> None:
        """What crossed the wire before there was a link. Raises RemoteProtocolError if that is no line."""
        self.transcript.append((False, self.session.send(said)))
        self._feed(heard)

    def _feed(self, data: bytes | bytearray) -> None:
        try:
            self._waiting.extend(self._lines.feed(data))
        except RemoteProtocolError:
            self.transcript.append((True, bytes(data[:1000])))
            raise

    async def hear(self) -> BotMessage:
        """The next message that matters; late answers are passed over. Raises LinkClosed, RemoteProtocolError."""
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
                f"more than {self._most_ignored} answers that nobody asked for; answer each request once",
            )

    async def wait_closed(self) -> None:
        """Reads on, whatever comes, until the bot has closed its end."""
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while await self._stream.receive_some(_CHUNK):
                pass

    def is_hung_up(self) -> bool:
        tcp = self._stream.transport_stream if isinstance(self._stream, trio.SSLStream) else self._stream
        return isinstance(tcp, TcpStream) and tcp.is_hung_up()

    def unfinished_line(self) -> str | None:
        """What to say of a line whose newline does not come, if there is one."""
        if not (pending := self._lines.pending):
            return None
        return f"{len(pending)} bytes arrived, but no newline: {shown(pending)}; every message has to end with one"

    def _take(self, line: bytes) -> BotMessage | None:
        self.transcript.append((True, line))
        message = self.session.receive(line)
        return cast("BotMessage | None", message)  # the session of a server hears bots only
