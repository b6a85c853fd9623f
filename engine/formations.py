"""The strength of a complete side of a stone, including wild cards.

A wild card can stand for any colour, so the strength of a side depends on two things only: its values, and whether its
clan cards share a colour. Finding the best reading is therefore a search over at most 9 x 3 values.
"""

import enum
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final, NewType

from engine.cards import JOKER, SHIELD_BEARER, SPY, Card, colour_of, is_clan, value_of

Strength = NewType("Strength", int)

INCOMPLETE: Final = Strength(-1)


class Formation(enum.IntEnum):
    """The kinds of formation, weakest first, so that comparing members compares formations."""

    SUM = 0
    RUN = 1
    COLOUR = 2
    ALIKE = 3
    COLOUR_RUN = 4


WILD_VALUES: Final[dict[Card, Sequence[int]]] = {
    JOKER: range(1, 10),
    SPY: (7,),
    SHIELD_BEARER: (1, 2, 3),
}

_TOTALS_PER_FORMATION: Final = 64  # more than the largest total, four nines


def strength(formation: Formation, total: int) -> Strength:
    """A formation and its total as one int, which orders by formation first, then by total."""
    return Strength(formation * _TOTALS_PER_FORMATION + total)


def formation_and_total(value: Strength) -> tuple[Formation, int]:
    formation, total = divmod(value, _TOTALS_PER_FORMATION)
    return Formation(formation), total


def clan_values(side: Iterable[Card]) -> list[int]:
    return [value_of(card) for card in side if is_clan(card)]


def wild_cards(side: Iterable[Card]) -> list[Card]:
    return [card for card in side if not is_clan(card)]


def one_colour(side: Iterable[Card]) -> bool:
    """Whether the clan cards of `side` share a colour; also true if there are none."""
    return len({colour_of(card) for card in side if is_clan(card)}) <= 1


def highest_total(side: Iterable[Card]) -> int:
    """The total of the cards, with each wild card at its highest value."""
    return sum(value_of(card) if is_clan(card) else WILD_VALUES[card][-1] for card in side)


def side_strength(side: Sequence[Card], blind: bool) -> Strength:
    """The strength of a complete side in its best reading. `blind`: Blind-Man's Bluff lies on the stone."""
    if blind:
        return strength(Formation.SUM, highest_total(side))
    values = clan_values(side)
    coloured = one_colour(side)
    wild = wild_cards(side)
    if not wild:
        return _strength_of_values(values, coloured)
    readings = product(*(WILD_VALUES[card] for card in wild))
    return max(_strength_of_values([*values, *reading], coloured) for reading in readings)


def _strength_of_values(values: list[int], coloured: bool) -> Strength:
    low, high, distinct = min(values), max(values), len(set(values))
    if distinct == len(values) == high - low + 1:
        formation = Formation.COLOUR_RUN if coloured else Formation.RUN
    elif distinct == 1:
        formation = Formation.ALIKE
    elif coloured:
        formation = Formation.COLOUR
    else:
        formation = Formation.SUM
    return strength(formation, sum(values))
