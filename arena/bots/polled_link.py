"""A bot as a stream of messages: a conversation over bare descriptors, for the poll loop."""

import math
import os
from typing import Final

from arena.bots.conversation import CHUNK, PEER_NOT_READING, LinkClosedError
from arena.bots.turns import AT_ONCE
from arena.bots.wants import Ask, BotLink
from arena.support.poll_loop import READABLE, WRITABLE, PollLoop, Steps, Wait
from protocol.messages import BotMessage

_CLOSED: Final = -1  # no descriptor has this number


class PolledLink(BotLink):
    """A pair of pipes to one bot. It takes over both descriptors and closes them."""

    def __init__(self, loop: PollLoop, reader: int, writer: int):
        super().__init__()
        for descriptor in (reader, writer):
            os.set_blocking(descriptor, False)
        self._loop = loop
        self._readable = Wait(reader, READABLE)
        self._writable = Wait(writer, WRITABLE)

    def ask(self, question: Ask) -> Steps[BotMessage]:
        line, readable = question.line, self._readable
        self.transcript.append((False, line))
        readable.until = question.begin(self._loop.now())
        readable.meanwhile_at, readable.meanwhile = question.asked + AT_ONCE, question.meanwhile
        if (sent := self._write(line)) < len(line):
            yield from self._write_rest(memoryview(line)[sent:], question.until)
        message = None
        while message is None:
            yield readable
            message = self._read_message()
        # Then it was there to be read; or before the question, if the bot guessed its id.
        looked = self._loop.stalls.last_look
        question.heard = looked if looked > question.asked else question.asked
        return message

    def tell(self, line: bytes, until: float) -> Steps[None]:
        self.transcript.append((False, line))
        yield from self._write_rest(memoryview(line), until)

    def _write_rest(self, left: memoryview, until: float) -> Steps[None]:
        """Write all of these bytes. Raises LinkClosedError, TimeIsUpError."""
        while left := left[self._write(left) :]:
            self._writable.until = until
            yield self._writable

    def listen(self, until: float) -> Steps[BotMessage]:
        self._readable.until, self._readable.meanwhile_at = until, math.inf
        message = self.next_message()
        while message is None:
            yield self._readable
            message = self._read_message()
        return message

    def _write(self, data: bytes | memoryview) -> int:
        """Write what can be written now, and return the number of bytes."""
        try:
            return os.write(self._writable.descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LinkClosedError(PEER_NOT_READING) from error

    def _read_message(self) -> BotMessage | None:
        """Read what has arrived, and return the bot's next message if that completes one. Raises LinkClosedError,
        RemoteProtocolError."""
        try:
            data = os.read(self._readable.descriptor, CHUNK)
        except BlockingIOError:
            return None  # the descriptor's number belonged to another bot when it became ready
        except OSError as error:
            raise LinkClosedError("the connection was reset") from error
        self.feed(data)
        return self.next_message()

    def close(self) -> None:
        """Close the bot's input and its output."""
        for wait in (self._writable, self._readable):
            if wait.descriptor != _CLOSED:
                self._loop.forget([wait.descriptor])
                os.close(wait.descriptor)
                wait.descriptor = _CLOSED
