"""Each tactic card: its legal use, every illegal use, its edges (rules 10 to 14)."""

import pytest

from engine.cards import BANSHEE, JOKER, MUD_FIGHT
from engine.formations import Formation, formation_and_total, side_strength
from engine.game import Game
from engine.phase import Phase
from tests.helpers.positions import cards, do, legal, position, refused


def tactics(text: str) -> Game:
    return position("rules tactics\n" + text)


def strength_of(side: str, blind: bool = False) -> tuple[Formation, int]:
    return formation_and_total(side_strength(cards(side.split()), blind))


# 10. Never more than one ahead

EVERY_TACTIC = [
    ("joker", "play joker 1"),
    ("spy", "play spy 1"),
    ("shield-bearer", "play shield-bearer 1"),
    ("blind-mans-bluff", "play blind-mans-bluff 1"),
    ("mud-fight", "play mud-fight 1"),
    ("recruiter", "play recruiter"),
    ("strategist", "play strategist r1 1 2"),
    ("banshee", "play banshee g1 1"),
    ("traitor", "play traitor g1 1 2"),
]


@pytest.mark.parametrize(("card", "text"), EVERY_TACTIC)
def test_no_tactic_card_can_be_played_when_one_ahead(card: str, text: str) -> None:
    game = tactics(f"hand {card} r5\nstone 1 r1 | g1\nplayed {'spy' if card != 'spy' else 'banshee'} |")
    assert refused(game, text) == "you already played one tactic card more than your opponent"


@pytest.mark.parametrize(("card", "text"), EVERY_TACTIC)
def test_each_tactic_card_can_be_played_when_level_and_is_counted(card: str, text: str) -> None:
    mine, theirs = [other for other in ("spy", "banshee", "recruiter") if other != card][:2]
    game = tactics(f"hand {card} r5\nstone 1 r1 | g1\nplayed {mine} | {theirs}")
    do(game, text)
    assert game.tactics_played[0][-1] == cards([card])[0]
    assert len(game.tactics_played[0]) == 2
    assert cards([card])[0] not in game.hands[0]


@pytest.mark.parametrize(("card", "text"), EVERY_TACTIC)
def test_no_tactic_card_can_be_played_from_nowhere(card: str, text: str) -> None:
    assert refused(tactics("hand r5\nstone 1 r1 | g1"), text) == f"{card} is not in your hand"


def test_a_tactic_card_that_was_removed_still_counts_as_played() -> None:
    game = tactics("hand banshee r5\ntheir-hand mud-fight\nstone 1 | spy\nplayed | spy")
    do(game, "play banshee spy 1", "draw clan")
    do(game, "play mud-fight 2")
    assert [len(played) for played in game.tactics_played] == [1, 2]


def test_combat_modes_count_as_played_too() -> None:
    game = tactics("hand mud-fight spy r5\ntheir-hand r1 r2")
    do(game, "play mud-fight 1", "draw clan", "play r1 1", "draw clan")
    assert refused(game, "play spy 2") == "you already played one tactic card more than your opponent"


# 11. Elite troops


def test_elite_troops_are_placed_like_clan_cards() -> None:
    game = tactics("hand joker\nstone 1 r1 r2 |")
    do(game, "play joker 1")
    assert game.sides[0][0] == tuple(cards(["r1", "r2", "joker"]))


@pytest.mark.parametrize("card", ["joker", "spy", "shield-bearer"])
def test_elite_troops_need_room(card: str) -> None:
    assert refused(tactics(f"hand {card}\nstone 1 r1 r2 r3 |"), f"play {card} 1") == "stone 1 is full on your side"


def test_a_second_joker_stays_unplayable_for_the_same_player() -> None:
    game = tactics("hand joker r5\nplayed joker | spy\nstone 1 joker |")
    reason = "you already played a joker this round, and each player may play only one"
    assert refused(game, "play joker 2") == reason


def test_a_joker_that_was_removed_still_keeps_the_second_from_being_played() -> None:
    game = tactics("hand joker r5\ntheir-hand banshee b5\nstone 1 joker |\nplayed joker |")
    do(game, "play r5 2", "draw clan", "play banshee joker 1", "draw clan")
    assert game.discard == [BANSHEE, JOKER]
    assert refused(game, "play joker 2").startswith("you already played a joker this round")


def test_each_player_may_play_one_joker() -> None:
    game = tactics("hand joker r5\nplayed | joker\nstone 1 | joker")
    assert "play joker 1" in legal(game)


