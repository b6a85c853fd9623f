"""The finished rounds of a tournament, in memory that grows only with the matches under way. Pure."""

from collections.abc import Set

import attrs


@attrs.define
class MatchesOver:
    """A set of match ids. The matches of a pair of bots end roughly in the order of their cycles, so it stores one
    range of cycles per pair, and separately the few that ended out of order. Ids are those of the schedule,
    `cycle.pair`; any other id is stored as it is."""

    _ranges: dict[str, tuple[int, int]] = attrs.field(factory=dict)  # by pair: first cycle, and end (exclusive)
    _others: set[str] = attrs.field(factory=set)

    def __contains__(self, match: str) -> bool:
        cycle, pair = _cycle_and_pair(match)
        first, end = self._ranges.get(pair, (0, 0))
        return first <= cycle < end or match in self._others

    def __len__(self) -> int:
        return sum(end - first for first, end in self._ranges.values()) + len(self._others)

    def add(self, match: str) -> None:
        cycle, pair = _cycle_and_pair(match)
        if cycle < 0:
            self._others.add(match)
            return
        first, end = self._ranges.get(pair, (cycle, cycle))
        if cycle != end:
            self._others.add(match)
            return
        end += 1
        while (following := f"{end}.{pair}" if pair else str(end)) in self._others:
            self._others.remove(following)
            end += 1
        self._ranges[pair] = (first, end)


def _cycle_and_pair(match: str) -> tuple[int, str]:
    """Split a match id; the cycle is -1 if the id does not have the schedule's form."""
    text, _, pair = match.partition(".")
    canonical = text.isascii() and text.isdigit() and len(text) < 10 and (text == "0" or text[0] != "0")
    return (int(text), pair) if canonical and not match.endswith(".") else (-1, match)


@attrs.define
class FinishedRounds:
    match_length: int | None  # rounds; None if the journal does not say: then no match ever ends
    _under_way: dict[str, set[str]] = attrs.field(factory=dict)  # ids of rounds by match
    _over: MatchesOver = attrs.field(factory=MatchesOver)

    def add(self, match: str, id: str) -> str | None:
        """Add a round. Returns why it must not count, or None if it may."""
        ids = self._under_way.get(match)
        if ids is None:
            if match in self._over:
                return f"round {id} is in the journal twice, or is one too many: its match was already over"
            ids = self._under_way[match] = set()
        elif id in ids:
            return f"round {id} is in the journal twice"
        ids.add(id)
        if len(ids) == self.match_length:
            del self._under_way[match]
            self._over.add(match)
        return None

    def is_over(self, match: str) -> bool:
        return match in self._over

    def under_way(self, match: str) -> Set[str]:
        """The ids of the finished rounds of a match that is not over."""
        return self._under_way.get(match, frozenset())

    def __contains__(self, id: str) -> bool:
        """Whether a round of the schedule is finished. Its id begins with that of its match."""
        match = id.rpartition(".")[0]
        return id in self._under_way.get(match, ()) or match in self._over

    @property
    def count(self) -> int:
        return sum(map(len, self._under_way.values())) + len(self._over) * (self.match_length or 0)
