"""Which rounds of a tournament's plan are missing in its journal. Pure.

A tournament whose secret is revealed is over, so all its rounds have to be there: whoever removes the rounds that a bot
lost is found out. A sequential test ends earlier, when the rounds that it has decide it.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final, Protocol

import attrs

from arena.journal.lines import BotLine, RoundLine
from arena.journal.planned import Plan
from arena.support.text import counted

_MOST_MATCHES: Final = 1000  # named; an edited journal may promise millions
_MOST_GAPS: Final = 10  # named of one match


class EarlyEnd(Protocol):
    """Says whether a tournament that need not play all its rounds is over. It hears of the others in their order."""

    def meet(self, line: BotLine, /) -> object: ...

    def add_line(self, line: RoundLine, /) -> None: ...

    @property
    def is_over(self) -> bool: ...


@attrs.define
class PlayedRounds:
    """The rounds of a plan that are in the journal."""

    _plan: Plan
    _numbers: dict[str, set[int]] = attrs.field(factory=dict)  # by match

    def add(self, id: str) -> None:
        """Add a round; one that is not in the plan does not count."""
        if found := self._plan.find(id):
            self._numbers.setdefault(id.rpartition(".")[0], set()).add(found[0].number)

    def __contains__(self, id: str) -> bool:
        found = self._plan.find(id)
        return found is not None and found[0].number in self._numbers.get(id.rpartition(".")[0], ())

    @property
    def count(self) -> int:
        return sum(map(len, self._numbers.values()))

    def missing(self) -> Iterator[str]:
        """Yield what is missing, match by match."""
        incomplete = (
            (f"match {match} ({names[0]} vs {names[1]})", length, played)
            for match, names, length in self._plan.meetings()
            if len(played := self._numbers.get(match, set())) < length
        )
        for match, length, played in islice(incomplete, _MOST_MATCHES):
            yield f"{_gaps_text(sorted(played), length)} of {match}" if played else f"all of {match}"
        if more := sum(1 for _ in incomplete):
            yield f"rounds of {counted(more, 'more match', 'more matches')}"

    @property
    def first_missing(self) -> str | None:
        """The id of the first round of the plan that is missing."""
        for match, _, length in self._plan.meetings():
            played = self._numbers.get(match, set())
            if len(played) < length:
                return f"{match}.{next(_gaps(sorted(played), length))[0]}"
        return None


def _gaps(played: list[int], length: int) -> Iterator[tuple[int, int]]:
    """The first and the last number of each run that is missing of the numbers from 1 to `length`."""
    before = 0
    for number in (*played, length + 1):
        if number > before + 1:
            yield before + 1, number - 1
        before = number


def _gaps_text(played: list[int], length: int) -> str:
    """The missing numbers in words, such as rounds 3, 5-9."""
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in _gaps(played, length)]
    named = ", ".join(texts[:_MOST_GAPS]) + (", …" if len(texts) > _MOST_GAPS else "")
    return f"{'round' if length - len(played) == 1 else 'rounds'} {named}"
