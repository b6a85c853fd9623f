"""The strength of a complete side of a stone, including wild cards.

A wild card can stand for any colour, so the strength of a side depends on two things only: its values, and whether its
clan cards share a colour. Finding the best reading is therefore a search over at most 9 x 3 values.
"""

import enum
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Final, NewType

from engine.cards import (
    CLAN_CARDS,
    COLOURS,
    ELITE_TROOPS,
    JOKER,
    SHIELD_BEARER,
    SPY,
    VALUES,
    Card,
    colour_of,
    is_clan,
    value_of,
)

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
    """The formation and the total that make this strength."""
    formation, total = divmod(value, _TOTALS_PER_FORMATION)
    return Formation(formation), total


# What a card adds to the profile of its side, which does not depend on the order of the cards: the number of cards of
# each value, three bits per value, then the number of each wild card, two bits each.
_PROFILES: Final = (
    *(1 << 3 * (value_of(card) - 1) for card in CLAN_CARDS),
    *(1 << 27 + 2 * place for place in range(len(ELITE_TROOPS))),
)
_ANY_COLOUR: Final = (1 << len(COLOURS)) - 1
# The colours that a card allows the whole side to have, as bits.
_COLOURS_ALLOWED: Final = (
    *(1 << colour_of(card) for card in CLAN_CARDS),
    *(_ANY_COLOUR for _ in ELITE_TROOPS),
)


def profile_of(side: Iterable[Card]) -> tuple[int, int]:
    """The profile of a side, and the colours that it may have as a whole, as bits."""
    profile, colours = 0, _ANY_COLOUR
    for card in side:
        profile += _PROFILES[card]
        colours &= _COLOURS_ALLOWED[card]
    return profile, colours


def profiled(profile: int) -> tuple[list[int], list[Card]]:
    """The values of the clan cards and the wild cards of a side with this profile."""
    values = [value for value in VALUES for _ in range(profile >> 3 * (value - 1) & 7)]
    wild = [card for place, card in enumerate(ELITE_TROOPS) for _ in range(profile >> 27 + 2 * place & 3)]
    return values, wild


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
    profile, colours = profile_of(side)
    return _strength(profile, colours != 0)


@cache  # there are some 2,000
def _strength(profile: int, coloured: bool) -> Strength:
    values, wild = profiled(profile)
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
