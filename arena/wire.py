"""The engine's words as the protocol's messages: the only place that knows both."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import cast

from engine.actions import Action
from engine.cards import CARD_TEXTS, Card, Seat
from engine.scoring import Outcome
from engine.view import View, text_for_opponent
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


def game_state(seen: View, match_points: messages.Points) -> messages.GameState:
    seat = seen.seat
    return messages.GameState(
        hand=card_texts(seen.hand),
        stones=tuple(
            [
                messages.StoneState(
                    card_texts(stone.yours),
                    card_texts(stone.theirs),
                    side_of(stone.owner, seat),
                    stone.needs,
                    card_texts(stone.modes),
                    side_of(stone.complete_first, seat),
                )
                for stone in seen.stones
            ]
        ),
        decks=messages.CardCounts(seen.clan_deck, seen.tactic_deck),
        opponent_hand=messages.CardCounts(seen.opponent_hand.clan, seen.opponent_hand.tactic),
        discard=card_texts(seen.discard),
        tactics_played=messages.TacticsPlayed(card_texts(seen.your_tactics), card_texts(seen.their_tactics)),
        recruiter=messages.Recruiter(seen.draws_left, seen.returns_left) if seen.returns_left else None,
        points=match_points,
    )


def events(happened: Iterable[tuple[Seat, Action]], seat: Seat) -> tuple[messages.Event, ...]:
    """What was done, as this seat hears of it."""
    return tuple(
        [
            messages.Event("you", action.text) if by == seat else messages.Event("opponent", text_for_opponent(action))
            for by, action in happened
        ]
    )


def request(
    number: int,
    seen: View,
    legal: Sequence[Action],
    happened: Iterable[tuple[Seat, Action]],
    match_points: messages.Points,
    clock: messages.Clock,
) -> messages.Request:
    """Pass no legal actions for a bot that does not want them."""
    return messages.Request(
        id=number,
        phase=cast(messages.Phase, seen.phase.value),
        legal=tuple([action.text for action in legal]),
        state=game_state(seen, match_points),
        events=events(happened, seen.seat),
        clock=clock,
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
