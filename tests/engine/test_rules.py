"""The rules as refereed, in the order of SPEC.md; the tactic cards have a file of their own."""

import pytest

from engine.cards import CARD_TEXTS, SEATS
from engine.deal import Deal
from engine.formations import Formation, formation_and_total, side_strength
from engine.game import Game
from engine.phase import Phase
from engine.ruleset import PRESETS, RULE_SETS, Begins, ClaimTime, RuleSet
from engine.scoring import Ending, Outcome, Score
from tests.helpers.positions import cards, do, legal, outcome, position, refused

# Rule sets


def test_the_presets_are_choices_of_three_independent_settings() -> None:
    after, start = ClaimTime.AFTER_PLAY, ClaimTime.TURN_START
    assert {name: (r.tactics, r.claims, r.begins, r.hand_limit) for name, r in PRESETS.items()} == {
        "base": (False, after, Begins.ALTERNATE, 6),
        "expert": (False, start, Begins.ALTERNATE, 6),
        "tactics": (True, after, Begins.ALTERNATE, 7),
        "tactics-expert": (True, start, Begins.ALTERNATE, 7),
        "classic": (False, start, Begins.WINNER, 6),
    }


def test_every_combination_of_settings_has_one_name() -> None:
    combinations = {RuleSet(t, c, b) for t in (False, True) for c in ClaimTime for b in Begins}
    assert combinations == set(RULE_SETS.values())
    assert all(RuleSet.named(rules.name) == rules for rules in combinations)


# 1. The deal


@pytest.mark.parametrize("first", SEATS)
def test_cards_are_dealt_one_at_a_time_beginning_with_the_first_player(first: int) -> None:
    rules = PRESETS["base"]
    deal = Deal.from_seed("deal", rules.tactics)
    game = Game.new(rules, deal, SEATS[first])
    assert game.hands[first] == sorted(deal.clan[0:12:2])
    assert game.hands[1 - first] == sorted(deal.clan[1:12:2])
    assert game.to_move == first
    assert game.clan_deck[::-1] == list(deal.clan[12:])


def test_with_tactic_cards_each_hand_gets_seven_clan_cards() -> None:
    rules = PRESETS["tactics"]
    deal = Deal.from_seed("deal", rules.tactics)
    game = Game.new(rules, deal, SEATS[0])
    assert [len(hand) for hand in game.hands] == [7, 7]
    assert len(game.clan_deck) == 40
    assert game.tactic_deck[::-1] == list(deal.tactics)


# 2. The turn


def test_claims_come_after_playing_and_before_drawing() -> None:
    game = position("hand r3 g1\nstone 1 r1 r2 | g2 g4 b9\nstone 2 p1 p2 p3 | o1 o2 y9\ndeck b1 b2")
    do(game, "play r3 1")
    assert game.phase is Phase.CLAIM
    assert game.hands[0] == cards(["g1"])  # not drawn yet
    assert legal(game) == ["claim 1", "claim 2", "done"]
    do(game, "claim 2", "done")
    assert game.to_move == 1
    assert game.hands[0] == cards(["g1", "b1"])


def test_with_claims_at_the_start_a_stone_waits_for_the_next_turn() -> None:
    game = position("rules expert\nhand r3 g1\ntheir-hand y1 y2\nstone 1 r1 r2 | g2 g4 b9\ndeck b1 b2 b3")
    do(game, "play r3 1")
    assert (game.to_move, game.phase) == (1, Phase.PLAY)
    do(game, "play y1 2")
    assert (game.to_move, game.phase) == (0, Phase.CLAIM)
    do(game, "claim 1")
    assert game.phase is Phase.PLAY  # nothing else is provable, so the claims are over
    assert refused(game, "claim 1") == (
        "not now: stones are claimed at the start of a turn, and only where one can be proven; "
        "it is time to play a card, or to pass where no clan card can be placed"
    )


def test_the_claim_phase_exists_also_after_a_pass() -> None:
    full = "\n".join(f"stone {n} r{n} o{n} y{n} | g{n}" for n in range(2, 10))
    game = position(f"hand g1\nstone 1 r1 o1 y1 | b1 b2 p9 first:theirs\n{full}\nidle 1\ndeck")
    do(game, "pass")
    assert game.phase is Phase.CLAIM
    assert "claim 1" in legal(game)


