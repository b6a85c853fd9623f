"""The text of a position: it round-trips, it is short to write by hand, and every mistake is named with its line."""

import pytest
from hypothesis import given, settings

from engine.cards import SEATS
from engine.errors import PositionError
from engine.game import Game
from engine.phase import Phase
from engine.position_text import position_from_text, position_to_text
from engine.ruleset import RULE_SETS, RuleSet
from tests.helpers.positions import cards, legal, position
from tests.helpers.sampling import sampled
from tests.helpers.walks import rule_sets, seeds, walk

ROUNDS = min(1000, settings().max_examples // 4)  # of each rule set: a thousand with `make fuzz`, else 25


@pytest.mark.fuzz
@pytest.mark.parametrize("name", sampled(RULE_SETS, "base", "tactics-expert"))
@settings(max_examples=ROUNDS)
@given(seed=seeds)
def test_every_position_of_a_round_survives_as_text(name: str, seed: int) -> None:
    """Equal games have the same legal actions and do the same after every further move."""
    game = None
    for game, _ in walk(RULE_SETS[name], seed):
        assert_survives(game)
    assert game is not None
    assert game.outcome is not None
    assert_survives(game)


def assert_survives(game: Game) -> None:
    read = position_from_text(game.to_text())
    assert read == game.position()
    assert Game.from_position(read) == game


@given(rule_sets, seeds)
def test_what_a_seat_sees_survives_as_text(rules: RuleSet, seed: int) -> None:
    *_, (game, _) = walk(rules, seed)
    for seat in (None, *SEATS):
        seen = game.position().seen_by(seat)
        assert position_from_text(position_to_text(seen)) == seen


def test_a_text_reads_like_this() -> None:
    game = Game.from_text(
        "# a comment\n\nrules tactics\nto-move opponent\nphase draw\nhand r5 joker\ntheir-hand g1 g2\n"
        "stone 3 r1 r2 r3 | g9 g8 g7 first:theirs\nstone 4 b1 |  mode:mud-fight\nstone 9 p1 p2 p3 | owner:you\n"
        "discard banshee b7\nplayed mud-fight | banshee\ndeck o1 o2\ntactic-deck spy\n"
    )
    assert (game.phase, game.to_move) == (Phase.DRAW, 1)
    assert game.complete_first[2] == 1
    assert game.clan_deck == cards(["o2", "o1"])
    assert game.to_text() == (
        "rules tactics\nto-move opponent\nphase draw\nhand r5 joker\ntheir-hand g1 g2\n"
        "stone 3 r1 r2 r3 | g9 g8 g7 first:theirs\nstone 4 b1 | mode:mud-fight\nstone 9 p1 p2 p3 | owner:you\n"
        "discard banshee b7\nplayed mud-fight | banshee\ndeck o1 o2\ntactic-deck spy\n"
    )


def test_cards_that_lie_face_down_are_counted() -> None:
    seen = position("rules tactics\nhand r5 joker\ntheir-hand g1 g2 spy\ndeck o1 o2\ntactic-deck recruiter").position()
    assert position_to_text(seen.seen_by(SEATS[0])) == (
        "rules tactics\nphase play\nhand r5 joker\ntheir-hand 2*clan tactic\ndeck 2*clan\ntactic-deck tactic\n"
    )


def test_decks_that_are_not_named_hold_what_is_left() -> None:
    game = position("rules tactics\nhand r1 joker\nstone 1 r2 spy |\nplayed spy joker | banshee recruiter\ndiscard g1")
    assert len(game.clan_deck) == 54 - 3
    assert sorted(game.tactic_deck) == sorted(
        cards(["shield-bearer", "blind-mans-bluff", "mud-fight", "strategist", "traitor"])
    )


def test_an_empty_text_is_an_empty_board() -> None:
    assert legal(position("")) == ["pass"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "hnad r5",
            "line 1: 'hnad' does not begin a line of a position; lines begin with rules, to-move, phase,",
        ),
        ("hand r5\n\nhand r6", "line 3: hand already stands in line 1; write it once"),
        ("stone 1 r1 |\nstone 1 r2 |", "line 2: stone 1 already stands in line 1; write it once"),
        ("rules poker", "line 1: rules is one of base, expert, tactics, tactics-expert, classic, base-winner-begins,"),
        ("phase", "line 1: phase is one of claim, play, draw, return, over, not nothing"),
        ("to-move me", "line 1: to-move is one of you, opponent, not 'me'"),
        ("effect maybe", "line 1: effect is one of yes, no, not 'maybe'"),
        ("idle two", "line 1: idle is one of 0, 1, 2, 3, not 'two'"),
        ("hand r5 x9", "line 1: 'x9' is not a card; clan cards look like r5"),
        ("# hello\nhand r5 \x1b[2J", "line 2: '\\x1b[2J' is not a card; clan cards look like r5"),
        ("stone r1 |", "line 1: stones are numbered 1 to 9; a stone is written like: stone 3 r1 r2 | g9 owner:you"),
        ("stone 10 r1 |", "line 1: stones are numbered 1 to 9"),
        ("stone 1 r1", "line 1: there is no bar; a stone is written like"),
        ("stone 1 r1 | g1 | b1", "line 1: there is more than one bar; a stone is written like"),
        ("stone 1 r1 | owner:me", "line 1: 'owner:me' is not one of first:yours, first:theirs, owner:you,"),
        ("stone 1 r1 | colour:red", "line 1: 'colour:red' is not one of first:yours"),
        ("rules tactics\nplayed joker", "line 2: there is no bar; tactic cards played are written like: played"),
    ],
)
def test_a_text_that_is_not_a_position_says_in_which_line_and_what_would_be_right(text: str, problem: str) -> None:
    with pytest.raises(PositionError) as caught:
        Game.from_text(text)
    assert str(caught.value).startswith(problem)


