"""How a round ends, what it scores, and a match as the sum of its rounds."""

import enum
from collections.abc import Sequence

import attrs

from engine.cards import SEATS, Seat, other
from engine.ruleset import Begins, RuleSet

WIN_POINTS = 5
_STONES_TO_WIN = 5


class Ending(enum.Enum):
    FIVE_STONES = "five-stones"
    THREE_ADJACENT = "three-adjacent"
    BLOCKED = "blocked"
    ILLEGAL_MOVE = "illegal-move"
    MALFORMED = "malformed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    FAILED_TO_START = "failed-to-start"
    DISCONNECTED = "disconnected"
    OUT_OF_MEMORY = "out-of-memory"
    OUT_OF_CPU = "out-of-cpu"
    OUT_OF_PROCESSES = "out-of-processes"

    @property
    def is_fault(self) -> bool:
        """Ended by a bot's failure, not by the rules."""
        return self not in (Ending.FIVE_STONES, Ending.THREE_ADJACENT, Ending.BLOCKED)


@attrs.frozen
class Outcome:
    winner: Seat | None
    ending: Ending
    points: tuple[int, int]
    owners: tuple[Seat | None, ...]

    @staticmethod
    def of(winner: Seat | None, ending: Ending, owners: Sequence[Seat | None]) -> "Outcome":
        """The winner scores five, everybody else one for each stone held."""
        a, b = (WIN_POINTS if seat == winner else owners.count(seat) for seat in SEATS)
        return Outcome(winner, ending, (a, b), tuple(owners))


def won_by_stones(owners: Sequence[Seat | None], seat: Seat) -> Ending | None:
    """How the seat has won with the stones that it holds; None if they are not enough."""
    held = sum(1 << stone for stone, owner in enumerate(owners) if owner == seat)
    if held & held >> 1 & held >> 2:
        return Ending.THREE_ADJACENT
    return Ending.FIVE_STONES if held.bit_count() >= _STONES_TO_WIN else None


@attrs.frozen
class Score:
    """Where a match stands: points by seat, rounds played, and who begins the next one."""

    rules: RuleSet
    first: Seat
    points: tuple[int, int] = (0, 0)
    rounds: int = 0

    def after(self, outcome: Outcome) -> "Score":
        a, b = (had + won for had, won in zip(self.points, outcome.points, strict=True))
        return attrs.evolve(
            self, first=next_first(self.rules, self.first, outcome.winner), points=(a, b), rounds=self.rounds + 1
        )

    @property
    def leader(self) -> Seat | None:
        """Who has more points; None when they are equal, which at the end draws the match."""
        a, b = self.points
        return None if a == b else SEATS[b > a]


def next_first(rules: RuleSet, first: Seat, winner: Seat | None) -> Seat:
    """Who begins after a round that `first` began. A drawn round has no winner to begin: then they alternate."""
    if rules.begins is Begins.WINNER and winner is not None:
        return winner
    return other(first)
