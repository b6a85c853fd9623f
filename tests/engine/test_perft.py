"""The numbers of sequences of actions, which SPEC.md prints."""

from importlib import resources

from engine.game import Game
from tests.golden.perft import counts, sequences, table
from tests.helpers.positions import do


def test_there_are_as_many_sequences_of_actions_as_ever() -> None:
    begin, end = (f"<!-- {word} generated: perft -->\n" for word in ("begin", "end"))
    text = (resources.files("arena.devtools") / "SPEC.md").read_text(
        encoding="utf-8"
    )  # also where there is only a wheel
    golden = text.partition(begin)[2].partition(end)[0]
    assert list(table()) == golden.splitlines(), "run `make spec`"


def test_the_only_legal_action_counts_and_the_end_of_the_round_has_no_further_ones() -> None:
    game = Game.from_text("hand\ntheir-hand\ndeck\nstone 1 r1 r2 r3 | owner:you")
    assert counts(game) == [1, 1, 0, 0]  # two passes block the round
    assert sequences(do(game, "pass", "pass"), 1) == 0
