"""The claim proof: can an incomplete side still beat a given strength, from what is visible?

Enumerating completions would be simple but slow (316,251 of them for an empty side of a four-card stone).
Instead each kind of formation is tested directly, strongest first, against `unseen`, the bit mask of the
clan cards that do not lie face up anywhere:

- a colour-run or a run needs certain values: few enough to list, strongest first, and scan;
- three (or four) of a kind needs enough unseen cards of one value;
- the best colour and the best sum use the highest unseen cards (of that colour).

This is exact although the kinds overlap. Every candidate is a real completion, at least as strong as the strength
computed for it here. And the strongest completion of each kind is among the candidates of that kind, or a stronger
candidate was found before it. So some candidate beats the strength exactly when some completion does.
`tests/engine/test_proof.py` compares the result with the enumeration.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

import attrs

from engine.cards import COLOURS, VALUES, Card
from engine.formations import WILD_VALUES, Formation, Strength, highest_total, profile_of, profiled, strength

_COLOUR_BITS: Final = (1 << 9) - 1
_VALUE_MASKS: Final = tuple(sum(1 << 9 * c + v - 1 for c in range(len(COLOURS))) for v in VALUES)


def _top_totals() -> tuple[tuple[int, ...], ...]:
    """A table [count][bits of one colour] -> the sum of the `count` highest values, -1 if there are fewer cards."""
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


# Indexed by a set of allowed colours: for each colour in it, where its nine bits begin in a mask of clan cards.
_SHIFTS: Final = tuple(tuple(9 * c for c in range(len(COLOURS)) if allowed >> c & 1) for allowed in range(64))


@attrs.frozen
class _Shape:
    """The formations that the values of a partial side still allow; each list is strongest first."""

    colour_runs: tuple[tuple[Strength, int], ...]  # with the nine bits of the values needed, all of one colour
    alike: tuple[tuple[Strength, int], ...]  # with the mask of that value
    runs: tuple[tuple[Strength, int], ...]  # with the nine bits of the values needed
    total: int  # of the cards already on the side


@cache  # there are about 500, each made in some 20 microseconds when it first comes up
def _shape(profile: int, needs: int) -> _Shape:
    values, wild = profiled(profile)
    runs = _runs(values, wild, needs)
    alike = [
        value
        for value in reversed(VALUES)
        if all(v == value for v in values) and all(value in WILD_VALUES[card] for card in wild)
    ]
    return _Shape(
        colour_runs=tuple((strength(Formation.COLOUR_RUN, total), bits) for total, bits in runs),
        alike=tuple((strength(Formation.ALIKE, v * needs), _VALUE_MASKS[v - 1]) for v in alike),
        runs=tuple((strength(Formation.RUN, total), bits) for total, bits in runs),
        total=sum(values) + highest_total(wild),
    )


def _runs(values: Sequence[int], wild: Sequence[Card], needs: int) -> list[tuple[int, int]]:
    """(total, bits of the values still needed) for each run that the side fits into, highest first."""
    present = sum(1 << v - 1 for v in set(values))
    found = []
    if present.bit_count() == len(values):  # no value repeats
        for low in range(10 - needs, 0, -1):
            span = ((1 << needs) - 1) << low - 1
            if present & ~span == 0:
                total = sum(range(low, low + needs))
                found += [(total, gaps) for gaps in sorted(_filled(span & ~present, wild))]
    return found


def _filled(gaps: int, wild: Sequence[Card]) -> set[int]:
    """The gaps that remain when each wild card fills one gap: one mask for each way to fill them."""
    left = {gaps}
    for card in wild:
        left = {bits & ~(1 << v - 1) for bits in left for v in WILD_VALUES[card] if bits >> v - 1 & 1}
    return left


def can_still_beat(side: tuple[Card, ...], needs: int, blind: bool, unseen: int, target: Strength) -> bool:
    """Whether unseen clan cards can make the incomplete `side` strictly stronger than `target`."""
    return beating_cards(side, needs, blind, unseen, target) != 0


def beating_cards(side: tuple[Card, ...], needs: int, blind: bool, unseen: int, target: Strength) -> int:
    """Unseen clan cards, as a bit mask, some of which make the incomplete `side` strictly stronger than `target`; 0 if
    no cards do. As long as all of them are unseen, this stays true, whichever others are seen."""
    missing = needs - len(side)
    if unseen.bit_count() < missing:
        return 0
    if blind:
        total, cards = _highest(unseen, missing)
        return cards if strength(Formation.SUM, highest_total(side) + total) > target else 0
    profile, colours = profile_of(side)
    shape, shifts = _shape(profile, needs), _SHIFTS[colours]
    for hoped, values in shape.colour_runs:
        if hoped <= target:
            return 0  # all further candidates are weaker still
        for shift in shifts:
            if unseen >> shift & values == values:
                return values << shift
    for hoped, cards in shape.alike:
        if hoped <= target:
            return 0
        if (cards & unseen).bit_count() >= missing:
            return cards & unseen
    for shift in shifts:
        bits = unseen >> shift & _COLOUR_BITS
        top = _TOP_TOTALS[missing][bits]
        if top >= 0 and strength(Formation.COLOUR, shape.total + top) > target:
            return bits << shift
    if target >= _WEAKEST_COLOUR:
        return 0  # every run and every sum is weaker than any colour
    present = _values_in(unseen)
    for hoped, values in shape.runs:
        if hoped <= target:
            return 0
        if values & present == values:
            return values * _IN_EACH_COLOUR & unseen
    total, cards = _highest(unseen, missing)
    return cards if strength(Formation.SUM, shape.total + total) > target else 0


_WEAKEST_COLOUR: Final = strength(Formation.COLOUR, 0)
_IN_EACH_COLOUR: Final = sum(1 << 9 * c for c in range(len(COLOURS)))  # times bits of values: all cards of these values


def _values_in(cards: int) -> int:
    """The values that occur in a mask of clan cards, as nine bits."""
    cards |= cards >> 27
    return (cards | cards >> 9 | cards >> 18) & _COLOUR_BITS


def _highest(cards: int, count: int) -> tuple[int, int]:
    """The sum of the `count` highest values in a mask of at least `count` clan cards, and all cards of these values."""
    total = found = 0
    for value in reversed(VALUES):
        alike = cards & _VALUE_MASKS[value - 1]
        used = min(count, alike.bit_count())
        found |= alike
        total += used * value
        count -= used
        if not count:
            break
    return total, found
