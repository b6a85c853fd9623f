"""The finished rounds of a tournament, in memory that grows only with the matches under way. Pure."""

from collections.abc import Set

import attrs

from arena.journal.matches_over import MatchesOver


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
