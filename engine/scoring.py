"""How a round ends, what it scores, and a match as the sum of its rounds."""

import enum
from collections.abc import Sequence

import attrs

from engine.cards import SEATS, Seat, other
from engine.ruleset import Begins, RuleSet

WIN_POINTS = 5
_STONES_TO_WIN = 5
_ADJACENT_TO_WIN = 3


class Ending(enum.Enum):
    """How the rules end a round."""

    FIVE_STONES = "five-stones"
    THREE_ADJACENT = "three-adjacent"
    BLOCKED = "blocked"


class Forfeit(enum.Enum):
    """Why a round ended before the rules ended it. The rules define no such reasons: a program that stages rounds
    defines its own in a subclass."""


@attrs.frozen
class Outcome:
    """How a round ended: its winner, None for a draw; the points by seat; the owners of the stones, left to right."""

    winner: Seat | None
    ending: Ending | Forfeit
    points: tuple[int, int]
    owners: tuple[Seat | None, ...]

    @staticmethod
    def of(winner: Seat | None, ending: Ending | Forfeit, owners: Sequence[Seat | None]) -> "Outcome":
        """The outcome with its points: five for the winner; for any other player, one for each stone held."""
        a, b = (WIN_POINTS if seat == winner else owners.count(seat) for seat in SEATS)
        return Outcome(winner, ending, (a, b), tuple(owners))


def won_by_stones(owners: Sequence[Seat | None], seat: Seat) -> Ending | None:
    """How the seat has won with the stones that it holds; None if they are not enough."""
    if owners.count(seat) < _ADJACENT_TO_WIN:
        return None  # as after most claims
    held = sum(1 << stone for stone, owner in enumerate(owners) if owner == seat)
    if held & held >> 1 & held >> 2:
        return Ending.THREE_ADJACENT
    return Ending.FIVE_STONES if held.bit_count() >= _STONES_TO_WIN else None


@attrs.frozen
class Score:
    """The score of a match: the points by seat, and the seat that begins the next round."""

    rules: RuleSet
    first: Seat
    points: tuple[int, int] = (0, 0)

    def begun_by(self, seat: Seat | None) -> "Score":
        """The same score, but `seat` begins the next round, as a schedule says; None leaves that to the rules."""
        return self if seat is None else Score(self.rules, seat, self.points)

    def after(self, outcome: Outcome) -> "Score":
        """The score after another round. A drawn round has no winner to begin the next one, so players alternate."""
        a, b = (had + won for had, won in zip(self.points, outcome.points, strict=True))
        winner = outcome.winner if self.rules.begins is Begins.WINNER else None
        return Score(self.rules, other(self.first) if winner is None else winner, (a, b))

    @property
    def leader(self) -> Seat | None:
        """The seat with more points, which at the end has won the match; None, a draw, if they are equal."""
        a, b = self.points
        return None if a == b else SEATS[b > a]
