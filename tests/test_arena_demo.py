"""The printed round, and the command that prints it."""

import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from arena.board import render_board
from arena.cli import main
from arena.demo import random_round
from engine.ruleset import PRESETS
from tests.positions import position

ROOT = Path(__file__).parent.parent


def test_the_same_seed_prints_the_same_round() -> None:
    rules = PRESETS["tactics"]
    assert random_round(rules, "7") == random_round(rules, "7")
    assert random_round(rules, "7") != random_round(rules, "8")


def test_a_printed_round_ends_in_the_board_and_the_result() -> None:
    for rules in PRESETS.values():
        for seed in range(20):
            text = random_round(rules, str(seed))
            assert "Points: " in text.splitlines()[-1]
            assert max(map(len, text.splitlines())) <= 80


def test_the_board_shows_sides_stones_owners_modes_and_hands() -> None:
    game = position(
        "rules tactics\nhand r9\ntheir-hand g1 joker\nstone 1 r1 r2 r3 | shield-bearer owner:you\n"
        "stone 9 b1 | b9 g9 p9 o9 mode:mud-fight mode:blind-mans-bluff\ndiscard banshee"
    )
    assert render_board(game, ("ann", "bob")).splitlines() == [
        "bob: g1 joker",
        "                                                                    o9",
        "                                                                    p9",
        "                                                                    g9",
        "          shield                                                    b9",
        "claimed",
        "stone       [1]    [2]    [3]    [4]    [5]    [6]    [7]    [8]    [9]",
        "mode                                                                mud",
        "mode                                                               blind",
        "claimed    ****",
        "            r1                                                      b1",
        "            r2",
        "            r3",
        "ann: r9",
        "discard: banshee",
    ]


def arena(*arguments: str | bytes, stdout: str) -> str:
    with open(stdout, "wb") as out:
        command = [sys.executable, "-m", "arena", *arguments]
        return subprocess.run(command, stdout=out, stderr=subprocess.PIPE, cwd=ROOT).stderr.decode()


def test_a_full_disk_and_a_seed_that_is_no_text_get_one_clear_line() -> None:
    assert arena("demo", stdout="/dev/full") == "arena: No space left on device\n"
    assert arena("demo", "--seed", b"\xff", stdout="/dev/null").endswith("'--seed': it is not UTF-8\n")


def test_an_unknown_rule_set_is_refused_with_those_there_are() -> None:
    result = CliRunner().invoke(main, ["demo", "--rules", "basic"])
    assert result.exit_code == 2
    assert "Invalid value for --rules: 'basic' is no rule set; there are: base, expert, tactics" in result.output
