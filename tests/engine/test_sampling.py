"""Whole games for what a seat sees: `engine.sampling`."""

import random
from collections import Counter
from itertools import permutations
from math import sqrt

import pytest
from hypothesis import given

from engine.cards import (
    CARD_TEXTS,
    CLAN_BACK,
    SEATS,
    TACTIC_BACK,
    TACTIC_DECK,
    Card,
    Seat,
    card_texts,
    cards_from_texts,
    is_clan,
)
from engine.errors import PositionError
from engine.game import Game
from engine.phase import Phase
from engine.position import Position
from engine.position_text import position_from_text, position_to_text
from engine.sampling import sample
from tests.helpers.positions import do
from tests.helpers.walks import positions, seeds

YOU, OPPONENT = SEATS
SAMPLES = 6_000


@given(positions(), seeds)
def test_a_sample_is_a_game_that_looks_the_same_to_the_seat_and_can_be_played_on(game: Game, seed: int) -> None:
    rng = random.Random(seed)
    for seat in (*SEATS, None):
        view = game.position().seen_by(seat)
        drawn = sample(view, rng)
        assert drawn.position().seen_by(seat) == view
        assert Game.from_position(drawn.position()) == drawn
        if seat == game.to_move:
            assert drawn.legal_actions() == game.legal_actions()
        while drawn.outcome is None:
            drawn.apply(rng.choice(drawn.legal_actions()))


@given(positions())
def test_nothing_is_left_to_chance_where_nothing_is_hidden(game: Game) -> None:
    assert sample(game.position(), random.Random(1)) == game


def test_samples_of_one_position_share_nothing() -> None:
    view = Game.from_text("hand r1\ntheir-hand g1").position().seen_by(YOU)
    first, second = (sample(view, random.Random(1)) for _ in range(2))
    assert first == second
    do(first, "play r1 1")
    assert sample(view, random.Random(1)) == second != first


def test_the_same_seed_gives_the_same_samples() -> None:
    view = Game.from_text("hand r1\ntheir-hand g1").position().seen_by(YOU)
    games = [[sample(view, rng) for _ in range(3)] for rng in (random.Random("7"), random.Random("7"))]
    assert games[0] == games[1]


def ending(**lines: str) -> Position:
    """A position in which all cards that the lines do not name lie on the discard."""
    named = cards_from_texts([word for cards in lines.values() for word in cards.split()])
    clan = [text for card, text in enumerate(CARD_TEXTS) if is_clan(Card(card)) and card in named]
    discard = card_texts(tuple((Counter(TACTIC_DECK) - Counter(named)).elements()))
    written = "\n".join(f"{name.replace('_', '-')} {cards}" for name, cards in lines.items())
    return position_from_text(f"rules tactics\n{written}\nface-down {' '.join(clan)}\ndiscard {' '.join(discard)}")


def _hidden(game: Game) -> tuple[tuple[Card, ...], ...]:
    """Where the cards lie that a seat may not see."""
    position = game.position()
    return *position.hands, position.clan_deck, position.tactic_deck


def _every_way(view: Position, clan: str, tactics: str) -> Counter[tuple[tuple[Card, ...], ...]]:
    """In how many ways the unseen cards, all of them told apart, make each arrangement."""
    found: Counter[tuple[tuple[Card, ...], ...]] = Counter()
    for clan_order in permutations(cards_from_texts(clan.split())):
        for tactic_order in permutations(cards_from_texts(tactics.split())):
            left = {CLAN_BACK: list(clan_order), TACTIC_BACK: list(tactic_order)}
            places = (*view.hands, view.clan_deck, view.tactic_deck)
            faces = [tuple(left[card].pop() if card in left else card for card in cards) for cards in places]
            found[(*(tuple(sorted(hand)) for hand in faces[:2]), *faces[2:])] += 1
    return found


@pytest.mark.parametrize(
    ("seat", "position", "clan", "tactics"),
    [
        (
            YOU,
            ending(hand="r1", their_hand="b1 b2", deck="b3 b4 b5", tactic_deck="joker joker spy"),
            "b1 b2 b3 b4 b5",
            "joker joker spy",
        ),
        (
            YOU,
            ending(hand="r1 traitor", their_hand="b1 joker spy", deck="b2 b3 b4", tactic_deck="joker"),
            "b1 b2 b3 b4",
            "joker joker spy",
        ),
        (None, ending(hand="r1", their_hand="b1 b2", deck="b3", tactic_deck="joker spy"), "b1 b2 b3 r1", "joker spy"),
    ],
    ids=["decks", "jokers in a hand", "what nobody may see"],
)
def test_every_order_of_the_unseen_cards_is_equally_likely(
    seat: Seat | None, position: Position, clan: str, tactics: str
) -> None:
    view = position.seen_by(seat)
    _assert_as_likely(view, _every_way(view, clan, tactics))


