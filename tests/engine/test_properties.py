"""What holds in every round, whatever is played."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings

from engine.actions import every_action
from engine.cards import CLAN_BACK, CLAN_CARDS, SEATS, TACTIC_BACK, TACTIC_DECK, is_clan, other
from engine.errors import IllegalActionError
from engine.game import Game
from engine.legality import reason_illegal
from engine.record import replay, verify
from engine.ruleset import RuleSet
from tests.helpers.walks import played, positions, rule_sets, seeds, walk

# No round is longer. Each card leaves a hand by being played at most once (64), each stone is claimed once (9), and
# at most 52 cards are drawn at the end of a turn (50 are left after the deal, two come back by the recruiter). A turn
# without any of these is followed by one that has some, or by the end. So there are at most 2 * (64 + 9 + 52) + 2
# turns. A turn's decisions are one play or pass, one `done`, one draw, and over the whole round nine claims, three
# recruited draws and two returns.
MOST_TURNS = 2 * (64 + 9 + 52) + 2
MOST_DECISIONS = 3 * MOST_TURNS + 9 + 3 + 2


def all_cards(game: Game) -> Counter[int]:
    on_stones = [card for sides in game.sides for side in sides for card in side]
    on_tiles = [card for modes in game.modes for card in modes]
    return Counter(
        [*game.hands[0], *game.hands[1], *game.clan_deck, *game.tactic_deck, *on_stones, *on_tiles, *game.discard]
    )


@given(rule_sets, seeds)
def test_cards_are_conserved_and_rounds_end_within_the_bound(rules: RuleSet, seed: int) -> None:
    whole = Counter([*CLAN_CARDS, *(TACTIC_DECK if rules.tactics else ())])
    decisions = 0
    game = None
    for game, _ in walk(rules, seed):
        assert all_cards(game) == whole
        decisions += 1
    assert game is not None
    assert all_cards(game) == whole
    assert decisions <= MOST_DECISIONS
    assert all(reason_illegal(game, action) == "not now: the round is over" for action in every_action())


@given(rule_sets, seeds)
def test_what_is_derived_equals_what_it_is_derived_from(rules: RuleSet, seed: int) -> None:
    for game, _ in walk(rules, seed):
        face_up = [c for sides in game.sides for side in sides for c in side] + game.discard
        assert game.unseen == sum(1 << c for c in CLAN_CARDS if c not in face_up)
        for stone in range(9):
            claimed = game.owners[stone] is not None
            assert bool(game.unclaimed >> stone & 1) is not claimed
            for seat in SEATS:
                full = len(game.sides[seat][stone]) == game.needs[stone]
                assert bool(game.complete[seat] >> stone & 1) is full
                assert bool(game.room[seat] >> stone & 1) is (not full and not claimed)
        assert all(hand == sorted(hand) for hand in game.hands)


@settings(max_examples=60)
@given(positions())
def test_every_legal_action_applies_and_every_other_is_refused(game: Game) -> None:
    before = game.copy()
    legal = game.legal_actions()
    assert len(set(legal)) == len(legal)
    for action in every_action():
        if action in legal:
            twin = game.copy()
            twin.apply(action)
            assert twin != game
        else:
            assert reason_illegal(game, action)
            with pytest.raises(IllegalActionError):
                game.apply(action)
    assert game == before


@given(positions(), seeds)
def test_a_seat_sees_nothing_that_is_secret(game: Game, seed: int) -> None:
    """Exchanging hidden cards among themselves changes neither what the seat sees nor what the seat may do. Hidden are
    not the cards that it returned with a recruiter, as long as they lie at the bottom of their deck."""
    rng = random.Random(seed)
    for seat in SEATS:
        twin = game.copy()
        rival = other(seat)
        for kind, deck in ((True, twin.clan_deck), (False, twin.tactic_deck)):
            held = [card for card in twin.hands[rival] if is_clan(card) is kind]
            known = game.position().returned[seat].count(CLAN_BACK if kind else TACTIC_BACK)
            hidden = [*held, *deck[known:]]
            rng.shuffle(hidden)
            kept = [card for card in twin.hands[rival] if is_clan(card) is not kind]
            twin.hands[rival] = sorted([*kept, *hidden[: len(held)]])
            deck[known:] = hidden[len(held) :]
        assert twin.position().seen_by(seat) == game.position().seen_by(seat)
        if game.to_move == seat:
            assert twin.legal_actions() == game.legal_actions()


@given(rule_sets, seeds)
def test_a_record_gives_the_same_game_again(rules: RuleSet, seed: int) -> None:
    game, record = played(rules, seed)
    assert replay(record) == game
    verify(record)


@given(positions(), seeds)
def test_a_copy_goes_its_own_way(game: Game, seed: int) -> None:
    before, twin = game.copy(), game.copy()
    assert twin == game
    rng = random.Random(seed)
    while twin.outcome is None:
        twin.apply(rng.choice(twin.legal_actions()))
    assert game == before