@pytest.mark.parametrize(
    ("side", "best"),
    [
        ("r7 r8 joker", (Formation.COLOUR_RUN, 24)),
        ("r1 r9 joker", (Formation.COLOUR, 19)),
        ("r1 g1 joker", (Formation.ALIKE, 3)),
        ("r1 g3 joker", (Formation.RUN, 6)),
        ("r1 g9 joker", (Formation.SUM, 19)),
        ("r8 r9 spy", (Formation.COLOUR_RUN, 24)),
        ("r7 g7 spy", (Formation.ALIKE, 21)),
        ("r7 r2 spy", (Formation.COLOUR, 16)),  # a red seven twice: a wild card may repeat a card
        ("r8 g9 spy", (Formation.RUN, 24)),
        ("r1 g2 spy", (Formation.SUM, 10)),
        ("r3 r4 shield-bearer", (Formation.COLOUR_RUN, 9)),
        ("r2 r4 shield-bearer", (Formation.COLOUR_RUN, 9)),
        ("r3 g3 shield-bearer", (Formation.ALIKE, 9)),
        ("r4 g4 shield-bearer", (Formation.SUM, 11)),
        ("r8 r9 shield-bearer", (Formation.COLOUR, 20)),
        ("r2 g1 shield-bearer", (Formation.RUN, 6)),
        ("joker spy r9", (Formation.COLOUR_RUN, 24)),
        ("joker spy shield-bearer", (Formation.COLOUR, 19)),
        ("joker shield-bearer r9", (Formation.COLOUR, 21)),
        ("joker shield-bearer g4", (Formation.COLOUR_RUN, 12)),
        ("joker spy r5 r6", (Formation.COLOUR_RUN, 26)),
        ("joker spy r7 g7", (Formation.ALIKE, 28)),
        ("joker spy shield-bearer r5", (Formation.COLOUR, 24)),
        ("shield-bearer joker r1 r4", (Formation.COLOUR_RUN, 10)),
    ],
)
def test_wild_cards_take_the_best_reading(side: str, best: tuple[Formation, int]) -> None:
    assert strength_of(side) == best


@pytest.mark.parametrize(
    ("side", "total"), [("joker spy shield-bearer", 19), ("r1 r2 joker", 12), ("r9 r8 r7 spy", 31)]
)
def test_under_blind_mans_bluff_wild_cards_are_worth_their_highest(side: str, total: int) -> None:
    assert strength_of(side, blind=True) == (Formation.SUM, total)


# 12. Combat modes


def test_blind_mans_bluff_counts_the_sum_only() -> None:
    board = "stone 1 r1 r2 r3 | g9 b8 p1 first:theirs"
    assert legal(position(f"rules tactics\nphase claim\n{board}")) == ["claim 1", "done"]
    game = tactics(f"hand blind-mans-bluff\n{board}")
    do(game, "play blind-mans-bluff 1")
    assert formation_and_total(game.strengths[0][0]) == (Formation.SUM, 6)
    assert formation_and_total(game.strengths[1][0]) == (Formation.SUM, 18)
    assert game.complete_first[0] == 1


def test_blind_mans_bluff_can_be_proven_against_an_incomplete_side() -> None:
    game = position(
        "rules tactics\nphase claim\nstone 1 r9 g9 b9 | o9 y9 mode:blind-mans-bluff\n"
        "stone 2 r8 g8 b8 | o8 y8 mode:mud-fight"
    )
    assert legal(game) == ["claim 1", "done"]  # only an equal sum is left, and it would come later


def test_a_mud_fight_stone_takes_a_fourth_card_and_all_four_must_fit() -> None:
    game = tactics("hand r4\nstone 1 r1 r2 r3 | g1 g2 b9 p9 mode:mud-fight")
    do(game, "play r4 1")
    assert legal(game) == ["claim 1", "done"]
    assert formation_and_total(game.strengths[0][0]) == (Formation.COLOUR_RUN, 10)


def test_a_mud_fight_stone_is_full_with_four() -> None:
    game = tactics("hand r5\nstone 1 r1 r2 r3 r4 | mode:mud-fight")
    assert refused(game, "play r5 1") == "stone 1 is full on your side"


def test_modes_may_be_played_where_both_sides_are_full() -> None:
    game = tactics("hand mud-fight blind-mans-bluff\nstone 1 r1 r2 r3 | g1 g2 g3")
    assert {"play mud-fight 1", "play blind-mans-bluff 1"} <= set(legal(game))


@pytest.mark.parametrize("order", [("mud-fight", "blind-mans-bluff"), ("blind-mans-bluff", "mud-fight")])
def test_both_modes_on_one_stone_make_a_sum_of_four(order: tuple[str, str]) -> None:
    first, second = order
    game = tactics(f"hand {second}\nstone 1 r1 r2 r3 | g1 g2 mode:{first}\nplayed {first} | spy")
    do(game, f"play {second} 1")
    assert game.needs[0] == 4
    assert game.modes[0] == tuple(cards(list(order)))
    game = tactics(f"hand r9\nstone 1 r1 r2 r3 | g1 g2 mode:{first} mode:{second}")
    do(game, "play r9 1")
    assert formation_and_total(game.strengths[0][0]) == (Formation.SUM, 15)


def test_a_mode_cannot_be_moved_or_removed() -> None:
    reason = "mud-fight is a combat mode: it lies on the stone itself and cannot be moved or removed"
    game = tactics("hand banshee strategist traitor\nstone 1 r1 | g1 mode:mud-fight")
    assert refused(game, "play banshee mud-fight 1") == reason
    assert refused(game, "play strategist mud-fight 1 2") == reason
    assert refused(game, "play traitor mud-fight 1 2") == reason


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
