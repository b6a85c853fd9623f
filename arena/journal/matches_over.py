"""Remember which matches of a tournament are over, in memory that does not grow with their number. Pure."""

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
