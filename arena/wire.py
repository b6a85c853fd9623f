"""The engine's words as the protocol's messages: the only place that knows both."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import cast

from engine.actions import Action
from engine.cards import CARD_TEXTS, Card, Seat
from engine.scoring import Outcome
from engine.view import Perspective, StoneView, text_for_opponent
from protocol import messages


@lru_cache(maxsize=1 << 14)  # sides and hands come again and again; some 3 MB when full
def card_texts(cards: tuple[Card, ...]) -> tuple[str, ...]:
    return tuple([CARD_TEXTS[card] for card in cards])


def side_of(whose: Seat | None, seat: Seat) -> messages.Side | None:
    if whose is None:
        return None
    return "you" if whose == seat else "opponent"


def points(both: tuple[int, int], seat: Seat) -> messages.Points:
    return messages.Points(both[seat], both[1 - seat])


def result(winner: Seat | None, seat: Seat) -> messages.Result:
    if winner is None:
        return "draw"
    return "win" if winner == seat else "loss"


class Translator:
    """What one seat sees, as messages: each stone is translated once for each of its changes."""

    def __init__(self, perspective: Perspective, seat: Seat):
        self._perspective = perspective
        self._seat = seat
        self._known: list[StoneView | None] = [None] * 9
        self._stones: list[messages.StoneState] = [_NO_STONE] * 9

    def state(self, match_points: messages.Points) -> tuple[messages.Phase, messages.GameState]:
        seen = self._perspective.view()
        for number, stone in enumerate(seen.stones):
            if stone is not self._known[number]:
                self._known[number] = stone
                self._stones[number] = _stone_state(stone, self._seat)
        state = messages.GameState(
            card_texts(seen.hand),
            tuple(self._stones),
            messages.CardCounts(seen.clan_deck, seen.tactic_deck),
            messages.CardCounts(seen.opponent_hand.clan, seen.opponent_hand.tactic),
            card_texts(seen.discard),
            messages.TacticsPlayed(card_texts(seen.your_tactics), card_texts(seen.their_tactics)),
            messages.Recruiter(seen.draws_left, seen.returns_left) if seen.returns_left else None,
            match_points,
        )
        return cast(messages.Phase, seen.phase.value), state


_NO_STONE = messages.StoneState((), (), None, 0, (), None)


def _stone_state(stone: StoneView, seat: Seat) -> messages.StoneState:
    return messages.StoneState(
        card_texts(stone.yours),
        card_texts(stone.theirs),
        side_of(stone.owner, seat),
        stone.needs,
        card_texts(stone.modes),
        side_of(stone.complete_first, seat),
    )


def events(happened: Iterable[tuple[Seat, Action]], seat: Seat) -> tuple[messages.Event, ...]:
    """What was done, as this seat hears of it."""
    return tuple(
        [
            messages.Event("you", action.text) if by == seat else messages.Event("opponent", text_for_opponent(action))
            for by, action in happened
        ]
    )


def round_end(number: int, outcome: Outcome, seat: Seat, deals: Sequence[messages.RevealedDeal]) -> messages.RoundEnd:
    return messages.RoundEnd(
        round=number,
        result=result(outcome.winner, seat),
        ending=outcome.ending.value,
        points=points(outcome.points, seat),
        stones=tuple(side_of(owner, seat) for owner in outcome.owners),
        deals=tuple(deals),
    )
