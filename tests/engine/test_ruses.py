"""Each ruse: its legal use, every illegal use, its edges (rules 13 and 14)."""

import pytest

from engine.cards import JOKER, MUD_FIGHT
from engine.phase import Phase
from tests.helpers.positions import cards, do, legal, refused, tactics

# 13. Recruiter


def test_the_recruiter_draws_three_one_at_a_time_then_returns_two() -> None:
    game = tactics("hand recruiter r1 r2 r3 r4 r5 r6\ndeck g1 g2 g3\ntactic-deck spy mud-fight")
    do(game, "play recruiter")
    assert legal(game) == ["draw clan", "draw tactic"]
    do(game, "draw clan", "draw tactic", "draw clan")
    assert game.phase is Phase.RETURN
    assert game.hands[0] == cards(["r1", "r2", "r3", "r4", "r5", "r6", "g1", "g2", "spy"])
    do(game, "return r1", "return r2")
    assert game.clan_deck[::-1] == cards(["g3", "r1", "r2"])  # the second lies lowest
    assert len(game.hands[0]) == 7
    assert game.to_move == 1  # the hand is full again: nothing is drawn


def test_returned_cards_go_to_the_bottom_of_their_own_decks() -> None:
    game = tactics("hand recruiter banshee r1\ndeck g1 g2 g3 g4\ntactic-deck spy mud-fight")
    do(game, "play recruiter", "draw clan", "draw clan", "draw clan", "return banshee", "return g1")
    assert game.tactic_deck[::-1] == cards(["spy", "mud-fight", "banshee"])
    assert game.clan_deck[::-1] == cards(["g4", "g1"])


def test_a_drawn_card_may_be_returned_and_cards_not_held_may_not() -> None:
    game = tactics("hand recruiter r1\ndeck g1 g2 g3\ntactic-deck spy")
    do(game, "play recruiter", "draw clan", "draw clan", "draw clan")
    assert legal(game) == ["return r1", "return g1", "return g2", "return g3"]
    assert refused(game, "return p9") == "p9 is not in your hand"


def test_with_one_deck_the_recruiters_draws_happen_by_themselves() -> None:
    game = tactics("hand recruiter r1\ndeck g1 g2 g3 g4\ntactic-deck")
    do(game, "play recruiter")
    assert game.phase is Phase.RETURN
    assert len(game.hands[0]) == 4


def test_the_recruiter_names_a_deck_only_while_both_have_cards() -> None:
    game = tactics("hand recruiter r1\ndeck g1 g2 g3 g4\ntactic-deck spy")
    do(game, "play recruiter", "draw tactic")
    assert game.phase is Phase.RETURN
    assert game.hands[0] == cards(["r1", "g1", "g2", "spy"])


def test_the_recruiter_draws_fewer_where_the_decks_run_out_and_still_returns_two() -> None:
    game = tactics("hand recruiter r1 r2\ndeck g1\ntactic-deck")
    do(game, "play recruiter")
    assert game.hands[0] == cards(["r1", "r2", "g1"])
    do(game, "return r1", "return r2")
    # The hand is below its limit and the returned cards are a deck again: the turn's draw takes one of them.
    assert game.hands[0] == cards(["r1", "g1"])
    assert game.clan_deck == cards(["r2"])


def test_after_a_short_recruiter_the_turn_has_its_one_ordinary_draw() -> None:
    game = tactics("hand recruiter banshee r1\ndeck g1\ntactic-deck")
    do(game, "play recruiter", "return banshee", "return r1")
    assert legal(game) == ["draw clan", "draw tactic"]
    do(game, "draw clan")
    assert game.to_move == 1


def test_the_recruiter_returns_fewer_where_the_hand_is_smaller() -> None:
    game = tactics("hand recruiter\ndeck g1\ntactic-deck")
    do(game, "play recruiter")
    assert legal(game) == ["return g1"]
    do(game, "return g1")
    assert game.hands[0] == cards(["g1"])  # drawn again at the end of the turn
    assert game.to_move == 1


def test_the_recruiter_is_unplayable_with_both_decks_empty() -> None:
    game = tactics("hand recruiter\ndeck\ntactic-deck")
    assert refused(game, "play recruiter") == "both decks are empty: there is nothing to recruit"


def test_two_jokers_in_hand_are_one_choice_to_return() -> None:
    game = tactics("hand recruiter joker joker\ndeck g1 g2 g3\ntactic-deck")
    do(game, "play recruiter")
    assert legal(game) == ["return g1", "return g2", "return g3", "return joker"]
    do(game, "return joker", "return joker")
    assert game.hands[0] == cards(["g1", "g2", "g3", "joker"])  # the tactic deck is the only one: its top was drawn
    assert game.tactic_deck == [JOKER]


# 14. The other ruses


def test_the_strategist_moves_an_own_card_to_another_stone_with_room() -> None:
    game = tactics("hand strategist r9\nstone 1 r1 r2 | g1\nstone 2 b1 |")
    do(game, "play strategist r1 1 2")
    assert game.sides[0][:2] == [tuple(cards(["r2"])), tuple(cards(["b1", "r1"]))]
    assert game.discard == cards(["strategist"])


