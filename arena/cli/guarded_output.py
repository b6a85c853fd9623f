"""Keep stdout and stderr from stopping what is played: a log that cannot be written is given up, the tournament is not.

The reader of a pipe may go, the disk of a log may be full, a terminal may be gone. Each further line is tried again, so
that a log goes on when its disk has room again.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from arena.journal.file import beside
from arena.support.timestamps import log_time

_NAMES: Final = ("stdout", "stderr")


class _Guarded(io.RawIOBase):
    """The bytes of a stream, which never fail. `failed` is called with the first error."""

    def __init__(self, bytes_: BinaryIO, failed: Any):
        self._bytes = bytes_
        self._failed = failed
        self.is_broken = False

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._bytes.isatty()

    def fileno(self) -> int:
        return self._bytes.fileno()

    def write(self, data: Any) -> int:
        try:
            self._bytes.write(data)
            self._bytes.flush()
            self.is_broken = False
        except (OSError, ValueError) as error:  # ValueError: it is closed
            if not self.is_broken:
                self.is_broken = True
                self._failed(self, getattr(error, "strerror", None) or str(error))
        return len(data)

    def close(self) -> None:
        """Leave the stream open: it belongs to the interpreter."""


@contextmanager
def guarded_output(journal: Path | None) -> Iterator[None]:
    """Nothing that is printed during the block raises. If stdout or stderr cannot be written, that is said once on the
    other one, or, if that fails too, in a file beside the journal: cup.jsonl has cup.notes."""
    guards: dict[str, _Guarded] = {}

    def failed(broken: _Guarded, reason: str) -> None:
        name = next(name for name, guard in guards.items() if guard is broken)
        text = f"{log_time()} {name} cannot be written: {reason}. Play goes on without it.\n".encode()
        for guard in guards.values():
            if not guard.is_broken:
                guard.write(text)
                if not guard.is_broken:
                    return
        if journal is not None:
            _note(beside(journal, "notes"), text)

    before = {name: getattr(sys, name) for name in _NAMES}
    for name, stream in before.items():
        if hasattr(stream, "buffer"):  # not None, as where a descriptor was closed at the start
            guards[name] = _Guarded(stream.buffer, failed)
            setattr(sys, name, _text(guards[name], stream))
    try:
        yield
    finally:
        for name, guard in guards.items():
            getattr(sys, name).flush()
            setattr(sys, name, before[name])
            if guard.is_broken:
                _silence(before[name])


def _text(guard: _Guarded, like: TextIO) -> TextIO:
    return io.TextIOWrapper(guard, encoding=like.encoding, errors=like.errors, write_through=True)  # type: ignore[type-var]


def _note(path: Path, text: bytes) -> None:
    try:
        with path.open("ab") as file:
            file.write(text)
    except OSError:
        pass  # there is no other place


def _silence(stream: TextIO) -> None:
    """Point a broken stream to nowhere: otherwise what is left in its buffer fails when the interpreter ends."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return  # it has no descriptor, or it is closed
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
