"""The claim proof against a plain enumeration of all completions and all readings."""

from itertools import combinations, pairwise, product

from hypothesis import event, given, settings
from hypothesis import strategies as st

from engine.cards import ALL_CLAN_MASK, CARD_TEXTS, CLAN_CARDS, COLOURS, JOKER, SHIELD_BEARER, SPY, Card
from engine.formations import formation_and_total, side_strength
from engine.game import Game
from engine.proof import can_still_beat
from tests.positions import _cards
from tests.walks import positions

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


def plainly_beatable(
    side: tuple[Card, ...], needs: int, blind: bool, unseen: list[Card], target: tuple[int, int]
) -> bool:
    missing = needs - len(side)
    return any(plain_best((*side, *cards), blind) > target for cards in combinations(unseen, missing))


@st.composite
def stones(draw: st.DrawFn) -> tuple[tuple[Card, ...], tuple[Card, ...], int, bool, list[Card]]:
    """(claimant's side, opposing side, cards needed, blind, unseen cards), small enough to enumerate."""
    needs = draw(st.sampled_from((3, 3, 4)))
    blind = draw(st.booleans()) and draw(st.booleans())
    cards = draw(st.permutations([*CLAN_CARDS]))
    wild = draw(st.permutations([JOKER, SPY, SHIELD_BEARER]))
    there = draw(st.integers(0, needs - 1))
    wild_theirs = draw(st.integers(0, min(there, 2)))
    wild_mine = draw(st.integers(0, 1))
    # Cards of few colours and near values, so that runs and colours really are close to possible.
    if draw(st.booleans()):
        cards = sorted(cards, key=lambda card: (card // 9 > 1, card in cards[:20]))
    mine = (*cards[: needs - wild_mine], *wild[:wild_mine])
    clan_theirs = cards[needs : needs + there - wild_theirs]
    theirs = (*clan_theirs, *wild[wild_mine : wild_mine + wild_theirs])
    missing = needs - there
    most = {1: 40, 2: 24, 3: 14, 4: 11}[missing] if wild_theirs < 2 else 8
    rest = cards[needs + there - wild_theirs :]
    unseen = rest[: draw(st.integers(0, most))]
    event(f"missing {missing} of {needs}, wild {wild_theirs}")
    return mine, theirs, needs, blind, unseen


@settings(max_examples=400, deadline=None)
@given(stones())
def test_the_proof_equals_a_plain_enumeration(
    stone: tuple[tuple[Card, ...], tuple[Card, ...], int, bool, list[Card]],
) -> None:
    mine, theirs, needs, blind, unseen = stone
    target = side_strength(mine, blind)
    assert tuple(map(int, formation_and_total(target))) == plain_best(mine, blind)
    mask = sum(1 << card for card in unseen)
    assert can_still_beat(theirs, needs, blind, mask, target) == plainly_beatable(
        theirs, needs, blind, unseen, plain_best(mine, blind)
    )


def test_against_an_empty_side_every_strength_is_judged_like_the_enumeration() -> None:
    """All 24,804 completions of an empty side, and every strength there is as a target."""
    unseen = [card for card in CLAN_CARDS if card % 7 != 3]
    mask = sum(1 << card for card in unseen)
    strongest = max(plain_best(cards, blind=False) for cards in combinations(unseen, 3))
    for cards in combinations(CLAN_CARDS, 3):
        target = side_strength(cards, blind=False)
        beatable = strongest > tuple(map(int, formation_and_total(target)))
        assert can_still_beat((), 3, False, mask, target) is beatable


def test_an_empty_side_of_a_four_card_stone_can_still_become_anything() -> None:
    best = side_strength(_cards(["r6", "r7", "r8", "r9"]), blind=False)
    second = side_strength(_cards(["r5", "r6", "r7", "r8"]), blind=False)
    assert not can_still_beat((), 4, False, ALL_CLAN_MASK, best)
    assert can_still_beat((), 4, False, ALL_CLAN_MASK, second)


@settings(max_examples=40, deadline=None)
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
            assert can_still_beat(theirs, needs, blind, game.unseen, target) == plainly_beatable(
                theirs, needs, blind, unseen, plain_best(mine, blind)
            )
