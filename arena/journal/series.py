"""Whether cycles are missing from the journal of a server that plays for ever. Pure: verify.py reads the lines.

Each cycle is a tournament. Its opening line has its number (`first_cycle`) and the hash of the opening line before it
(`follows`), so cycles of one server are told from those of another whose journal was put into the same file. The
number cannot be changed unnoticed: it is part of the ids of all rounds, from which their deals are derived. A server
begins a cycle only when the one before is over.
"""

from collections.abc import Iterator

import attrs
from msgspec import UNSET

from arena.journal.deal_audit import Place
from arena.journal.lines import TournamentLine


@attrs.frozen
class _Opening:
    place: Place
    hash: str
    first: int  # cycle
    last: int
    follows: str | None

    @property
    def begins_a_series(self) -> bool:
        return self.first == 1 and self.follows is None


class Series:
    """The opening lines of all tournaments that were read, in the order of reading."""

    def __init__(self) -> None:
        self._openings: list[_Opening] = []

    def add(self, place: Place, hash: str, line: TournamentLine) -> None:
        first, follows = line.config.first_cycle, None if line.follows is UNSET else line.follows
        self._openings.append(_Opening(place, hash, first, first + (line.config.cycles or 1) - 1, follows))

    def followers(self) -> dict[str, int]:
        """The cycles that follow others, by the hashes of the opening lines of those."""
        return {each.follows: each.first for each in self._openings if each.follows is not None}

    def late_beginnings(self) -> Iterator[tuple[Place, str]]:
        """Yield where a file begins with a later cycle, and those before were not read: a journal may be split."""
        for opening, before in self._unlinked():
            if before is None:
                text = f"not complete: it begins with cycle {opening.first}, and those before are not in these files"
                yield opening.place, text

    def gaps(self) -> Iterator[tuple[Place, str]]:
        """Yield where cycles are missing."""
        for opening, before in self._unlinked():
            if before is None:
                continue
            first, end = before.last + 1, opening.first
            (path, line), (next_path, next_line) = before.place, opening.place
            if first < end:
                gone = f"cycle {first} is missing" if end - first == 1 else f"cycles {first}-{end - 1} are missing"
            else:
                gone = f"cycle {end} does not follow cycle {before.last}: an opening line was changed or removed"
            apart = f"{path}:{line} and {next_path}:{next_line}"
            where = f"lines {line} and {next_line}" if path == next_path else apart
            yield opening.place, f"{gone} between {where}"

    def _unlinked(self) -> Iterator[tuple[_Opening, _Opening | None]]:
        """Yield each opening line that does not follow the one that it should, and that after which it comes; None if
        it is the first of its file."""
        by_hash = {each.hash: each for each in self._openings}
        last: _Opening | None = None
        for opening in self._openings:
            before, last = last, opening
            named = by_hash.get(opening.follows or "")
            if opening.begins_a_series or (named is not None and named.last + 1 == opening.first):
                continue
            if named is not None:
                before = named  # whose number is wrong
            elif before is not None and before.place[0] != opening.place[0]:
                before = None
            yield opening, before
