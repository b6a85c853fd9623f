"""What becomes of a bot's stderr: it is passed on to ours, or kept in a file."""

import codecs
import fcntl
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from arena.support.text import folder_name, printable_lines

_STDERR_CAP: Final = 1 << 20  # bytes kept of each bot's stderr in its file


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


class StderrKeeper:
    """Writes the stderr of each bot to a file in `folder`, up to a limit. With `send`, which takes the number of the
    bot and what it wrote, that is called instead."""

    def __init__(
        self,
        folder: Path | None,
        warn: Callable[[str], None],
        send: Callable[[int, bytes], None] | None = None,
    ):
        self._folder = folder
        self._warn = warn
        self._send = send
        self._left: dict[int, int] = {}

    def of(self, number: int, name: str) -> Callable[[bytes], None]:
        """A function that takes what this bot writes on stderr."""

        def keep(data: bytes) -> None:
            if not data or self._folder is None or self._left.get(number, _STDERR_CAP) <= 0:
                return
            if self._send is not None:
                self._left[number] = self._left.get(number, _STDERR_CAP) - len(data)
                self._send(number, data)
                return
            try:
                self._folder.mkdir(exist_ok=True)
                path = self._folder / f"{number + 1}-{folder_name(name)}.txt"
                with open(path, "ab") as file:
                    fcntl.flock(file, fcntl.LOCK_EX)  # several workers may have a process of this bot
                    file.seek(0, os.SEEK_END)
                    file.write(data[: max(0, _STDERR_CAP - file.tell())])
                    self._left[number] = _STDERR_CAP - file.tell()
            except OSError as error:
                self._left[number] = 0
                self._warn(f"stderr of {name} is not kept: {error.strerror}: {error.filename}")

        return keep