def _assert_as_likely(view: Position, ways: Counter[tuple[tuple[Card, ...], ...]]) -> None:
    """Compare the frequencies of samples with the number of ways, by a chi-square test that fails by chance once in
    some million runs. The generator has a seed, so it does not fail by chance at all."""
    rng = random.Random("uniform")
    found = Counter(_hidden(sample(view, rng)) for _ in range(SAMPLES))
    assert set(found) <= set(ways)
    expected = {arrangement: SAMPLES * count / ways.total() for arrangement, count in ways.items()}
    assert min(expected.values()) > 5
    chi_square = sum((found[each] - hoped) ** 2 / hoped for each, hoped in expected.items())
    degrees = len(expected) - 1
    assert chi_square < degrees + 5 * sqrt(2 * degrees) + 12


def recruited(deck: str) -> Game:
    """You have played the recruiter, and returned r1 and then r2."""
    position = ending(hand="recruiter r1 r2", their_hand="b1 spy", deck=deck, tactic_deck="joker joker")
    game = do(Game.from_position(position), "play recruiter", "draw clan", "draw clan")
    return do(game, *(["draw tactic"] if game.phase is Phase.DRAW else []), "return r1", "return r2")


def test_a_seat_knows_what_it_returned_until_it_is_drawn() -> None:
    game = do(recruited("b2 b3 b4 b5 b6"), "draw clan", "play b1 1", "draw clan", "play b2 1", "draw clan")
    r1, r2 = cards_from_texts(["r1", "r2"])
    assert game.position().seen_by(YOU).clan_deck == (r1, r2)
    assert game.position().seen_by(OPPONENT).clan_deck == (CLAN_BACK, CLAN_BACK)
    assert all(game.position().seen_by(seat).returned == ((CLAN_BACK, CLAN_BACK), ()) for seat in (*SEATS, None))
    do(game, "play b5 1", "draw clan")  # the opponent draws r1
    assert game.position().seen_by(YOU).clan_deck == (r2,)
    assert game.position().seen_by(OPPONENT).clan_deck == (CLAN_BACK,)
    assert game.position().returned == ((CLAN_BACK,), ())


def test_returned_cards_stay_where_they_are_and_all_else_is_equally_likely() -> None:
    game = recruited("b2 b3 b4 b5 b6")
    view = game.position().seen_by(YOU)
    ways = _every_way(view, "b1 b4 b5 b6", "joker spy")
    assert {deck[3:] for _, _, deck, _ in ways} == {cards_from_texts(["r1", "r2"])}
    _assert_as_likely(view, ways)
    drawn = sample(view, random.Random(1))
    assert drawn.position().returned == game.position().returned


def test_a_returned_card_that_the_opponent_drew_is_in_its_hand_in_every_sample() -> None:
    game = do(recruited("b2 b3"), "draw tactic", "play b1 1")  # the opponent draws r1
    r1, r2 = cards_from_texts(["r1", "r2"])
    rng = random.Random(1)
    samples = [sample(game.position().seen_by(YOU), rng) for _ in range(100)]
    assert all(r1 in each.hands[OPPONENT] and each.clan_deck == [r2] for each in samples)


def test_what_was_returned_is_a_line_of_the_position() -> None:
    game = recruited("b2 b3 b4 b5 b6")
    assert "\nreturned 2*clan |\n" in game.to_text()
    assert position_from_text(game.to_text()) == game.position()
    seen = position_to_text(game.position().seen_by(YOU))
    assert "\ndeck 3*clan r1 r2\n" in seen
    assert position_from_text(seen) == game.position().seen_by(YOU)
    assert game.position().turned().returned == ((), (CLAN_BACK, CLAN_BACK))


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            "rules tactics\nreturned r5 |",
            "a returned card is written face down, clan or tactic; r5 belongs to its deck",
        ),
        ("rules tactics\nreturned clan", "there is no bar; returned cards are written face down"),
        ("rules tactics\nreturned clan | clan", "only one player can have returned cards: there is one recruiter"),
        ("returned clan |", "nothing is returned in base: the recruiter is a tactic card"),
        ("rules tactics\nreturned 3*clan |", "3 cards are returned, but only 2 can be here"),
        ("rules tactics\nreturned 2*clan |\ndeck r1", "2 clan cards are returned, but the deck has 1"),
    ],
)
def test_impossible_returns_are_refused(lines: str, problem: str) -> None:
    with pytest.raises(PositionError) as refused:
        position_from_text(lines)
    assert f"line {lines[: lines.index('returned')].count(chr(10)) + 1}: {problem}" in str(refused.value)


def test_a_position_without_enough_cards_for_its_backs_is_refused() -> None:
    view = position_from_text(
        "rules tactics\ntheir-hand 2*tactic\ntactic-deck 7*tactic\nplayed joker spy | banshee mud-fight"
    )
    with pytest.raises(PositionError) as refused:
        sample(view, random.Random(1))
    assert str(refused.value) == "9 cards lie face down, but only 6 are not seen elsewhere"
