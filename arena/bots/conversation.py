"""The messages between the arena and one bot, without the bytes' way there: session, line framing and transcript. Pure.

Both drivers add a transport: a trio stream (link.py), or bare descriptors (polled_link.py).
"""

import math
from collections import deque
from typing import Final

from msgspec import Struct

from protocol.decoding import excerpt, without_token
from protocol.errors import Code, RemoteProtocolError
from protocol.framing import MAX_LINE, LineBuffer
from protocol.messages import BotMessage, EncodedRequest, Message
from protocol.session import Role, Session

CHUNK: Final = 4096  # bytes per read: room for dozens of answers, yet cheap to allocate for one
PEER_NOT_READING: Final = "the bot no longer reads its input"


class LinkClosedError(Exception):
    """The bot closed its end: it sends nothing more, or cannot be sent anything more."""


# So much of a bot's line is shown: room for any move and note that is kept. A bot that fails again and again must not
# fill the disk, nor keep the arena busy with writing.
_LONGEST_SHOWN: Final = 4096  # bytes

Said = tuple[bool, bytes]  # (sent by the bot?, the line); a plain tuple, because each decision makes two


def said_text(said: Said) -> str:
    """A line of a transcript as text: `<` if the bot sent it, `>` if the arena did; tokens are hidden, and the end of a
    long line of the bot is cut off."""
    by_bot, line = said
    left = len(line) - _LONGEST_SHOWN if by_bot else 0
    shown = line[:_LONGEST_SHOWN] if left > 0 else line.rstrip(NEWLINE)
    cut = f"… ({left} more bytes)" if left > 0 else ""
    return f"{'<' if by_bot else '>'} {without_token(shown.decode(errors='backslashreplace'))}{cut}"


NEWLINE: Final = b"\n"


class ConversationLimits(Struct, frozen=True):
    """What a bot may send, and what is kept of it.

    `eof_mid_line_is_disconnect`: if the input ends in the middle of a line, treat that as a lost connection
    (LinkClosedError), not as a fault of the bot (RemoteProtocolError).
    """

    line: int = MAX_LINE  # bytes
    ignored: float = math.inf  # answers that come too late
    # In a transcript: ten decisions, some 20 KB, enough to see what led to a fault. More of them would push what each
    # decision needs out of the processor's cache.
    kept_lines: int = 20
    eof_mid_line_is_disconnect: bool = False


_USUAL: Final = ConversationLimits()


class Conversation:
    """What was said on one connection to one bot, and what may be said next."""

    def __init__(self, limits: ConversationLimits = _USUAL):
        self.session = Session(Role.SERVER)
        self._limits = limits
        self._lines = LineBuffer(limits.line)
        self._waiting: deque[bytes] = deque()  # lines that have arrived and are not processed yet
        self.transcript: deque[Said] = deque(maxlen=limits.kept_lines)
        self.ignored = 0  # answers that came too late

    def line_for(self, message: Message | EncodedRequest) -> bytes:
        """Encode a message; for the session it is now sent. Raises RemoteProtocolError if `message` is a request that
        the bot has already answered."""
        if not isinstance(message, EncodedRequest):
            return self.session.send(message)
        while self._waiting:
            self._take(self._waiting.popleft())
        return self.session.send_request(message.id, message.line)

    @property
    def has_line(self) -> bool:
        """Whether a complete line has arrived that is not processed yet."""
        return bool(self._waiting)

    def feed(self, data: bytes | bytearray) -> None:
        """Add what arrived; b"" is the end of the input. Raises RemoteProtocolError if a line is too long or torn, and
        LinkClosedError at the end."""
        if not data:
            if not self._limits.eof_mid_line_is_disconnect:
                self._lines.end()
            raise LinkClosedError("the bot closed its end")
        try:
            self._waiting += self._lines.feed(data)
        except RemoteProtocolError:
            self.transcript.append((True, bytes(data[:1000])))
            raise

    def next_message(self) -> BotMessage | None:
        """The bot's next message, ignoring late answers; None if it has not arrived yet. Raises RemoteProtocolError."""
        while self._waiting:
            message = self._take(self._waiting.popleft())
            if message is not None:
                return message
            self._count_ignored()
        return None

    def take_over(self, said: Message, heard: bytes) -> None:
        """Take over a connection on which `said` was sent and `heard` received before. Raises RemoteProtocolError if
        `heard` contains a line that is too long."""
        self.transcript.append((False, self.session.send(said)))
        if heard:
            self.feed(heard)

    def unfinished_line(self) -> str | None:
        """A message for the bot's author if part of a line has arrived, but not its newline; otherwise None."""
        if not (pending := self._lines.pending):
            return None
        return f"{len(pending)} bytes arrived, but no newline: {excerpt(pending)}; every message has to end with one"

    def _take(self, line: bytes) -> BotMessage | None:
        self.transcript.append((True, line))
        return self.decoded(line)

    def decoded(self, line: bytes) -> BotMessage | None:
        """The message of a line that arrived; None for a late answer. Raises RemoteProtocolError."""
        return self.session.receive(line)  # type: ignore[return-value]  # a server's session accepts no others

    def _count_ignored(self) -> None:
        self.ignored += 1
        if self.ignored > self._limits.ignored:
            raise RemoteProtocolError(
                Code.TOO_MANY,
                f"more than {self._limits.ignored} answers without a request; answer each request once",
            )
