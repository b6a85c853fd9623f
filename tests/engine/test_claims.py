"""Formations, proofs, claimed stones and the end of a round (rules 3 to 7)."""

import pytest

from engine.cards import SEATS
from engine.formations import Formation, formation_and_total, side_strength
from engine.phase import Phase
from engine.scoring import Ending, Outcome
from tests.helpers.positions import cards, do, legal, outcome, position, refused

# 3. Formations


@pytest.mark.parametrize(
    ("side", "formation", "total"),
    [
        ("r3 r1 r2", Formation.COLOUR_RUN, 6),
        ("r9 g9 b9", Formation.ALIKE, 27),
        ("r1 r2 r4", Formation.COLOUR, 7),
        ("r1 g3 r2", Formation.RUN, 6),
        ("r1 g1 r2", Formation.SUM, 4),
        ("r9 r8 g9", Formation.SUM, 26),
        ("r6 r7 r8 r9", Formation.COLOUR_RUN, 30),
        ("r6 g6 b6 p6", Formation.ALIKE, 24),
        ("r6 r7 r8 r1", Formation.COLOUR, 22),
        ("r6 g7 r8 r9", Formation.RUN, 30),
        ("r6 r7 r8 g8", Formation.SUM, 29),  # never the best three of four
        ("r5 g5 b5 p6", Formation.SUM, 21),
        ("r8 r9 r1", Formation.COLOUR, 18),  # runs do not go around
    ],
)
def test_a_side_is_the_formation_that_all_its_cards_make(side: str, formation: Formation, total: int) -> None:
    assert formation_and_total(side_strength(cards(side.split()), blind=False)) == (formation, total)


def test_stronger_kinds_beat_weaker_ones_whatever_their_totals() -> None:
    sides = ["r1 r2 r3", "r1 g1 b1", "r1 r2 r4", "r1 g2 b3", "r9 g9 b8"]
    strengths = [side_strength(cards(side.split()), blind=False) for side in sides]
    assert strengths == sorted(strengths, reverse=True)
    assert len(set(strengths)) == 5


def test_equal_kinds_are_decided_by_the_higher_total() -> None:
    game = position("phase claim\nstone 1 r1 r2 r4 | g1 g2 g5\nstone 2 r3 r5 r8 | g3 g4 g6")
    assert legal(game) == ["claim 2", "done"]
    assert refused(game, "claim 1") == "your opponent's side of stone 1 is stronger"


def test_equal_totals_are_decided_by_who_was_complete_first() -> None:
    game = position("phase claim\nstone 1 r1 r2 r4 | g1 g2 g4\nstone 2 r3 r5 r7 | g3 g5 g7 first:theirs")
    assert legal(game) == ["claim 1", "done"]
    assert refused(game, "claim 2") == "stone 2 is tied and your opponent's side was complete first"


# 4. Complete since


def test_complete_since_passes_to_the_other_side_when_a_card_is_taken_away() -> None:
    game = position("rules tactics\nhand banshee\nstone 1 r1 r2 r4 | g1 g2 g4 first:theirs\ndeck")
    do(game, "play banshee g4 1")
    assert game.complete_first[0] == 0


def test_a_side_that_gets_complete_again_is_complete_anew() -> None:
    game = position(
        "rules tactics\nhand strategist r4\ntheir-hand p9\nstone 1 r1 r2 r5 | g1 g2 g4\nstone 2 b1 |\n"
        "deck o1\ntactic-deck"
    )
    assert game.complete_first[0] == 0
    do(game, "play strategist r5 1 2")
    assert game.complete_first[0] == 1
    do(game, "play p9 3", "play r4 1")
    assert game.strengths[0][0] == game.strengths[1][0]
    assert game.complete_first[0] == 1


