"""A match between two Python functions, played in this process."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

import arena
from arena.journal.verify import verify_journals
from engine.actions import parse
from protocol.bot_runner import Request
from tests.helpers.paths import ROOT
from tests.helpers.tournaments import configured, played, rounds_in


def first(request: Request) -> str:
    return request.legal[0]


def careless(request: Request) -> str:
    return random.choice(request.legal)


def broken(_: Request) -> str:
    raise ValueError("no idea")


def texts(rounds: object) -> list[list[tuple[int, str]]]:
    return [[(seat, text) for seat, text, _ in line.moves] for line in rounds]  # type: ignore[attr-defined]


def test_the_score_and_the_points_are_those_of_the_rounds() -> None:
    result = arena.play(first, careless, rounds=5, seed="7")
    winners = [line.result.winner for line in result.rounds]
    assert result.bots == ("first", "careless")
    assert result.score == (winners.count(0) + winners.count(None) / 2, winners.count(1) + winners.count(None) / 2)
    assert result.points == tuple(sum(line.result.points[seat] for line in result.rounds) for seat in range(2))
    assert [line.first for line in result.rounds] == [1, 0, 1, 0, 1]  # as in every match


def test_a_seed_makes_the_match_the_same_and_leaves_random_alone() -> None:
    random.seed(1)
    before = random.getstate()
    one, again = (arena.play(careless, careless, rules="tactics", rounds=2, seed="7") for _ in range(2))
    assert random.getstate() == before
    assert texts(one.rounds) == texts(again.rounds) != texts(arena.play(careless, careless, rounds=2).rounds)
    assert one.bots == ("careless", "careless-2")


def test_a_function_that_raises_loses_the_round_and_plays_the_next() -> None:
    result = arena.play(first, broken, rounds=2)
    for line in result.rounds:
        assert line.fault is not None
        assert (line.result.ending, line.result.winner, line.fault.seat) == ("crashed", 0, 1)
        assert line.fault.detail.startswith("it raised ValueError: no idea (line ")
    assert result.score == (2, 0)


@pytest.mark.parametrize(
    ("move", "ending", "detail"),
    [
        ("play r5 17", "illegal-move", "17"),
        (parse("done"), "illegal-move", "not now: stones are claimed after playing"),
        (None, "crashed", "it raised TypeError: choose() returned None; it must return a move such as"),
        (("pass", 5), "crashed", "it raised TypeError"),
    ],
)
def test_what_is_no_legal_move_loses_the_round(move: object, ending: str, detail: str) -> None:
    (line,) = arena.play(lambda _: move, first, rounds=1).rounds
    assert line.fault is not None
    assert (line.result.ending, line.bots) == (ending, ("bot", "first"))
    assert detail in line.fault.detail


def test_a_move_may_be_an_action_and_have_a_note() -> None:
    def explained(request: Request) -> tuple[object, str]:
        return parse(request.legal[-1]), f"one of {len(request.legal)}"

    (line,) = arena.play(explained, first, rounds=1).rounds
    assert line.fault is None
    assert set(line.notes) == {str(n) for n, (seat, _, ms) in enumerate(line.moves) if seat == 0 and ms is not None}


def test_the_records_are_those_of_a_journal(tmp_path: Path) -> None:
    journal = tmp_path / "match.jsonl"
    result = arena.play(careless, broken, rounds=3, journal=journal)
    assert rounds_in(journal) == list(result.rounds)
    report = verify_journals([journal])
    assert (report.rounds, report.problems) == (3, [])
    with pytest.raises(ValueError, match="there is something in this file"):
        arena.play(careless, broken, journal=journal)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rules": "chess"}, "chess"),
        ({"rounds": 0}, "rounds=.*0"),
        ({"two": "gredy"}, "'gredy' is not a bundled bot.*greedy"),
        ({"journal": "no/such/folder/match.jsonl"}, "No such file"),
    ],
)
def test_what_cannot_be_played_is_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        arena.play(**({"one": first, "two": first} | wrong))  # type: ignore[arg-type]


def test_the_same_long_function_plays_itself() -> None:
    def chooses_whatever_comes_first_of_all(request: Request) -> str:
        return request.legal[0]

    one, two = arena.play(*[chooses_whatever_comes_first_of_all] * 2, rounds=1).bots
    assert (one, two) == ("bot", "bot-2")
    chooses_whatever_comes_first_of_all.__name__ = "x" * 32
    assert arena.play(*[chooses_whatever_comes_first_of_all] * 2, rounds=1).bots[1] == "x" * 30 + "-2"


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'ply'"):
        _ = arena.ply


def test_importing_the_package_loads_none_of_it() -> None:
    code = (
        "import sys, arena; print([name for name in sys.modules if name.startswith(('arena.', 'engine', 'msgspec'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


@pytest.mark.extended
@pytest.mark.parametrize("names", [("random", "greedy"), ("counting", "random")])
def test_bundled_bots_play_as_their_programs_do(names: tuple[str, str], tmp_path: Path) -> None:
    started = played(configured(*names, journal=tmp_path / "cup.jsonl", rounds="4", rules="tactics"))
    assert texts(arena.play(*names, rules="tactics", rounds=4, seed="7").rounds) == texts(started)
