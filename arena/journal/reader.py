"""Which lines of journals count, and for which tournament: the one place that decides it for all readers.

Theory of operation. Files are read one after the other as if they were one, since journals may be split and put
together. An opening line begins a tournament, and the rounds after it belong to it. Lines are left out, and the first
of them is told, where they belong to no tournament (no opening line came before them, or it cannot be read) or to one
that was read already. Lines of unknown types are skipped and counted: later versions may write more than this one.
Whether a round could have been played so is not decided here.
"""

import enum
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from arena.journal.lines import Entry, ResumeLine, RevealLine, TournamentLine, VoidLine, encoded, read
from arena.support.text import cropped, printable

_NAMED_TYPES: Final = 5  # unknown types that are told by name
_NAME_WIDTH: Final = 20


class _Place(enum.Enum):
    """Where the reader is."""

    BEFORE = "before any opening line"
    INSIDE = "in a tournament that counts"
    LEFT_OUT = "in a tournament whose rounds do not count, as was told"


class JournalReader:
    """Reads journals with `kind`, a struct for rounds, and knows what it skipped so far."""

    def __init__(self, kind: Any):
        self._kind = kind | TournamentLine | VoidLine | ResumeLine | RevealLine
        self._place = _Place.BEFORE
        self._seen: set[bytes] = set()  # hashes of opening lines
        self._skipped: dict[Path, Counter[str]] = {}
        self.tournaments = 0  # that count, so far

    def read(self, path: Path) -> Iterator[Entry]:
        """The lines that count, and those with a problem. Raises JournalError for what is no regular file, and
        OSError."""
        for entry in read(path, self._kind):
            if entry.line is None or type(entry.line) is TournamentLine or self._place is not _Place.INSIDE:
                yield from self._judged(path, entry)
            else:
                yield entry

    def _judged(self, path: Path, entry: Entry) -> Iterator[Entry]:
        match entry.line:
            case None if entry.unknown:
                self._skipped.setdefault(path, Counter())[cropped(printable(entry.unknown), _NAME_WIDTH)] += 1
            case None if entry.opens:
                self._place = _Place.LEFT_OUT
                yield _problem(entry, f"{entry.problem}; the rounds of its tournament are left out")
            case None:
                yield entry
            case TournamentLine() as opening:
                yield self._begun(entry, opening)
            case VoidLine() | ResumeLine() | RevealLine():
                pass
            case _ if self._place is _Place.BEFORE:
                self._place = _Place.LEFT_OUT
                yield _problem(entry, "no opening line comes before this round, so it and all that follow are left out")

    def _begun(self, entry: Entry, opening: TournamentLine) -> Entry:
        key = hashlib.sha256(encoded(opening)).digest()
        if key in self._seen:
            self._place = _Place.LEFT_OUT
            return _problem(entry, "this tournament was already read; its rounds are left out")
        self._seen.add(key)
        self._place = _Place.INSIDE
        self.tournaments += 1
        return entry

    def remarks(self) -> list[str]:
        """What was skipped, a line for each file in which there was anything."""
        return [f"{path}: {_skipped(types)}" for path, types in self._skipped.items()]


def _problem(entry: Entry, text: str) -> Entry:
    return Entry(entry.number, None, text, start=entry.start)


def _skipped(types: Counter[str]) -> str:
    names = sorted(types)
    listed = ", ".join(names[:_NAMED_TYPES]) + (", …" if len(names) > _NAMED_TYPES else "")
    count = types.total()
    what = (
        "1 line of a type that this version does not know was"
        if count == 1
        else (f"{count} lines of types that this version does not know were")
    )
    return f"{what} skipped ({listed})"


def read_all(reader: JournalReader, paths: Iterable[Path]) -> Iterator[tuple[Path, Entry]]:
    """Several journals as if they were one file."""
    for path in paths:
        for entry in reader.read(path):
            yield path, entry
