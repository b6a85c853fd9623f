"""Decide which lines of journals count, and for which tournament. All commands that read journals rely on it.

Theory of operation. Files are read one after the other as if they were one, since journals may be split and put
together. An opening line begins a tournament, and the rounds after it belong to it. Lines are left out, and the first
of them is reported, if they do not belong to a tournament (no opening line came before them, or it cannot be read) or
if their tournament was read already. A round that is there twice counts once. Lines of unknown types are skipped and
counted, because later versions may write more than this one. Whether the rules allow a round is not decided here.

Each line that counts is fed to the state of its tournament (tournament_state.py), and then yielded together with it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from arena.journal.file import line_hash
from arena.journal.lines import (
    BotLine,
    JournalEntry,
    ReadmissionLine,
    ResumeLine,
    RevealLine,
    TournamentLine,
    VoidLine,
    read,
)
from arena.journal.tournament_state import TournamentState
from arena.support.text import cropped, printable

_NAMED_TYPES: Final = 5  # unknown types that are listed by name
_NAME_WIDTH: Final = 20


Read = tuple[TournamentState | None, JournalEntry]
Progress = Callable[[JournalEntry], None]  # called by those who read journals, for each entry that they are done with


def no_progress(_entry: JournalEntry) -> None:
    pass


class JournalReader:
    """Reads journals, and remembers what it skipped. `kind` is the struct to decode rounds as, with the fields that the
    caller needs: at least those of RoundName. With `keep_raw`, entries have their lines too."""

    def __init__(self, kind: Any, *, keep_raw: bool = False):
        self._round = kind
        self._keep_raw = keep_raw
        self._state: TournamentState | None = None  # of the tournament that counts here; None if rounds do not count
        self._was_reported = False  # if they do not: whether that was reported
        self._seen: set[str] = set()  # hashes of opening lines
        self._skipped: dict[Path, Counter[str]] = {}

    @property
    def tournaments(self) -> int:
        """The number of tournaments so far that count."""
        return len(self._seen)

    def read_all(self, paths: Iterable[Path]) -> Iterator[Read]:
        """Read several journals as if they were one file. Raises what `read` raises."""
        for path in paths:
            yield from self.read(path)

    def read(self, path: Path) -> Iterator[Read]:
        """Yield the lines that count, each with the state of its tournament, and those with a problem, which may come
        before any tournament. Raises JournalError if the path is not a regular file, and OSError."""
        kinds = self._round | TournamentLine | BotLine | VoidLine | ResumeLine | ReadmissionLine | RevealLine
        for entry in read(path, kinds, keep_raw=self._keep_raw):
            line = entry.line
            if self._state is not None and type(line) is self._round:
                twice = self._state.add_round(line)
                yield self._state, entry if twice is None else _problem(entry, printable(twice))
            elif judged := self._judged(entry):
                yield self._state, judged

    def _judged(self, entry: JournalEntry) -> JournalEntry | None:
        """The entry as it is or with a problem; None if the line is skipped."""
        match entry.line:
            case None if entry.unknown:
                self._skipped.setdefault(entry.path, Counter())[cropped(printable(entry.unknown), _NAME_WIDTH)] += 1
            case None if entry.opens:
                return self._left_out(entry, f"{entry.problem}; the rounds of its tournament are left out")
            case None:
                return entry
            case TournamentLine() as opening:
                return self._begun(entry, opening)
            case BotLine() | VoidLine() | ResumeLine() | ReadmissionLine() | RevealLine() as line:
                if self._state is None:
                    return None
                self._state.add(line)
                return entry
            case _ if not self._was_reported:
                return self._left_out(
                    entry, "no opening line comes before this round, so it and all that follow are left out"
                )
        return None

    def _left_out(self, entry: JournalEntry, why: str) -> JournalEntry:
        self._state, self._was_reported = None, True
        return _problem(entry, why)

    def _begun(self, entry: JournalEntry, opening: TournamentLine) -> JournalEntry:
        key = line_hash(entry.raw)
        if key in self._seen:
            return self._left_out(entry, "this tournament was already read; its rounds are left out")
        self._seen.add(key)
        self._state = TournamentState(opening, self.tournaments)
        return entry

    def remarks(self) -> list[str]:
        """One message for each file in which lines were skipped."""
        return [f"{path}: {_skipped(types)}" for path, types in self._skipped.items()]


def _problem(entry: JournalEntry, text: str) -> JournalEntry:
    return replace(entry, line=None, problem=text)


def _skipped(types: Counter[str]) -> str:
    names = sorted(types)
    listed = ", ".join(names[:_NAMED_TYPES]) + (", …" if len(names) > _NAMED_TYPES else "")
    count = types.total()
    what = (
        "1 line of a type that this version does not know was"
        if count == 1
        else f"{count} lines of types that this version does not know were"
    )
    return f"{what} skipped ({listed})"
