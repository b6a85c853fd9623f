"""The claim proof against a plain enumeration of all completions and all readings."""

import random
from itertools import combinations, pairwise, product

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from engine.cards import ALL_CLAN_MASK, CARD_TEXTS, CLAN_CARDS, COLOURS, JOKER, SHIELD_BEARER, SPY, Card
from engine.formations import Formation, Strength, formation_and_total, side_strength, strength
from engine.game import Game
from engine.proof import beating_cards, can_still_beat
from tests.helpers.positions import cards as cards_of
from tests.helpers.walks import positions

# Cards as plain (colour, value) pairs, formations straight from the rules: nothing shared with the engine.
Face = tuple[str, int]
READINGS: dict[str, list[Face]] = {
    "joker": [(c, v) for c in COLOURS for v in range(1, 10)],
    "spy": [(c, 7) for c in COLOURS],
    "shield-bearer": [(c, v) for c in COLOURS for v in (1, 2, 3)],
}
RANKS = ["sum", "run", "colour", "of a kind", "colour-run"]


def faces(card: Card) -> list[Face]:
    text = CARD_TEXTS[card]
    return READINGS.get(text) or [(text[0], int(text[1]))]


def plain_rank(side: tuple[Face, ...], blind: bool) -> tuple[int, int]:
    colours = {colour for colour, _ in side}
    values = sorted(value for _, value in side)
    total = sum(values)
    run = all(b - a == 1 for a, b in pairwise(values))
    if blind:
        return RANKS.index("sum"), total
    if run and len(colours) == 1:
        return RANKS.index("colour-run"), total
    if len(set(values)) == 1:
        return RANKS.index("of a kind"), total
    if len(colours) == 1:
        return RANKS.index("colour"), total
    return (RANKS.index("run") if run else RANKS.index("sum")), total


def plain_best(side: tuple[Card, ...], blind: bool) -> tuple[int, int]:
    return max(plain_rank(reading, blind) for reading in product(*map(faces, side)))


def strongest_completion(side: tuple[Card, ...], needs: int, blind: bool, unseen: list[Card]) -> Strength | None:
    """Plainly: every completion in every reading; None where too few cards are unseen."""
    completions = [(*side, *more) for more in combinations(unseen, needs - len(side))]
    if not completions:
        return None
    rank, total = max(plain_best(completion, blind) for completion in completions)
    return strength(Formation(rank), total)


Partial = tuple[tuple[Card, ...], int, bool, list[Card]]


@st.composite
def partial_sides(draw: st.DrawFn) -> Partial:
    """(side, cards needed, blind, unseen cards), small enough to enumerate."""
    needs = draw(st.sampled_from((3, 3, 4)))
    blind = draw(st.sampled_from((False, False, False, True)))
    pile = draw(st.permutations(CLAN_CARDS))
    if draw(st.booleans()):  # few colours, so that runs and colours really come up
        pile = sorted(pile, key=lambda card: card // 9 in draw(st.just((0, 1, 2, 3))))
    there = draw(st.integers(0, needs - 1))
    wild = draw(st.permutations([JOKER, SPY, SHIELD_BEARER]))[: draw(st.integers(0, min(there, 2)))]
    side = (*pile[: there - len(wild)], *wild)
    rest = pile[there - len(wild) :]
    most = {1: 40, 2: 20, 3: 12, 4: 11}[needs - there] if len(wild) < 2 else 6
    unseen = rest[: draw(st.integers(0, most))]
    event(f"{needs - there} missing of {needs}, {len(wild)} wild")
    return side, needs, blind, unseen


@settings(max_examples=500)
@given(partial_sides())
def test_the_proof_is_exact_to_the_point(partial: Partial) -> None:
    """What is as strong as the strongest completion is proven; what is one point weaker is not."""
    side, needs, blind, unseen = partial
    mask = sum(1 << card for card in unseen)
    best = strongest_completion(side, needs, blind, unseen)
    if best is None:
        assert not can_still_beat(side, needs, blind, mask, Strength(0))
    else:
        assert not can_still_beat(side, needs, blind, mask, best)
        assert can_still_beat(side, needs, blind, mask, Strength(best - 1))


@settings(max_examples=500)
@given(partial_sides(), st.integers(1, 400))
def test_the_cards_that_beat_a_side_are_unseen_and_suffice(partial: Partial, weaker: int) -> None:
    """So a stone that could not be proven cannot be proven before one of them is seen."""
    side, needs, blind, unseen = partial
    mask = sum(1 << card for card in unseen)
    best = strongest_completion(side, needs, blind, unseen)
    if best is not None:
        target = Strength(max(-1, best - weaker))
        cards = beating_cards(side, needs, blind, mask, target)
        assert cards
        assert cards & ~mask == 0
        alone = strongest_completion(side, needs, blind, [card for card in unseen if cards >> card & 1])
        assert alone is not None
        assert alone > target


@given(
    st.lists(st.sampled_from([*CLAN_CARDS, JOKER, SPY, SHIELD_BEARER]), min_size=3, max_size=4, unique=True),
    st.booleans(),
)
def test_a_complete_side_is_as_strong_as_its_best_reading(side: list[Card], blind: bool) -> None:
    formation, total = formation_and_total(side_strength(side, blind))
    assert (int(formation), total) == plain_best(tuple(side), blind)


def test_against_an_empty_side_every_single_card_matters() -> None:
    """The strongest completion of an empty side, with one card after the other becoming seen."""
    rng = random.Random(5)
    unseen = list(CLAN_CARDS)
    rng.shuffle(unseen)
    while unseen:
        mask = sum(1 << card for card in unseen)
        best = strongest_completion((), 3, False, unseen) if len(unseen) < 40 else None
        if best is not None:
            assert not can_still_beat((), 3, False, mask, best)
            assert can_still_beat((), 3, False, mask, Strength(best - 1))
        unseen.pop()


@pytest.mark.parametrize("colour", range(6))
def test_every_colour_counts_against_an_empty_side(colour: int) -> None:
    cards = [Card(9 * colour + value) for value in (6, 7, 8)]
    mask = sum(1 << card for card in cards)
    assert can_still_beat((), 3, False, mask, Strength(side_strength(cards, blind=False) - 1))
    assert not can_still_beat((), 3, False, mask & ~(1 << cards[0]), Strength(0))


def test_an_empty_side_of_a_four_card_stone_can_still_become_anything() -> None:
    best = side_strength(cards_of(["r6", "r7", "r8", "r9"]), blind=False)
    second = side_strength(cards_of(["r5", "r6", "r7", "r8"]), blind=False)
    assert not can_still_beat((), 4, False, ALL_CLAN_MASK, best)
    assert can_still_beat((), 4, False, ALL_CLAN_MASK, second)


@settings(max_examples=40)
@given(positions())
def test_claims_in_real_positions_agree_with_the_enumeration(game: Game) -> None:
    unseen = [card for card in CLAN_CARDS if game.unseen >> card & 1]
    for stone in range(9):
        for seat in (0, 1):
            mine, theirs = game.sides[seat][stone], game.sides[1 - seat][stone]
            needs = game.needs[stone]
            missing = needs - len(theirs)
            if len(mine) < needs or missing < 1 or len(unseen) ** missing > 30_000:
                continue
            blind = any(CARD_TEXTS[card] == "blind-mans-bluff" for card in game.modes[stone])
            target = side_strength(mine, blind)
            best = strongest_completion(theirs, needs, blind, unseen)
            beatable = best is not None and best > target
            assert can_still_beat(theirs, needs, blind, game.unseen, target) is beatable