def test_a_tie_broken_by_a_removal_goes_to_the_side_that_stayed_complete() -> None:
    """Banshee takes a card of the side that was first; the same strength rebuilt comes second."""
    game = position(
        "rules tactics\nhand banshee\ntheir-hand y6\nstone 1 r1 o2 r6 | g1 b2 g6 first:theirs\ndeck y1\ntactic-deck"
    )
    do(game, "play banshee g6 1")
    assert game.to_move == 1  # not provable yet: unseen cards still beat a sum of nine
    do(game, "play y6 1")
    assert game.complete_first[0] == 0
    assert game.strengths[0][0] == game.strengths[1][0]
    assert (game.to_move, game.phase) == (0, Phase.PLAY)


def test_mud_fight_over_two_complete_sides_makes_both_incomplete() -> None:
    game = position(
        "rules tactics\nhand mud-fight\ntheir-hand g5\nstone 1 r1 r2 r4 | g1 g2 g4\ndeck o9 o8\ntactic-deck"
    )
    do(game, "play mud-fight 1")
    assert game.complete_first[0] is None
    assert game.complete == [0, 0]
    do(game, "play g5 1")
    assert game.complete_first[0] == 1


# 5. The proof


def test_a_claim_needs_ones_own_side_complete() -> None:
    game = position("phase claim\nstone 1 r8 r9 | g1\nstone 2 r1 r2 r3 | b1 p1 o2")
    assert refused(game, "claim 1") == "your side of stone 1 is not complete: 2 of 3 cards"


def test_the_highest_colour_run_is_proven_against_an_empty_side() -> None:
    game = position("phase claim\nstone 1 r7 r8 r9 |")
    assert legal(game) == ["claim 1", "done"]


def test_a_lower_colour_run_is_not_while_a_higher_one_is_unseen() -> None:
    game = position("phase claim\nstone 1 r6 r7 r8 |\nstone 2 o7 o8 o9 |")
    assert legal(game) == ["claim 2", "done"]
    assert refused(game, "claim 1") == (
        "you cannot prove stone 1: unseen cards could still make your opponent's side stronger"
    )


def test_an_equal_completion_does_not_hinder_a_claim() -> None:
    """Only green 7 8 9 could be made, which is as strong but comes later."""
    game = position("phase claim\nstone 1 r7 r8 r9 | g7 g8")
    assert legal(game) == ["claim 1", "done"]


def test_colour_run_completions_with_gaps_are_seen() -> None:
    game = position("phase claim\nstone 1 r1 r2 r3 | g4 g6\nface-up g5\nstone 2 o1 o2 o3 | b4 b6")
    assert legal(game) == ["claim 1", "done"]


def test_cards_on_claimed_stones_and_in_the_discard_are_not_available() -> None:
    """Green 3 or green 6 would complete a higher colour-run."""
    board = "phase claim\nstone 1 r1 r2 r3 | g4 g5\nstone 2 o7 o8 o9 |"
    assert legal(position(f"{board}\nface-up g3")) == ["claim 2", "done"]
    assert legal(position(f"{board}\nface-up g3 g6")) == ["claim 1", "claim 2", "done"]
    assert legal(position(f"{board}\nstone 9 g3 g6 p9 | owner:you")) == ["claim 1", "claim 2", "done"]
    assert legal(position(f"{board}\nstone 9 | g3 g6 p9")) == ["claim 1", "claim 2", "done"]


def test_the_claimants_own_hand_counts_as_available_to_the_opponent() -> None:
    game = position("phase claim\nhand g3 g6\nstone 1 r1 r2 r3 | g4 g5\nstone 2 o7 o8 o9 | b1 p1")
    assert legal(game) == ["claim 2", "done"]


def test_unplayed_tactic_cards_never_count() -> None:
    game = position("rules tactics\nphase claim\ntheir-hand joker spy\nstone 1 r1 r2 r3 | g4 g6\nface-up g5")
    assert legal(game) == ["claim 1", "done"]


def test_a_wild_card_that_lies_there_takes_its_best_reading() -> None:
    board = "rules tactics\nphase claim\nstone 2 o7 o8 o9 |"
    assert legal(position(f"{board}\nstone 1 r1 r2 r3 | g4 joker")) == ["claim 2", "done"]
    assert legal(position(f"{board}\nstone 1 r1 r2 r3 | g4 joker\nface-up g2 g3 g5 g6")) == [
        "claim 1", "claim 2", "done",
    ]  # fmt: skip