def test_the_strategist_may_put_an_own_card_on_the_discard() -> None:
    game = tactics("hand strategist r9\nstone 1 r1 joker | g1")
    do(game, "play strategist joker 1 discard")
    assert game.sides[0][0] == tuple(cards(["r1"]))
    assert game.discard == cards(["strategist", "joker"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("play strategist g1 1 2", "g1 is not on your side of stone 1"),
        ("play strategist r1 2 3", "r1 is not on your side of stone 2"),
        ("play strategist r1 1 1", "r1 already lies on stone 1: name another stone, or discard"),
        ("play strategist r1 1 3", "stone 3 is full on your side"),
        ("play strategist p1 4 2", "stone 4 is already claimed"),
        ("play strategist r1 1 4", "stone 4 is already claimed"),
    ],
)
def test_what_the_strategist_cannot_do(text: str, reason: str) -> None:
    board = "stone 1 r1 | g1\nstone 3 b1 b2 b3 |\nstone 4 p1 p2 p3 | owner:you"
    assert refused(tactics(f"hand strategist\n{board}"), text) == reason


def test_the_strategist_can_move_an_elite_troop() -> None:
    assert "play strategist spy 1 2" in legal(tactics("hand strategist\nstone 1 spy |"))


def test_a_ruse_without_a_target_cannot_be_played() -> None:
    assert legal(tactics("hand strategist banshee traitor")) == ["pass"]


def test_the_banshee_puts_an_opposing_card_on_the_discard() -> None:
    game = tactics("hand banshee r9\nstone 1 r1 | g1 spy")
    do(game, "play banshee spy 1")
    assert game.sides[1][0] == tuple(cards(["g1"]))
    assert game.discard == cards(["banshee", "spy"])


def test_a_card_that_the_banshee_took_stays_seen() -> None:
    game = tactics("hand banshee r9\nstone 1 r1 r2 r3 | g4 g5\nface-up g3\nstone 2 | g6")
    do(game, "play banshee g6 2")
    assert legal(game) == ["claim 1", "done"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("play banshee r1 1", "r1 is not on your opponent's side of stone 1"),
        ("play banshee g1 2", "g1 is not on your opponent's side of stone 2"),
        ("play banshee p1 4", "stone 4 is already claimed"),
    ],
)
def test_what_the_banshee_cannot_do(text: str, reason: str) -> None:
    assert refused(tactics("hand banshee\nstone 1 r1 | g1\nstone 4 | p1 p2 p3 owner:opponent"), text) == reason


def test_the_traitor_brings_an_opposing_clan_card_to_ones_own_side() -> None:
    game = tactics("hand traitor r9\nstone 1 r1 | g1\nstone 2 b1 |")
    do(game, "play traitor g1 1 2")
    assert game.sides[1][0] == ()
    assert game.sides[0][1] == tuple(cards(["b1", "g1"]))
    assert game.discard == cards(["traitor"])


def test_the_traitor_may_stay_on_the_same_stone() -> None:
    game = tactics("hand traitor r9\nstone 1 g8 g9 | g7 b1 b2 first:theirs")
    do(game, "play traitor g7 1 1")
    assert game.complete_first[0] == 0
    assert legal(game) == ["claim 1", "done"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("play traitor r1 1 2", "r1 is not on your opponent's side of stone 1"),
        ("play traitor joker 1 2", "the traitor takes only clan cards, and joker is a tactic card"),
        ("play traitor g1 1 3", "stone 3 is full on your side"),
        ("play traitor g3 3 3", "stone 3 is full on your side"),
        ("play traitor p1 4 2", "stone 4 is already claimed"),
        ("play traitor g1 1 4", "stone 4 is already claimed"),
    ],
)
def test_what_the_traitor_cannot_do(text: str, reason: str) -> None:
    board = "stone 1 r1 | g1 joker\nstone 3 b1 b2 b3 | g3\nstone 4 | p1 p2 p3 owner:opponent"
    assert refused(tactics(f"hand traitor\n{board}"), text) == reason


def test_the_traitor_has_no_use_against_elite_troops_alone() -> None:
    assert legal(tactics("hand traitor\nstone 1 | joker spy")) == ["pass"]


def test_a_side_that_loses_a_card_has_room_again() -> None:
    game = tactics("hand banshee r9\ntheir-hand g4\nstone 1 r1 | g1 g2 g3")
    do(game, "play banshee g3 1", "draw clan")
    assert "play g4 1" in legal(game)


def test_mud_fight_gives_full_sides_room_again() -> None:
    game = tactics("hand mud-fight r4\ntheir-hand g4\nstone 1 r1 r2 r3 | g1 g2 g3")
    do(game, "play mud-fight 1", "draw clan")
    assert "play g4 1" in legal(game)
    assert MUD_FIGHT in game.modes[0]


def test_refused_actions_name_the_phase() -> None:
    game = tactics("hand recruiter r1\ndeck g1 g2 g3\ntactic-deck spy")
    assert refused(game, "return r1").startswith("not now: it is time to play a card")
    do(game, "play recruiter")
    assert refused(game, "play r1 1").startswith("not now: it is time to draw")
