"""Bytes to lines, with a limit."""

from typing import Final

from protocol.errors import Code, RemoteProtocolError

# A request of the longest round is below 16 KiB; four times that leaves room for fields to come. It bounds what a
# stranger can make us keep.
MAX_LINE: Final = 64 * 1024  # bytes, the newline included


class LineBuffer:
    """Collects bytes and gives them back line by line, without their newline.

    It never holds more than one line and the bytes of the last `feed`.
    """

    def __init__(self, limit: int = MAX_LINE):
        self._limit = limit
        self._rest = bytearray()

    def feed(self, data: bytes | bytearray) -> list[bytes]:
        """The lines that `data` completes. Raises RemoteProtocolError when a line is too long."""
        if not self._rest and 0 < len(data) <= self._limit and data.find(b"\n") == len(data) - 1:
            return [bytes(data[:-1])]  # exactly one whole line, as nearly always
        self._rest += data
        lines: list[bytes] = []
        if b"\n" in data:
            *lines, rest = bytes(self._rest).split(b"\n")
            self._rest = bytearray(rest)
        if len(self._rest) >= self._limit or any(len(line) >= self._limit for line in lines):
            self._rest.clear()
            raise RemoteProtocolError(
                Code.LINE_TOO_LONG,
                f"a line is longer than {self._limit} bytes; each message is one line that ends in a newline",
            )
        return lines

    @property
    def pending(self) -> bytes:
        """The beginning of a line whose newline has not come yet."""
        return bytes(self._rest)

    def end(self) -> None:
        """Call at the end of input. Raises RemoteProtocolError if it comes in the middle of a line."""
        if self._rest:
            count = len(self._rest)
            self._rest.clear()
            raise RemoteProtocolError(
                Code.TORN_LINE, f"the input ended in the middle of a line ({count} bytes without a newline)"
            )
