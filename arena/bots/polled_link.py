"""A bot as a stream of messages: a conversation over bare descriptors, for the poll loop."""

import os
from typing import Final

from arena.bots.conversation import CHUNK, PEER_NOT_READING, Conversation, LinkClosed
from arena.bots.wants import Ask
from arena.support.poll_loop import READABLE, WRITABLE, PollLoop, Steps, Wait
from protocol.messages import BotMessage

_CLOSED: Final = -1  # no descriptor has this number


class PolledLink(Conversation):
    """A pair of pipes to one bot. It takes over both descriptors and closes them."""

    def __init__(self, loop: PollLoop, reader: int, writer: int):
        super().__init__()
        for descriptor in (reader, writer):
            os.set_blocking(descriptor, False)
        self._loop = loop
        self.readable = Wait(reader, READABLE)
        self._writable = Wait(writer, WRITABLE)

    def ask(self, question: Ask) -> int:
        """Write what can be written of a request, and return the number of bytes. Then its answer may be awaited in
        `readable`. Raises LinkClosed."""
        self.transcript.append((False, question.line))
        self.readable.until = question.begin(self._loop.now())
        return self._write(question.line)

    def say_line(self, line: bytes, until: float) -> Steps[None]:
        """Send bytes as they are, without the session. Raises LinkClosed, TimeIsUp."""
        self.transcript.append((False, line))
        yield from self.write_rest(memoryview(line), until)

    def write_rest(self, left: memoryview, until: float) -> Steps[None]:
        """Write all of these bytes. Raises LinkClosed, TimeIsUp."""
        while left := left[self._write(left) :]:
            self._writable.until = until
            yield self._writable

    def hear(self, until: float) -> Steps[BotMessage]:
        """Wait for the bot's next message. Raises LinkClosed, RemoteProtocolError, TimeIsUp."""
        self.readable.until = until
        message = self.next_message()
        while message is None:
            yield self.readable
            message = self.read_message()
        return message

    def _write(self, data: bytes | memoryview) -> int:
        """Write what can be written now, and return the number of bytes."""
        try:
            return os.write(self._writable.descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LinkClosed(PEER_NOT_READING) from error

    def read_message(self) -> BotMessage | None:
        """Read what has arrived, and return the bot's next message if that completes one. Raises LinkClosed,
        RemoteProtocolError."""
        try:
            data = os.read(self.readable.descriptor, CHUNK)
        except BlockingIOError:
            return None  # the descriptor's number belonged to another bot when it became ready
        except OSError as error:
            raise LinkClosed("the connection was reset") from error
        self.feed(data)
        return self.next_message()

    def close(self) -> None:
        """Close the bot's input and its output."""
        for wait in (self._writable, self.readable):
            if wait.descriptor != _CLOSED:
                self._loop.forget([wait.descriptor])
                os.close(wait.descriptor)
                wait.descriptor = _CLOSED