@pytest.mark.parametrize(
    ("hand", "move"),
    [
        ("banshee", "play banshee g2 2"),
        ("mud-fight", "play mud-fight 2"),
        ("strategist", "play strategist p1 3 discard"),
        ("traitor", "play traitor g2 2 4"),
        ("recruiter", "play recruiter, draw clan, draw clan, draw clan, return b1, return b2"),
    ],
)
def test_the_claim_phase_exists_also_after_a_ruse_or_a_combat_mode(hand: str, move: str) -> None:
    game = position(
        f"rules tactics\nhand {hand} b1\nstone 1 r1 r2 r3 | g1 g4 b9\nstone 2 | g2\nstone 3 p1 |\ndeck b2 b3 b4 b5"
    )
    do(game, *move.split(", "))
    assert legal(game) == ["claim 1", "done"]


def test_without_a_provable_stone_there_is_no_claim_phase() -> None:
    game = position("hand r3\nstone 1 r1 | g2\ndeck b1 b2")
    do(game, "play r3 1")
    assert (game.to_move, game.phase) == (1, Phase.PLAY)


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


# 8. Passing


def test_pass_is_refused_while_a_clan_card_can_be_placed() -> None:
    assert refused(position("hand r5"), "pass") == "you can still place a clan card (r5), so you may not pass"


def test_pass_is_the_only_move_without_a_place_for_a_clan_card() -> None:
    full = "\n".join(f"stone {n} r{n} o{n} y{n} |" for n in range(1, 10))
    assert legal(position(f"hand g1 g2\n{full}")) == ["pass"]
    assert legal(position("hand\ndeck")) == ["pass"]


def test_with_only_tactic_cards_one_may_pass_or_play_one() -> None:
    moves = legal(position("rules tactics\nhand mud-fight recruiter"))
    assert moves == ["pass", *(f"play mud-fight {n}" for n in range(1, 10)), "play recruiter"]


def test_a_full_board_leaves_pass_and_what_the_tactic_cards_can_do() -> None:
    full = "\n".join(f"stone {n} r{n} o{n} y{n} |" for n in range(1, 10))
    moves = legal(position(f"rules tactics\nhand g1 joker mud-fight\n{full}"))
    assert moves == ["pass", *(f"play mud-fight {n}" for n in range(1, 10))]


# 9. Drawing


def test_without_tactic_cards_the_draw_happens_by_itself() -> None:
    game = do(position("hand r5\ndeck b1 b2"), "play r5 1")
    assert game.hands[0] == cards(["b1"])
    assert game.to_move == 1


def test_with_both_decks_the_player_names_one_and_may_not_decline() -> None:
    game = do(position("rules tactics\nhand r5 r6\ndeck b1\ntactic-deck spy"), "play r5 1")
    assert legal(game) == ["draw clan", "draw tactic"]
    assert refused(game, "play r6 1") == "not now: it is time to draw, with 'draw clan' or 'draw tactic'"
    do(game, "draw tactic")
    assert game.hands[0] == cards(["r6", "spy"])


@pytest.mark.parametrize(("decks", "drawn"), [("deck b1\ntactic-deck", "b1"), ("deck\ntactic-deck spy", "spy")])
def test_with_one_deck_left_the_draw_happens_by_itself(decks: str, drawn: str) -> None:
    game = do(position(f"rules tactics\nhand r5 r6\n{decks}"), "play r5 1")
    assert game.hands[0] == cards(["r6", drawn])
    assert game.to_move == 1


def test_a_full_hand_draws_nothing() -> None:
    full = "\n".join(f"stone {n} r{n} o{n} y{n} |" for n in range(1, 10))
    game = do(position(f"hand g1 g2 g3 g4 g5 g6\n{full}\ndeck b1"), "pass")
    assert len(game.hands[0]) == 6
    assert len(game.clan_deck) == 1


def test_with_tactic_cards_the_limit_of_the_hand_is_seven() -> None:
    below = position("rules tactics\nhand r1 r2 r3 r4 r5 r6 r7\ndeck b1 b2\ntactic-deck")
    do(below, "play r1 1")
    assert len(below.hands[0]) == 7
    full = "\n".join(f"stone {n} r{n} o{n} y{n} |" for n in range(1, 10))
    at_limit = position(f"rules tactics\nhand g1 g2 g3 g4 g5 g6 g7\n{full}\ndeck b1\ntactic-deck")
    do(at_limit, "pass")
    assert len(at_limit.hands[0]) == 7


def test_one_card_is_drawn_however_many_are_missing() -> None:
    game = do(position("hand r5\ndeck b1 b2 b3"), "play r5 1")
    assert game.hands[0] == cards(["b1"])


# 15. Blocked


CLAIMED_BY_BOTH = "stone 1 r1 o1 y1 | owner:you\nstone 2 | g2 b2 p2 owner:opponent"


def full_board(stones: str) -> str:
    return stones + "\n" + "\n".join(f"stone {n} r{n} o{n} y{n} | g{n} b{n} p{n}" for n in range(4, 10))