IMPOSSIBLE = [
    ("hand r5 r5", "line 1: r5 is already in your hand; there is only one"),
    ("hand r5\nstone 3 | r5", "line 2: r5 is already in your hand; there is only one"),
    ("hand r5\ntheir-hand r1\ndeck r5", "line 3: r5 is already in your hand; there is only one"),
    ("rules tactics\nhand joker joker\ndiscard joker", "line 3: joker is already in your hand; there are only 2"),
    ("hand joker", "line 1: joker is a tactic card, but the rules base have none"),
    ("deck 55*clan", "line 1: 55 clan cards are in this position, but there are only 54"),
    ("rules tactics\ndeck joker", "line 2: joker is not a clan card, so it belongs in the other deck"),
    ("rules tactics\ntactic-deck r1", "line 2: r1 is not a tactic card, so it belongs in the other deck"),
    ("hand r1 r2 r3 r4 r5 r6 r7", "line 1: the hand has 7 cards, but at most 6 are possible here"),
    ("rules tactics\ntheir-hand r1 r2 r3 r4 r5 r6 r7 r8", "line 2: the hand has 8 cards, but at most 7"),
    ("stone 1 r1 r2 r3 r4 |", "line 1: your side of stone 1 has 4 cards, but the limit is 3 without mud-fight"),
    (
        "rules tactics\nstone 1 | r1 r2 r3 r4 r5 mode:mud-fight",
        "line 2: the opponent's side of stone 1 has 5 cards, but the limit is 4",
    ),
    ("rules tactics\nstone 1 banshee |", "line 2: banshee cannot lie on a side; clan cards and elite troops can"),
    ("rules tactics\nstone 1 | mode:spy", "line 2: spy is not a combat mode; combat modes are blind-mans-bluff and"),
    ("stone 1 | owner:you", "line 1: you cannot own stone 1 with 0 of 3 cards on your side; a claim needs all of them"),
    (
        "stone 1 r1 r2 r3 | g1 first:theirs",
        "line 1: the opponent's side of stone 1 is not complete, so it was not complete first",
    ),
    ("rules tactics\nplayed r5 |", "line 2: r5 is not a tactic card of the rules tactics"),
    ("played spy |", "line 1: spy is not a tactic card of the rules base"),
    ("rules tactics\nhand spy\nplayed spy |", "line 3: spy was played, but is also in a hand or in the deck"),
    ("rules tactics\nplayed joker joker | spy", "line 2: you played two jokers, but each player may play only one"),
    (
        "rules tactics\nplayed | joker spy",
        "line 2: the opponent played 2 tactic cards and the other player 0, but a player may be at most one ahead",
    ),
    ("phase claim\nstone 1 r1 r2 r4 |", "line 1: no stone can be claimed, so there is no claim phase"),
    ("phase draw", "line 1: there is nothing to choose in a draw while a deck is empty"),
    ("rules tactics\nphase draw\nhand r1 r2 r3 r4 r5 r6 r7", "line 2: a hand of 7 cards is full, so nothing is drawn"),
    ("rules tactics\nphase return\nhand r1", "line 2: cards are returned only by a recruiter; say how many with"),
    ("rules tactics\nphase return\nreturns-left 1", "line 2: you cannot return a card from an empty hand"),
    ("rules tactics\nreturns-left 3", "line 2: a recruiter has 0 to 2 returns left, not 3"),
    ("rules tactics\nreturns-left 2", "line 2: returns are left only in the phase return, or while draws are left"),
    ("rules tactics\ndraws-left 1", "line 2: draws are left only in the phase draw, and then 2 returns as well"),
    ("phase return\nreturns-left 1\nhand r1", "there is no recruiter in base: it is a tactic card"),
    (
        "to-move opponent\nphase over\n" + "\n".join(f"stone {n} r{n} g{n} b{n} | owner:you" for n in (1, 2, 3)),
        "line 1: you won by a claim, so it was the winner's turn",
    ),
    ("phase over", "line 1: the round is not over: neither player has won, and there is no line idle 2"),
    ("idle 2", "line 1: after 2 turns without effect the round is blocked, so the phase is over"),
    ("idle 3", "line 1: 0 to 2 turns in a row can be without effect, not 3"),
    (
        "phase play\n" + "\n".join(f"stone {n} r{n} g{n} b{n} | owner:you" for n in (1, 2, 3)),
        "line 1: you won with these stones, so the phase is over",
    ),
    (
        "\n".join(f"stone {n} r{n} g{n} b{n} | owner:you" for n in (1, 2, 3))
        + "\n"
        + "\n".join(f"stone {n} | r{n} g{n} b{n} owner:opponent" for n in (4, 5, 6)),
        "both players hold enough stones to win, but the round ends when the first of them does",
    ),
    ("hand 6*clan\ndeck", "line 1: cards lie face down here, so the round cannot be continued; name them"),
]


@pytest.mark.parametrize(("text", "problem"), IMPOSSIBLE)
def test_a_position_that_cannot_come_up_is_refused(text: str, problem: str) -> None:
    with pytest.raises(PositionError) as caught:
        Game.from_text(text)
    assert str(caught.value).startswith(problem)


def test_a_problem_with_what_the_text_leaves_out_has_no_line() -> None:
    with pytest.raises(PositionError) as caught:
        Game.from_text("\n".join(f"stone {n} r{n} g{n} b{n} | owner:you" for n in (1, 2, 3)))
    assert (caught.value.line, str(caught.value)) == (None, "you won with these stones, so the phase is over")
