"""`arena show` and `arena replay --position` as people call them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.replay.build import replay_of
from arena.replay.position_report import text_at
from engine.cards import SEATS
from engine.game import Game
from engine.position_text import position_from_text
from engine.ruleset import PRESETS
from tests.golden.replay import golden_round
from tests.helpers.commands import arena

POSITION = """\
rules tactics
hand r5 joker
their-hand g1 g2
stone 3 r1 r2 r3 | g9
stone 4 b7 b8 b9 | y1
played spy | banshee
"""


def test_a_position_is_drawn_with_its_legal_moves_and_the_referee_on_each_claim() -> None:
    done = arena("show", "-", stdin=POSITION)
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        "Rules tactics\n"
        "\n"
        "opponent     g1 g2\n"
        "                       g9      y1\n"
        "      [1]     [2]     [3]v    [4]v    [5]     [6]     [7]     [8]     [9]\n"
        "                       r1      b7\n"
        "                       r2      b8\n"
        "                       r3      b9\n"
        "you          r5 joker   > play\n"
        "stones: you 0, opponent 0   clan deck 43, tactic deck 7\n"
        "tactics played: you spy, opponent banshee\n"
        "\n"
        "Legal moves (14):\n"
        "    play r5 1 2 5 6 7 8 9\n"
        "    play joker 1 2 5 6 7 8 9\n"
        "\n"
        "What the referee answers you to each claim (not now: stones are claimed after\n"
        "playing):\n"
        "    claim 1: no, your side of stone 1 is not complete: 0 of 3 cards\n"
        "    claim 2: no, your side of stone 2 is not complete: 0 of 3 cards\n"
        "    claim 3: no, you cannot prove stone 3: unseen cards could still make your\n"
        "        opponent's side stronger\n"
        "    claim 4: yes, proven: colour-run 24; the best your opponent can still make,\n"
        "        with y3 y2, is colour-run 6\n"
        + "".join(f"    claim {n}: no, your side of stone {n} is not complete: 0 of 3 cards\n" for n in range(5, 10))
    )


def test_a_position_comes_from_a_file_too_and_its_cards_have_colours(tmp_path: Path) -> None:
    path = tmp_path / "position.txt"
    path.write_text(POSITION)
    plain, painted = arena("show", path).stdout, arena("show", path, "--color").stdout
    assert plain == arena("show", "-", stdin=POSITION).stdout
    assert "\x1b[31mr5\x1b[0m" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == plain


def test_the_claims_of_a_claim_phase_are_answered_as_the_referee_does() -> None:
    text = "phase claim\nto-move opponent\nstone 1 g2 | r7 r8 r9\nstone 2 y7 y8 y9 | o1 o2 o3 owner:you\n"
    shown = arena("show", "-", stdin=text).stdout
    assert "Legal moves (2):\n    claim 1\n    done\n" in shown
    assert "to each claim:\n    claim 1: yes, proven: colour-run 24" in shown
    assert "    claim 2: no, stone 2 is already claimed\n" in shown


def test_the_end_of_a_round_has_a_result_and_no_moves() -> None:
    text = "phase over\n" + "".join(f"stone {n} r{n} g{n} b{n} | owner:you\n" for n in (4, 5, 6))
    shown = arena("show", "-", stdin=text).stdout
    assert shown.endswith("\nThe round is over: won by you (three-adjacent), points 5 - 0.\n")
    blocked = arena("show", "-", stdin="phase over\nidle 2\ndeck").stdout
    assert blocked.endswith("\nThe round is over: drawn (blocked), points 0 - 0.\n")


@pytest.mark.parametrize("seat", ["1", "opponent"])
def test_one_seat_sees_neither_the_other_hand_nor_the_moves_that_it_allows(seat: str) -> None:
    shown = arena("show", "-", "--seat", seat, stdin=POSITION).stdout
    assert "opponent     g1 g2\n" in shown
    assert "you          1 clan 1 tactic   > play\n" in shown
    assert "Your legal moves depend on a hand that this seat cannot see.\n" in shown
    assert not re.search(r"\br5\b|joker", shown)
    assert "claim 4: yes, proven" in shown
    assert "Legal moves (14):" in arena("show", "-", "--seat", "0", stdin=POSITION).stdout


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules base\nhnad r5", "<stdin>:2: 'hnad' does not begin a line of a position; lines begin with rules,"),
        ("# mine\nhand r5 r5", "<stdin>:2: r5 is already in your hand; there is only one"),
        ("phase claim", "<stdin>:1: no stone can be claimed, so there is no claim phase"),
        ("hand \x1b[2J", "<stdin>:1: '\\x1b[2J' is not a card; clan cards look like r5"),
        ("x" * 70_000, "<stdin>: this is too long for a position: more than 65536 characters"),
        (b"\xff\xfe", "<stdin>: this is not UTF-8 text"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str | bytes, problem: str) -> None:
    done = arena("show", "-", stdin=text)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {problem}")


def test_a_mistake_in_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "position.txt"
    path.write_text("rules base\n\nstone 1 r1 r2 r3 r4 |\n")
    done = arena("show", path)
    assert done.exit_code == 2
    assert done.stderr == f"Error: {path}:3: your side of stone 1 has 4 cards, but the limit is 3 without mud-fight\n"
    missing = arena("show", tmp_path / "none.txt")
    assert (missing.exit_code, "No such file" in missing.stderr) == (2, True)


# Positions of a journal


def test_a_position_of_a_round_is_printed_as_a_text(journal: Path) -> None:
    done = arena("replay", journal, "1.1-2.3", "--at", "17", "--position")
    last = len(golden_round("tactics").moves)
    assert done.stdout.startswith(f"# round 1.1-2.3, position 17 of {last}; you are ann, the opponent is ben\n")
    assert position_from_text(done.stdout) == replay_of(golden_round("tactics")).steps[17].position


@pytest.mark.parametrize("preset", PRESETS)
def test_every_position_of_a_round_can_be_shown(preset: str) -> None:
    replay = replay_of(golden_round(preset))
    for at in range(len(replay.steps)):
        assert Game.from_text(text_at(replay, at)).position() == replay.steps[at].position


def test_the_text_of_a_fault_is_the_position_in_which_the_bot_was_asked(journal: Path) -> None:
    before, fault = (arena("replay", journal, "1.1-3.1", "--at", str(at), "--position").stdout for at in (9, 10))
    assert before.partition("\n")[2] == fault.partition("\n")[2] != ""
    assert arena("show", "-", stdin=fault).exit_code == 0


def test_one_seats_position_holds_nothing_that_it_could_not_see(journal: Path) -> None:
    text = arena("replay", journal, "1.1-2.3", "--at", "17", "--position", "--seat", "ben").stdout
    seen = replay_of(golden_round("tactics")).steps[17].position.seen_by(SEATS[1])
    assert position_from_text(text) == seen
    shown = arena("show", "-", stdin=text)
    assert shown.exit_code == 0
    assert shown.stdout.endswith("\nCards lie face down in this position, so its legal moves are not known.\n")


def test_a_replay_can_be_piped_into_show(journal: Path) -> None:
    """Real processes and a real pipe."""
    program = f"{sys.executable} -m arena"
    command = f"{program} replay {journal} 1.1-2.3 --at 17 --position | {program} show -"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    board = arena("replay", journal, "1.1-2.3", "--at", "17").stdout.splitlines()
    row = next(line for line in board if "[" in line and "]" in line)
    assert row in done.stdout.splitlines()
    assert "Legal moves (" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["1.1-2.1", "--position"], "--position prints one position; say which with --at N"),
        (["--position"], "are for one round; name it after the journal"),
        (["1.1-2.1", "--at", "1", "--position", "--json"], "four ways to print; choose one"),
        (["1.1-2.1", "--at", "500", "--position"], "--at 500, but the round has the positions 0 to 59"),
        (["1.1-2.1", "--at", "1", "--position", "--html", "x.html"], "--html writes a page with all positions"),
    ],
)
def test_wrong_calls_say_what_would_be_right(arguments: list[str], words: str, journal: Path) -> None:
    done = arena("replay", journal, *arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_the_first_comment_of_a_text_is_its_title() -> None:
    shown = arena("show", "-", stdin="# round 1.1-2.1; you are greedy, the opponent is mine\nhand r5").stdout
    assert shown.startswith("round 1.1-2.1; you are greedy, the opponent is mine\nRules base\n")
    assert arena("show", "-", stdin="hand r5").stdout.startswith("Rules base\n")


def test_the_referee_speaks_to_the_player_to_move() -> None:
    text = "{}phase claim\nstone 1 r7 r8 r9 | g1 g2\nstone 2 r1 | b7 b8 b9\n"
    yours, theirs = (arena("show", "-", stdin=text.format(first)).stdout for first in ("", "to-move opponent\n"))
    assert "What the referee answers you to each claim:" in yours
    assert "claim 2: no, your side of stone 2 is not complete: 1 of 3 cards" in yours
    assert 'What the referee answers the opponent ("your" is the opponent\'s) to each claim:' in theirs
    assert "claim 1: no, your side of stone 1 is not complete: 2 of 3 cards" in theirs
