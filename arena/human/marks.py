"""What is new on a board since it was shown last. Pure."""

from collections import Counter

from arena.replay.movements import Movement, places_of
from engine.position import Position


def newly_placed(before: Position | None, after: Position) -> tuple[Movement, ...]:
    """A movement for each card that lies where it did not lie before, so that the board marks it. Where it came from is
    not known, and does not matter for that."""
    if before is None:
        return ()
    was = places_of(before)
    return tuple(
        Movement(card, "", 0, card, place, 0)
        for place, cards in places_of(after).items()
        if place not in ("deck", "tactics", "hand1")
        for card in (Counter(cards) - Counter(was[place])).elements()
    )
