"""What an evaluator thinks of a round: a curve of expected results, and the decisions that lost most. Pure.

The curve has a value for each position. It changes by decisions and by luck, because a card that is drawn is a surprise
to its player. So a decision is not judged by the curve: it is compared with the other actions that were legal, before
anything is drawn, and from the view of the seat that decided. An action that was the only legal one is not a decision.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import attrs

from arena.evaluation.evaluator import Evaluator
from arena.replay.positions import Replay
from engine.actions import Action
from engine.cards import SEATS, Seat
from engine.game import Game
from engine.position import Position

_NOTABLE: Final = 0.05  # the least loss of a decision that is marked
_MARKED: Final = 3  # decisions of each seat


@attrs.frozen
class JudgedDecision:
    """A decision and what the evaluator thinks of it, from the view of the seat that made it."""

    number: int  # of the position that it led to
    seat: int
    move: str
    expected: float  # result for the seat after this move
    best: str  # what the evaluator would have played
    best_expected: float  # result after that

    @property
    def loss(self) -> float:
        return self.best_expected - self.expected


@attrs.frozen
class Analysis:
    """The evaluation of a round. Each curve has a value for every position of its replay."""

    evaluator: str  # whose opinion it is
    both: tuple[float, ...] | None  # as seat 0 can expect, if both hands are known; None in the view of one seat
    own: tuple[tuple[float, ...] | None, tuple[float, ...] | None]  # as each seat can expect from what it sees
    decisions: tuple[JudgedDecision, ...]  # in their order

    def curve(self, view: int | None) -> tuple[float, ...]:
        """The curve of a view: that of a seat, or None for both hands, whose curve is the expectation of seat 0."""
        found = self.both if view is None else self.own[view]
        if found is None:
            raise ValueError("this view was left out")
        return found

    def seen_by(self, seat: int) -> "Analysis":
        """Without what the seat could not know: the other's expectations and what the other could have played."""
        own = (self.own[0], None) if seat == 0 else (None, self.own[1])
        mine = tuple(each for each in self.decisions if each.seat == seat)
        return attrs.evolve(self, both=None, own=own, decisions=mine)

    def worst(self) -> tuple[JudgedDecision, ...]:
        """The decisions to mark, in their order: those of each seat that lost most."""
        found = [each for seat in SEATS for each in worst(self._of(seat), _MARKED) if each.loss >= _NOTABLE]
        return tuple(sorted(found, key=lambda each: each.number))

    def at(self, number: int) -> JudgedDecision | None:
        """The decision that led to the position of this number, if it was one."""
        place = bisect_left(self.decisions, number, key=lambda each: each.number)
        found = self.decisions[place : place + 1]
        return found[0] if found and found[0].number == number else None

    def _of(self, seat: Seat) -> list[JudgedDecision]:
        return [each for each in self.decisions if each.seat == seat]


def worst(decisions: Iterable[JudgedDecision], most: int) -> list[JudgedDecision]:
    """The decisions that lost most, the worst first; of equal ones the earlier first."""
    return sorted(decisions, key=lambda each: (-each.loss, each.number))[:most]


def analyse(replay: Replay, evaluator: Evaluator) -> Analysis:
    """Evaluate a round, of which `replay` must show everything."""
    assert replay.view is None
    first, second = SEATS
    own = (_curve(replay, first, evaluator), _curve(replay, second, evaluator))
    return Analysis(evaluator.name, _curve(replay, None, evaluator), own, tuple(_decisions(replay, evaluator)))


def _curve(replay: Replay, view: Seat | None, evaluator: Evaluator) -> tuple[float, ...]:
    seat = SEATS[0] if view is None else view
    result = 0.5 if replay.winner is None else float(replay.winner == seat)
    positions = [step.position for step in replay.steps]
    return tuple(
        [result if each.decides is None else evaluator.expected(_seen(each, view), seat) for each in positions]
    )


def _seen(position: Position, view: Seat | None) -> Position:
    """What an evaluator gets to see: never the decks."""
    return attrs.evolve(position.seen_by(view), hands=position.hands) if view is None else position.seen_by(view)


def _decisions(replay: Replay, evaluator: Evaluator) -> Iterator[JudgedDecision]:
    for before, step in zip(replay.steps, replay.steps[1:], strict=False):
        if step.move is not None:
            legal = Game.from_position(before.position).legal_actions()
            if found := judged(evaluator, before.position, legal, step.move, step.number):
                yield found


def judged(
    evaluator: Evaluator, position: Position, legal: Sequence[Action], move: str, number: int
) -> JudgedDecision | None:
    """What the evaluator thinks of a move; None if it was the only legal one. `number` is that of the position after
    it. The evaluator gets only what the seat could see."""
    if len(legal) < 2:
        return None
    seat = position.to_move
    opinion = evaluator.opinion(position.seen_by(seat), legal)
    return JudgedDecision(number, seat, move, opinion.expected(move), opinion.best, opinion.expected(opinion.best))
