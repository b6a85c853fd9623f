"""Pass a bot's stderr on to ours."""

import codecs
import sys

from arena.support.text import printable_lines


class PassedOn:
    """Writes one bot's stderr to ours. Call it with each chunk of bytes, and with b"" at the end.

    Unprintable characters are escaped, so that a bot cannot move the cursor, change colours or otherwise control the
    terminal. A character may be split between two chunks.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def __call__(self, data: bytes) -> None:
        text = self._decoder.decode(data, final=not data)
        sys.stderr.write(printable_lines(text))
        sys.stderr.flush()
