"""What an evaluator says about a position and about a decision. Values only.

An evaluator has an *opinion*; only the rules know the truth, and only at the end of a round. Every text that shows an
opinion names the evaluator (`name`), so that nobody takes it for more.

    evaluator = bundled_evaluator()
    evaluator.expected(position.seen_by(seat), seat)      # the expected result of the round for this seat, 0 to 1
    opinion = evaluator.opinion(position.seen_by(seat), legal)
    opinion.best, opinion.expected(opinion.best)          # ("play r5 3", 0.61): what it would do, and what it expects

An evaluator uses what the position shows and nothing else: give it `seen_by(seat)` for the view of one seat, or a
position with the faces of both hands for the view of an observer. It never looks at the order of a deck.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from engine.actions import Action
from engine.cards import Seat
from engine.position import Position


@attrs.frozen
class Opinion:
    """What an evaluator thinks of a decision, from the view of the seat that has to decide."""

    best: str  # the move that the evaluator would make
    values: Mapping[str, float]  # for each legal move the expected result of the round, 0 to 1

    def expected(self, move: str) -> float:
        return self.values[move]

    def loss(self, move: str) -> float:
        """How much worse the move is than the best one."""
        return self.values[self.best] - self.values[move]


class Evaluator(Protocol):
    @property
    def name(self) -> str:
        """Whose opinion it is, for texts such as "in the opinion of NAME"."""

    def expected(self, position: Position, seat: Seat) -> float:
        """The result that the seat can expect: 1 for a won round, 0.5 for a drawn one, 0 for a lost one. The round must
        not be over."""

    def opinion(self, position: Position, legal: Sequence[Action]) -> Opinion:
        """The value of each legal action to the seat that decides. No other action has a higher value than `best`."""
