"""What a bot writes on stderr, passed on to our own."""

import codecs
import sys

from arena.support.text import printable_lines


class PassedOn:
    """Of one bot. A bot cannot move the cursor, change colours or do anything else to a terminal: what is not printable
    is written out. Bytes come as they are read, so a character may come in two parts; the end is told as nothing."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def __call__(self, data: bytes) -> None:
        text = self._decoder.decode(data, final=not data)
        sys.stderr.write(printable_lines(text))
        sys.stderr.flush()
