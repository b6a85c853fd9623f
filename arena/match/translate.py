"""The engine's facts as parts of the protocol's messages, as one seat sees them. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.cards import SEATS, Seat
from engine.scoring import Outcome
from protocol import messages


def seat_number(seat: int) -> messages.Seat:
    """The seat as messages show it."""
    return 0 if seat == SEATS[0] else 1


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


def round_end(
    number: int, outcome: Outcome, seat: Seat, deals: Sequence[messages.RevealedDeal], last: messages.EncodedNews
) -> messages.RoundEnd:
    return messages.RoundEnd(
        round=number,
        result=result(outcome.winner, seat),
        ending=outcome.ending.value,
        points=points(outcome.points, seat),
        stones=tuple(side_of(owner, seat) for owner in outcome.owners),
        deals=tuple(deals),
        state=_encoded(last.state),
        events=_encoded(last.events),
    )


def _encoded(text: str) -> Any:
    """A field that is JSON already: the encoder copies it."""
    return msgspec.Raw(text.encode())
