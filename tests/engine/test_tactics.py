"""Tactic cards in general, elite troops and combat modes (rules 10 to 12)."""

import pytest

from engine.cards import BANSHEE, JOKER
from engine.formations import Formation, formation_and_total, side_strength
from tests.helpers.positions import cards, do, legal, position, refused, tactics


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
