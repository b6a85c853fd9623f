"""Which rounds of a tournament's plan are missing in its journal. Pure.

A tournament whose secret is revealed is over, so all its rounds have to be there: whoever removes the rounds that a bot
lost is found out. A sequential test ends earlier, when the rounds that it has decide it.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from arena.journal.tournament_state import TournamentState
from arena.plan.schedule import PlannedMatch
from arena.support.text import counted

_MOST_MATCHES: Final = 1000  # named; an edited journal may promise millions
_MOST_GAPS: Final = 10  # named of one match


def missing(state: TournamentState) -> Iterator[str]:
    """Yield what is missing, match by match."""
    names = state.plan.names
    incomplete = (match for match in state.plan.schedule if not state.finished.is_over(match.id))
    for match in islice(incomplete, _MOST_MATCHES):
        one, two = match.bots
        words = f"match {match.id} ({names[one]} vs {names[two]})"
        played = _numbers(state, match)
        yield f"{_gaps_text(played, match.length)} of {words}" if played else f"all of {words}"
    if more := sum(1 for _ in incomplete):
        yield f"rounds of {counted(more, 'more match', 'more matches')}"


def first_missing(state: TournamentState) -> str | None:
    """The id of the first round of the plan that is missing."""
    for match in state.plan.schedule:
        if not state.finished.is_over(match.id):
            return f"{match.id}.{next(_gaps(_numbers(state, match), match.length))[0]}"
    return None


def _numbers(state: TournamentState, match: PlannedMatch) -> list[int]:
    """The numbers of the finished rounds of a match, of which all are in the plan."""
    return sorted(int(id.rpartition(".")[2]) for id in state.finished.under_way(match.id))


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
