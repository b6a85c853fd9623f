"""The rules as refereed, in the order of SPEC.md: rule sets, deal, turn, passing, drawing, blocked rounds."""

import pytest

from engine.cards import CARD_TEXTS, SEATS
from engine.deal import Deal
from engine.game import Game
from engine.phase import Phase
from engine.ruleset import PRESETS, RULE_SETS, Begins, ClaimTime, RuleSet
from engine.scoring import Ending, Outcome
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


def test_card_texts_are_one_for_each_card() -> None:
    assert len(set(CARD_TEXTS)) == 63
