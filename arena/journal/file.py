"""The file of a journal: opened only if it is a regular file, written by one arena at a time, and checked for changes.

A journal stays open for hours, and meanwhile a user may delete, replace, truncate or edit it. So the writer remembers
how it left the file (its identity, its size, its last bytes) and compares before each append. If anything differs it
does not append: finished rounds then go to a new file beside the journal.
"""

import codecs
import fcntl
import glob
import hashlib
import os
import stat
from collections.abc import Sequence
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, Final, Self

from msgspec import Struct

from arena.support.whole_files import sync_folder

VERSION: Final = 1  # of the format
OPENING: Final = b'{"type":"tournament"'  # how every journal begins
_ROUND: Final = b'{"type":"round"'
_FIRST: Final = 1 << 20  # bytes of a file in which an opening line is looked for
_TAIL: Final = 256  # bytes at the end of the file that are compared before each append
_CHUNK: Final = 1 << 20  # bytes per copy
_BUFFER: Final = 1 << 18  # bytes per read; with Python's default, a read would be only a few lines
_HIDDEN: Final = ("secret", "names", "faults", "stderr", "notes")
_BESIDE: Final = frozenset(f".{ending}" for ending in (*_HIDDEN, "report"))  # what belongs to a journal
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


_PACKED: Final = {  # by how such files begin: what made them, and what undoes it
    b"\x1f\x8b": ("gzip", "gunzip"),
    b"\x28\xb5\x2f\xfd": ("zstd", "unzstd"),
    b"\xfd7zXZ\0": ("xz", "unxz"),
    b"BZh": ("bzip2", "bunzip2"),
    b"PK\x03\x04": ("zip", "unzip"),
}
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class JournalError(Exception):
    """The journal cannot be used as it is."""


class JournalChangedError(JournalError):
    """Another program or a user changed the file while the arena was writing to it."""


def line_hash(line: bytes) -> str:
    """The hash of a line as it stands in the file, newline and all: `head -n 1 cup.jsonl | sha256sum` says the same."""
    return f"sha256:{hashlib.sha256(line).hexdigest()}"


def open_journal(path: Path) -> BufferedReader:
    """Open a journal for reading. Raises JournalError if it is not a regular file, and OSError. Reading raises
    JournalError if the disk fails."""
    return BufferedReader(_JournalFile(_open_regular(path, os.O_RDONLY), path), _BUFFER)


class _JournalFile(FileIO):
    """A file that is named by its errors of reading, unlike others."""

    def __init__(self, descriptor: int, path: Path):
        super().__init__(descriptor)
        self._path = path

    def readinto(self, buffer: Any, /) -> int:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise JournalError(f"{self._path}: cannot read: {error.strerror}") from None


def wrong_start(start: bytes) -> str | None:
    """Why no line of a file that begins with these bytes can be used; None if its lines have to be looked at."""
    if not start:
        return "the journal is empty: nothing was played yet"
    for packed, (kind, remedy) in _PACKED.items():
        if start.startswith(packed):
            return f"this file is compressed with {kind}; unpack it first, with {remedy}"
    if start.startswith(_MARKS):
        return "this file begins with a byte-order mark, which no journal has; save it as UTF-8 without one"
    return None


def _open_regular(path: Path, flags: int) -> int:
    """Open a file and return its descriptor. Raises JournalError if it is not a regular file: a FIFO or a device might
    block, or never end. So this checks before opening, and then what it has opened."""
    if path.exists():
        _refuse_irregular(path, os.stat(path).st_mode)
    file = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
    try:
        _refuse_irregular(path, os.fstat(file).st_mode)
    except JournalError:
        os.close(file)
        raise
    return file


