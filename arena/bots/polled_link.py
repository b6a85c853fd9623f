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
        self._readable = Wait(reader, READABLE)
        self._writable = Wait(writer, WRITABLE)

    def ask(self, question: Ask) -> Steps[BotMessage]:
        """Send the line of a request and return the answer. This is `say_line` and `hear` in one function, because it
        runs for every decision. Raises LinkClosed, RemoteProtocolError, TimeIsUp."""
        line, readable = question.line, self._readable
        self.transcript.append((False, line))
        until = question.begin(self._loop.now())
        if (sent := self._write(line)) < len(line):
            yield from self._write_rest(memoryview(line)[sent:], until)
        readable.until = until
        while (message := self.next_message()) is None:
            yield readable
            self._read()
        question.heard = self._loop.stalls.last_look  # then it was there to be read
        return message

    def say_line(self, line: bytes, until: float) -> Steps[None]:
        """Send bytes as they are, without the session. Raises LinkClosed, TimeIsUp."""
        self.transcript.append((False, line))
        yield from self._write_rest(memoryview(line), until)

    def _write_rest(self, left: memoryview, until: float) -> Steps[None]:
        while left := left[self._write(left) :]:
            self._writable.until = until
            yield self._writable

    def hear(self, until: float) -> Steps[BotMessage]:
        """Wait for the bot's next message. Raises LinkClosed, RemoteProtocolError, TimeIsUp."""
        self._readable.until = until
        while (message := self.next_message()) is None:
            yield self._readable
            self._read()
        return message

    def _write(self, data: bytes | memoryview) -> int:
        """Write what can be written now, and return the number of bytes."""
        try:
            return os.write(self._writable.descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise LinkClosed(PEER_NOT_READING) from error

    def _read(self) -> None:
        try:
            data = os.read(self._readable.descriptor, CHUNK)
        except BlockingIOError:
            return  # the descriptor's number belonged to another bot when it became ready
        except OSError as error:
            raise LinkClosed("the connection was reset") from error
        self.feed(data)

    def close(self) -> None:
        """Close the bot's input and its output."""
        for wait in (self._writable, self._readable):
            if wait.descriptor != _CLOSED:
                self._loop.forget([wait.descriptor])
                os.close(wait.descriptor)
                wait.descriptor = _CLOSED
