"""The claim proof: can an incomplete side still beat a given strength, from what is visible?

Enumerating completions would be plain but slow (316,251 of them for an empty side of a four-card stone).
Instead each kind of formation is asked for directly, strongest first, against `unseen`, the bit mask of the
clan cards that lie face up nowhere:

- a colour-run or a run needs certain values: few enough to list, strongest first, and scan;
- alike needs enough unseen cards of one value;
- a colour and a sum are best made of the highest unseen cards (of that colour).

This is exact although the kinds overlap. Every candidate is a real completion, at least as strong as it is
counted here; and the strongest completion of each kind is among the candidates of that kind, or a stronger
one is found in its place. So some candidate beats the strength exactly when some completion does.
`tests/test_engine_proof.py` compares it with the enumeration.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import Final

import attrs

from engine.cards import COLOURS, VALUES, Card, colour_of, is_clan
from engine.formations import (
    WILD_VALUES,
    Formation,
    Strength,
    clan_values,
    highest_total,
    one_colour,
    strength,
    wild_cards,
)

_COLOUR_BITS: Final = (1 << 9) - 1
_ALL_COLOURS: Final = tuple(range(len(COLOURS)))
_VALUE_MASKS: Final = tuple(sum(1 << 9 * c + v - 1 for c in _ALL_COLOURS) for v in VALUES)


def _top_totals() -> tuple[tuple[int, ...], ...]:
    """[count][bits of one colour] -> the sum of the `count` highest values in it, -1 if it holds fewer."""
    tables = [[0] * 512]
    for _ in range(4):
        rest = tables[-1]
        table = [-1] * 512
        for bits in range(1, 512):
            top = bits.bit_length()
            below = rest[bits ^ (1 << top - 1)]
            table[bits] = top + below if below >= 0 else -1
        tables.append(table)
    return tuple(map(tuple, tables))


_TOP_TOTALS: Final = _top_totals()


@attrs.frozen
class _Hopes:
    """What a partial side can still become, each list strongest first."""

    colour_runs: tuple[tuple[Strength, int], ...]  # with the mask of the cards needed
    alike: tuple[tuple[Strength, int], ...]  # with the mask of that value
    colours: tuple[int, ...]
    runs: tuple[tuple[Strength, int], ...]  # with the nine bits of the values needed
    total: int  # of the cards that lie there


@lru_cache(maxsize=1 << 14)  # every side of one or two clan cards fits; a miss costs some 20 microseconds
def _hopes(side: tuple[Card, ...], missing: int) -> _Hopes:
    values, wild = clan_values(side), wild_cards(side)
    needs = len(side) + missing
    colours = tuple({colour_of(card) for card in side if is_clan(card)}) or _ALL_COLOURS
    colours = colours if one_colour(side) else ()
    runs = _runs(values, wild, needs)
    alike = [
        value
        for value in reversed(VALUES)
        if all(v == value for v in values) and all(value in WILD_VALUES[card] for card in wild)
    ]
    return _Hopes(
        colour_runs=tuple(
            (strength(Formation.COLOUR_RUN, total), bits << 9 * colour) for total, bits in runs for colour in colours
        ),
        alike=tuple((strength(Formation.ALIKE, v * needs), _VALUE_MASKS[v - 1]) for v in alike),
        colours=colours,
        runs=tuple((strength(Formation.RUN, total), bits) for total, bits in runs),
        total=highest_total(side),
    )


def _runs(values: Sequence[int], wild: Sequence[Card], needs: int) -> list[tuple[int, int]]:
    """(total, bits of the values still needed) of each run the side fits into, highest first."""
    found = []
    for low in range(10 - needs, 0, -1):
        span = range(low, low + needs)
        gaps = set(span) - set(values)
        if len(gaps) != needs - len(values):
            continue  # a value repeats or lies outside
        fillings = {
            frozenset(gaps.difference(taken))
            for taken in permutations(gaps, len(wild))
            if all(value in WILD_VALUES[card] for value, card in zip(taken, wild, strict=True))
        }
        found += [(sum(span), sum(1 << v - 1 for v in filling)) for filling in fillings]
    return found


def can_still_beat(side: tuple[Card, ...], needs: int, blind: bool, unseen: int, target: Strength) -> bool:
    """Whether unseen clan cards can make the incomplete `side` strictly stronger than `target`."""
    missing = needs - len(side)
    if unseen.bit_count() < missing:
        return False
    if blind:
        return strength(Formation.SUM, highest_total(side) + _top_total(unseen, missing)) > target
    hopes = _hopes(side, missing)
    for hoped, cards in hopes.colour_runs:
        if hoped <= target:
            return False  # and all that follows is weaker still
        if cards & unseen == cards:
            return True
    for hoped, cards in hopes.alike:
        if hoped <= target:
            return False
        if (cards & unseen).bit_count() >= missing:
            return True
    for colour in hopes.colours:
        top = _TOP_TOTALS[missing][unseen >> 9 * colour & _COLOUR_BITS]
        if top >= 0 and strength(Formation.COLOUR, hopes.total + top) > target:
            return True
    if target >= _STRONGEST_RUN:
        return False
    present = _values_in(unseen)
    for hoped, values in hopes.runs:
        if hoped <= target:
            return False
        if values & present == values:
            return True
    return strength(Formation.SUM, hopes.total + _top_total(unseen, missing)) > target


_STRONGEST_RUN: Final = strength(Formation.COLOUR, 0)  # no run, and no sum, reaches a colour


def _values_in(cards: int) -> int:
    """Nine bits: the values of which at least one card is there."""
    cards |= cards >> 27
    return (cards | cards >> 9 | cards >> 18) & _COLOUR_BITS


def _top_total(cards: int, count: int) -> int:
    """The sum of the `count` highest values; there are at least that many cards."""
    total = 0
    for value in reversed(VALUES):
        there = min(count, (cards & _VALUE_MASKS[value - 1]).bit_count())
        total += there * value
        count -= there
        if not count:
            break
    return total