def kind_of_file(mode: int) -> str:
    """What a file of this mode is, if it is not a regular one."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def _refuse_irregular(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        hint = "; save its output to a file first" if stat.S_ISFIFO(mode) else ""
        raise JournalError(f"{path}: this is {kind_of_file(mode)}, but a journal is a regular file{hint}")


def beside(journal: Path, ending: str) -> Path:
    """The file or folder that belongs to a journal: with the ending `secret`, cup.jsonl has cup.secret."""
    return journal.with_name(f"{journal.name.removesuffix('.jsonl')}.{ending}")


def journal_of(belonging: Path) -> Path:
    """The journal beside which this file or folder lies, as `beside` names them: of cup.faults it is cup.jsonl."""
    whole = belonging.with_suffix("")
    return whole if whole.is_file() else whole.with_name(f"{whole.name}.jsonl")


def belongings(journal: Path) -> tuple[Path, ...]:
    """The journal and what lies beside it, which no bot may see."""
    return journal, *(beside(journal, ending) for ending in _HIDDEN)


def not_a_journal(path: Path) -> str:
    """What this file, of which no line can be used, is instead of a journal, and what was expected. Raises OSError."""
    with open_journal(path) as file:
        start = file.read(_TAIL)
    if problem := wrong_start(start):
        return f"{path}: {problem}"
    if start.startswith(OPENING):
        return f"{path}: no line of this journal can be read, and its opening line is damaged or torn"
    text = start.decode(errors="replace")
    if "\0" in text or text.count("\ufffd") > 1:  # one may be a character that is cut off
        what = "a binary file"
    else:
        what = "another kind of JSON" if text.lstrip()[:1] in ("{", "[") else "a text"
    return f"{path}: this is not a journal, but {what}; expected a file such as cup.jsonl, which `arena run` writes"


def expect_journal(paths: Sequence[Path]) -> None:
    """Raise JournalError if none of these files is a journal at all, and OSError."""
    if not any(is_journal(path) or _opens_later(path) for path in paths):
        raise JournalError(not_a_journal(paths[0]))


def _opens_later(path: Path) -> bool:
    """Whether an opening line comes after lines of types that this version may not know."""
    with open_journal(path) as file:
        return b"\n" + OPENING in file.read(_FIRST)


def is_of_a_journal(path: Path) -> bool:
    """Whether this file is a journal, or belongs to one in the same folder or in one above: it changes with each round,
    and is no part of a bot."""
    return is_journal(path) or any(
        part.suffix in _BESIDE and any(is_journal(part.with_name(part.stem + ending)) for ending in (".jsonl", ""))
        for part in (path, *path.parents)
    )


def is_journal(path: Path) -> bool:
    """Whether the file begins as a journal does, or as a part of one; what is there of its first line may be torn."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as file:
            start = file.read(len(OPENING)) or b""
    except OSError:
        return False
    return bool(start) and any(start.startswith(known) or known.startswith(start) for known in (OPENING, _ROUND))