def test_a_wild_card_may_repeat_a_card_that_exists_elsewhere() -> None:
    game = position("rules tactics\nphase claim\nstone 1 g4 joker g6 | r1 r2 r3\nstone 3 g5 |")
    assert legal(game) == ["claim 1", "done"]


def test_too_few_unseen_cards_to_complete_let_the_claim_hold() -> None:
    game = position("phase claim\nstone 1 r1 g1 o2 | g9\nface-down b9")
    assert "claim 1" in legal(game)
    game = position("phase claim\nstone 1 r1 g1 o2 | g9\nstone 2 o7 o8 o9 |\nface-down b9 p9")
    assert "claim 1" not in legal(game)


# 6. Claimed stones


def test_a_claimed_stone_takes_no_card_of_any_kind() -> None:
    game = position("rules tactics\nhand g1 joker mud-fight\nstone 1 r1 r2 r3 | g2 owner:you\nstone 2 r4 | g3")
    for text in ("play g1 1", "play joker 1", "play mud-fight 1"):
        assert refused(game, text) == "stone 1 is already claimed"


@pytest.mark.parametrize(
    ("ruse", "text"),
    [
        ("strategist", "play strategist r1 1 2"),
        ("strategist", "play strategist r1 1 discard"),
        ("strategist", "play strategist r4 2 1"),
        ("banshee", "play banshee g2 1"),
        ("traitor", "play traitor g2 1 2"),
        ("traitor", "play traitor g3 2 1"),
    ],
)
def test_a_claimed_stone_is_neither_source_nor_target_of_a_ruse(ruse: str, text: str) -> None:
    game = position(f"rules tactics\nhand {ruse}\nstone 1 r1 r2 | g2 b5 b6 owner:opponent\nstone 2 r4 | g3")
    assert refused(game, text) == "stone 1 is already claimed"


def test_a_claimed_stone_cannot_be_claimed_again() -> None:
    game = position("phase claim\nstone 1 r7 r8 r9 | g2 g3 g4 first:theirs owner:opponent\nstone 2 o7 o8 o9 |")
    assert refused(game, "claim 1") == "stone 1 is already claimed"


# 7. The end


def test_three_adjacent_stones_end_the_round_at_once() -> None:
    game = position(
        "phase claim\nstone 4 r1 r2 r3 | owner:you\nstone 6 o1 o2 o3 | owner:you\nstone 5 y7 y8 y9 |\n"
        "stone 9 p7 p8 p9 |\nstone 1 | b1 b2 b3 owner:opponent"
    )
    do(game, "claim 5")
    assert outcome(game) == Outcome(
        SEATS[0], Ending.THREE_ADJACENT, (5, 1), (SEATS[1], None, None, *[SEATS[0]] * 3, None, None, None)
    )
    assert legal(game) == []
    assert refused(game, "claim 9") == "not now: the round is over"


def test_five_stones_end_the_round_at_once() -> None:
    owned = "\n".join(f"stone {n} r{n} o{n} b{n} | owner:you" for n in (1, 2, 4, 5))
    game = position(f"phase claim\n{owned}\nstone 9 y7 y8 y9 |")
    do(game, "claim 9")
    assert (outcome(game).winner, outcome(game).ending, outcome(game).points) == (0, Ending.FIVE_STONES, (5, 0))


def test_a_fifth_stone_that_is_also_the_third_adjacent_counts_as_three_adjacent() -> None:
    owned = "\n".join(f"stone {n} r{n} o{n} b{n} | owner:you" for n in (1, 2, 5, 7))
    game = position(f"phase claim\n{owned}\nstone 6 y7 y8 y9 |")
    do(game, "claim 6")
    assert outcome(game).ending is Ending.THREE_ADJACENT


def test_stones_of_both_players_are_not_adjacent_to_each_other() -> None:
    game = position("phase claim\nstone 1 r1 r2 r3 | owner:you\nstone 2 | b1 b2 b3 owner:opponent\nstone 3 y7 y8 y9 |")
    do(game, "claim 3")
    assert game.outcome is None