def test_two_turns_without_any_effect_end_the_round() -> None:
    game = position(full_board(f"{CLAIMED_BY_BOTH}\nstone 3 r3 o3 y3 | owner:you") + "\ndeck")
    do(game, "pass", "done")  # refusing to claim saves nobody
    assert game.outcome is None
    do(game, "pass")
    assert outcome(game) == Outcome(SEATS[0], Ending.BLOCKED, (5, 1), (SEATS[0], SEATS[1], SEATS[0], *[None] * 6))


def test_equal_stones_draw_a_blocked_round_and_both_score_them() -> None:
    game = position(full_board(f"{CLAIMED_BY_BOTH}\nstone 3 r3 o3 y3 | g3") + "\ndeck")
    do(game, "pass", "done", "pass")
    assert (outcome(game).winner, outcome(game).points) == (None, (1, 1))


def test_a_claim_keeps_a_round_from_being_blocked() -> None:
    game = position(
        full_board("stone 1 r1 o1 y1 | g1\nstone 2 r2 o2 y2 | g2\nstone 3 r3 o3 y3 | g3") + "\ndeck\nidle 1"
    )
    do(game, "pass", "claim 9", "done")
    assert game.outcome is None
    assert game.idle_turns == 0


def test_a_draw_keeps_a_round_from_being_blocked() -> None:
    game = position("rules tactics\nhand joker\nplayed joker |\ndeck b1\ntactic-deck\nidle 1")
    do(game, "pass")
    assert game.outcome is None
    assert game.idle_turns == 0


@pytest.mark.parametrize(
    ("hand", "move"),
    [
        ("r9", "play r9 3"),
        ("spy", "play spy 3"),
        ("mud-fight", "play mud-fight 3"),
        ("strategist", "play strategist r1 1 2"),
        ("banshee", "play banshee g1 1"),
        ("traitor", "play traitor g1 1 2"),
    ],
)
def test_any_card_played_keeps_a_round_from_being_blocked(hand: str, move: str) -> None:
    game = position(f"rules tactics\nhand {hand}\nstone 1 r1 | g1\ndeck\ntactic-deck\nidle 1")
    do(game, move)
    assert (game.outcome, game.idle_turns, game.to_move) == (None, 0, 1)


def test_a_draw_that_was_named_keeps_a_round_from_being_blocked_too() -> None:
    game = position("rules tactics\nhand\ndeck r1\ntactic-deck spy\nidle 1")
    do(game, "pass", "draw tactic")
    assert (game.outcome, game.idle_turns) == (None, 0)


def test_with_claims_at_the_start_an_idle_turn_is_counted_the_same() -> None:
    game = position("rules expert\nhand\ntheir-hand\ndeck")
    do(game, "pass", "pass")
    assert (outcome(game).winner, outcome(game).ending, outcome(game).points) == (None, Ending.BLOCKED, (0, 0))


# Points over several rounds and who begins


def won_by(winner: int | None) -> Outcome:
    owners = [SEATS[1], SEATS[1], None, SEATS[0], SEATS[0], SEATS[0], None, None, None]
    return Outcome.of(None if winner is None else SEATS[winner], Ending.BLOCKED, owners)


def test_the_winner_scores_five_and_the_loser_its_stones() -> None:
    assert won_by(0).points == (5, 2)
    assert won_by(1).points == (3, 5)
    assert won_by(None).points == (3, 2)


def test_the_points_of_a_match_add_up_and_the_other_player_begins() -> None:
    score = Score(PRESETS["base"], first=SEATS[0]).after(won_by(0))
    assert (score.points, score.first, score.leader) == ((5, 2), 1, 0)
    score = score.after(won_by(1))
    assert (score.points, score.first, score.leader) == ((8, 7), 0, 0)


def test_equal_points_lead_for_nobody() -> None:
    assert Score(PRESETS["base"], first=SEATS[0]).leader is None


def test_the_winner_begins_the_next_round_of_classic_and_a_draw_alternates() -> None:
    score = Score(PRESETS["classic"], first=SEATS[0])
    assert score.after(won_by(0)).first == 0
    assert score.after(won_by(1)).first == 1
    assert score.after(won_by(None)).first == 1


def test_a_schedule_can_say_who_begins_a_round_and_the_next_one_follows_from_it() -> None:
    score = Score(PRESETS["base"], first=SEATS[0], points=(5, 2))
    assert score.begun_by(None) == score
    assert score.begun_by(SEATS[1]).after(won_by(0)) == Score(PRESETS["base"], first=SEATS[0], points=(10, 4))


def test_card_texts_are_one_for_each_card() -> None:
    assert len(set(CARD_TEXTS)) == 63