class Journal:
    """The only writer of a journal: it holds the file's lock until it is closed. Unless the journal is `kept`, nothing
    waits for the disk. Raises JournalError."""

    def __init__(self, path: Path, *, kept: bool = True):
        try:
            self._file = _open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise JournalError(f"{path}: {error.strerror}") from None
        self.path = path
        self._kept = kept
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._file)
            raise JournalError(f"{path}: another arena is writing to this journal; wait for it or stop it") from None
        # The opening line of the last tournament and its other lines that are not rounds, each with its offset. A
        # rescue needs them.
        self._frame: list[tuple[int, bytes]] = []
        self._remember()
        if kept and not self._size:
            sync_folder(path)  # otherwise a power cut could remove the whole file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def check_not_rescued(self) -> None:
        """Raise JournalError if the file is empty and there is a rescued file beside it, so that the rescued rounds are
        not forgotten."""
        rescued = sorted(self.path.parent.glob(f"{glob.escape(beside(self.path, 'rescued').name)}*.jsonl"))
        if self.is_empty and rescued:
            raise JournalError(
                f"{rescued[-1]} holds what was rescued of {self.path}. To resume it:  mv -i {rescued[-1]} "
                f"{self.path}   To start again, move it somewhere else."
            )

    def _remember(self) -> None:
        self._size = os.fstat(self._file).st_size
        self._tail = os.pread(self._file, _TAIL, max(0, self._size - _TAIL))

    @property
    def is_empty(self) -> bool:
        return not self._size

    @property
    def opening_hash(self) -> str | None:
        """The hash of the opening line of the last tournament; None if there is none yet."""
        return line_hash(self._frame[0][1]) if self._frame else None

    def remember(self, start: int, line: bytes) -> None:
        """Keep a line that is not a round, with its offset `start`. Whatever happens to the file, a rescue needs the
        line, because deals depend on it."""
        if line.startswith(OPENING):
            self._frame.clear()
        self._frame.append((start, line))

    def remember_line_at(self, start: int) -> None:
        """The same for a line that is in the file already, as it stands there."""
        line = b""
        while not line.endswith(b"\n") and (chunk := os.pread(self._file, _CHUNK, start + len(line))):
            line += chunk[: chunk.find(b"\n") + 1 or None]
        self.remember(start, line)

    def drop_torn_line(self, start: int) -> None:
        """Cut off the incomplete last line, which begins at byte `start`. Raises JournalError if the file is not a
        journal."""
        torn = os.pread(self._file, len(OPENING), start)
        if start == 0 and not (torn.startswith(OPENING) or OPENING.startswith(torn)):
            raise JournalError(f"{self.path}: this is not a journal; nothing was changed")
        os.ftruncate(self._file, start)
        os.fsync(self._file)
        self._remember()

    def append(self, lines: bytes) -> None:
        """Append complete lines, all or none; if the journal is kept, they are on the disk when this returns. Raises
        JournalChangedError if the file was changed since the last append, JournalError if it cannot be written."""
        self.check()
        try:
            left = memoryview(lines)
            while left:
                left = left[os.write(self._file, left) :]
            if self._kept:
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise JournalError(f"{self.path}: cannot write: {error.strerror}") from error
        at = self._size
        for line in lines.splitlines(keepends=True):
            if not line.startswith(_ROUND):
                self.remember(at, line)
            at += len(line)
        self._size += len(lines)
        self._tail = (self._tail + lines)[-_TAIL:]

    def check(self) -> None:
        """Raise JournalChangedError if the file was changed since the last append."""
        if what := self._change():
            raise JournalChangedError(f"{self.path}: {what} while the arena was writing to it")

    def _change(self) -> str | None:
        """What happened to the file since the last append; None if it is unchanged."""
        ours = os.fstat(self._file)
        try:
            theirs = os.stat(self.path)
        except FileNotFoundError:
            return "this file was deleted or moved away"
        except OSError as error:
            return f"this file can no longer be found ({error.strerror})"
        if not os.path.samestat(ours, theirs):
            return "this file was replaced by another one"
        if ours.st_size < self._size:
            return f"{self._size - ours.st_size} bytes were cut off the end of this file"
        if ours.st_size > self._size:
            return f"another program wrote {ours.st_size - self._size} bytes to this file"
        if os.pread(self._file, _TAIL, max(0, self._size - _TAIL)) != self._tail:
            return "the end of this file was changed"
        return None

    def rescue(self, lines: bytes) -> Path:
        """Write a new journal beside this one, with what is left of this one and `lines`. Returns its path. Raises
        OSError."""
        path, file = self._new_file_beside()
        try:
            kept = self._copy_whole_lines(file)
            lost = b"".join(line for start, line in self._frame if start + len(line) > kept)
            _write(file, lost + lines)
            os.fsync(file)
        except OSError as error:
            path.unlink()
            raise OSError(error.errno, error.strerror, str(path)) from error
        finally:
            os.close(file)
        sync_folder(path)
        return path

    def _new_file_beside(self) -> tuple[Path, int]:
        """Create a file with an unused name, because an existing one may hold an earlier rescue."""
        number = 1
        while True:
            path = beside(self.path, f"rescued{'' if number == 1 else f'-{number}'}.jsonl")
            try:
                return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            except FileExistsError:
                number += 1

    def _copy_whole_lines(self, file: int) -> int:
        """Copy what is left of what this writer wrote, up to the last newline. Returns the number of bytes."""
        at, left = 0, self._size
        while chunk := os.pread(self._file, min(_CHUNK, left), at):
            _write(file, chunk)
            at, left = at + len(chunk), left - len(chunk)
        whole = at
        while whole and not (chunk := os.pread(self._file, min(_TAIL, whole), max(0, whole - _TAIL))).endswith(b"\n"):
            whole -= len(chunk) - (chunk.rfind(b"\n") + 1)
        os.ftruncate(file, whole)
        os.lseek(file, whole, os.SEEK_SET)
        return whole


def _write(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


class Rescue(Struct, frozen=True):
    """The outcome of rescuing a journal that was changed while the arena was writing to it."""

    path: Path | None  # the rescued journal; None if it could not be written
    outcome: str  # for the user


def rescue(journal: Journal, lines: bytes, rounds: int) -> Rescue:
    """Rescue a journal. `lines` could not be appended, and contain `rounds` rounds."""
    more = f"{rounds} finished rounds that were not in it yet"
    try:
        path = journal.rescue(lines)
    except OSError as error:
        where = f"{error.filename}: {error.strerror}"
        return Rescue(None, f"a copy cannot be saved beside it either ({where}), and {more} will be played again")
    return Rescue(path, f"what was left of it and {more} are in {path}")
