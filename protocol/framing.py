"""Split a stream of bytes into lines of limited length."""

from typing import Final

from protocol.errors import Code, RemoteProtocolError

# The longest request is below 16 KiB; four times that leaves room for future fields. The limit bounds the memory that a
# stranger can make the server use.
MAX_LINE: Final = 64 * 1024  # bytes, the newline included


class LineBuffer:
    """Collects bytes and returns them line by line, without the newlines.

    The buffer never holds more than one line and the bytes of the last `feed`.
    """

    def __init__(self, limit: int = MAX_LINE):
        self._limit = limit
        self._rest = bytearray()

    def feed(self, data: bytes | bytearray) -> list[bytes]:
        """Add `data` and return the lines that it completes. Raises RemoteProtocolError if a line is too long."""
        line, newline, rest = data.partition(b"\n")
        if newline and not rest and not self._rest and len(data) <= self._limit:
            return [bytes(line)]  # exactly one complete line: the usual case
        self._rest += data
        lines: list[bytes] = []
        if newline:
            *lines, unfinished = bytes(self._rest).split(b"\n")
            self._rest = bytearray(unfinished)
        if len(self._rest) >= self._limit or any(len(line) >= self._limit for line in lines):
            self._rest.clear()
            raise RemoteProtocolError(
                Code.LINE_TOO_LONG,
                f"a line is longer than {self._limit} bytes; each message is one line that ends in a newline",
            )
        return lines

    @property
    def pending(self) -> bytes:
        """The beginning of a line whose newline has not arrived yet."""
        return bytes(self._rest)

    def end(self) -> None:
        """Report the end of the input. Raises RemoteProtocolError if the input ends in the middle of a line."""
        if self._rest:
            count = len(self._rest)
            self._rest.clear()
            raise RemoteProtocolError(
                Code.TORN_LINE, f"the input ended in the middle of a line ({count} bytes without a newline)"
            )
