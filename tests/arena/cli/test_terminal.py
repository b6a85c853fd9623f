"""`arena replay` in a real pseudo-terminal: what is on the screen, and the terminal as it was once it is left."""

import os
import re
import signal
import termios
from pathlib import Path

import pytest

from arena.cli.terminal import keys_in
from engine.ruleset import PRESETS
from tests.golden.replay import golden_round
from tests.helpers.pty_session import PtySession, arena_in_terminal
from tests.helpers.rounds import written

DOWN, RIGHT, LEFT, END = "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[F"
ROUND = golden_round("tactics")
LAST = len(ROUND.moves)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path / "cup.jsonl", *(golden_round(preset) for preset in PRESETS))
    return tmp_path


def assert_restored(session: PtySession) -> None:
    """Lines are edited and echoed again, the first screen and the cursor are back."""
    local = session.attributes()[3]
    assert local & termios.ECHO
    assert local & termios.ICANON
    assert session.raw.count(b"\x1b[?1049h") == session.raw.count(b"\x1b[?1049l")
    assert session.raw.rfind(b"\x1b[?25h") > session.raw.rfind(b"\x1b[?25l")


def words(position: int) -> str:
    """How the board tells the move that led there."""
    seat, move, _ = ROUND.moves[position - 1]
    return f"{position}. {ROUND.bots[seat]}: {move}"


def test_a_round_is_stepped_through_by_keys(folder: Path) -> None:
    with arena_in_terminal(["replay", "cup.jsonl", ROUND.id], folder) as session:
        session.wait_for(f"position 0 of {LAST}, turn 0")
        assert not session.attributes()[3] & (termios.ECHO | termios.ICANON)
        session.press(RIGHT * 3 + LEFT)
        session.wait_for(words(2))
        assert session.lines[0].startswith("Round 1.1-2.3  tactics  ann - ben")
        assert session.lines[0].endswith(f"position 2 of {LAST}, turn 1")
        assert session.lines[23] == "both hands   arrows step  c claim  m mistake  e curve  v view  ? help  q quit"
        assert re.search(r"^ben +[roygbp]\d", session.text, re.MULTILINE)
        session.press("v")
        session.wait_for("seat 0's view")
        assert re.search(r"^ben +\d clan", session.text, re.MULTILINE)
        session.press("c")
        session.wait_for(": claim ")
        session.press(END)
        session.wait_for(words(LAST))
        session.wait_for("(blocked), points")
        session.press("?")
        session.wait_for("next claim")
        session.press("?q")
        assert session.wait_for_status() == 0
        assert_restored(session)


@pytest.mark.parametrize(("end", "status"), [("\x03", 0), ("\x1b", 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_whatever_ends_it_the_terminal_is_restored(end: str | signal.Signals, status: int, folder: Path) -> None:
    with arena_in_terminal(["replay", "cup.jsonl", ROUND.id], folder) as session:
        session.wait_for("position 0")
        if isinstance(end, str):
            session.press(end)
        else:
            os.kill(session.pid, end)
        assert session.wait_for_status() == status
        assert_restored(session)


def test_a_round_is_chosen_from_the_list_and_left_again(folder: Path) -> None:
    with arena_in_terminal(["replay", "cup.jsonl"], folder) as session:
        session.wait_for("5 rounds")
        session.press(DOWN + DOWN)
        session.wait_for(" >     3 1.1-2.3")
        session.press("\r")
        session.wait_for(f"position 0 of {LAST}")
        session.press("q")
        session.wait_for(" >     3 1.1-2.3")
        session.press("5\r")
        session.wait_for("Round 1.1-2.5  classic")
        session.press("qq")
        assert session.wait_for_status() == 0
        assert_restored(session)


def test_a_damaged_round_is_told_in_the_list_and_the_others_open(folder: Path) -> None:
    journal = folder / "cup.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"points":[', b'"points":[1', 1) + b"{\n")
    with arena_in_terminal(["replay", "cup.jsonl"], folder) as session:
        session.wait_for("1 problem: cup.jsonl:7:")
        session.press("\r")
        session.wait_for("cup.jsonl:2: round 1.1-2.1: the record says points")
        session.press(DOWN + "\r")
        session.wait_for("Round 1.1-2.2")
        session.press("qq")
        assert session.wait_for_status() == 0


def test_another_size_of_the_window_is_drawn_anew(folder: Path) -> None:
    with arena_in_terminal(["replay", "cup.jsonl", ROUND.id], folder) as session:
        session.wait_for("q quit")
        session.resize(100, 30)
        session.wait_for_line(29, "q quit")
        session.resize(40, 12)
        session.wait_for_line(11, "both hands   arrows step  c claim  m mi…")
        session.press("q")
        assert session.wait_for_status() == 0


# What a shell does with a command that is stopped; it goes on when Enter is pressed.
SHELL = ("bash", "-c", 'set -m; "$@"; echo "stopped with $?"; stty -a; read; fg; printf "\\nleft with $?\\n"', "bash")


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(folder: Path) -> None:
    with arena_in_terminal(["replay", "cup.jsonl", ROUND.id], folder, around=SHELL) as session:
        session.wait_for("position 0")
        session.press(RIGHT)
        session.wait_for("position 1 of")
        session.press("\x1a")
        session.wait_for(f"stopped with {128 + signal.SIGTSTP}")
        session.wait_for(" icanon ")
        session.press("\n")
        session.wait_for("position 1 of")
        session.press(RIGHT)
        session.wait_for("position 2 of")
        session.press("q")
        session.wait_for("left with 0")
        assert session.wait_for_status() == 0
        assert_restored(session)


def test_colours_are_left_out_where_nobody_wants_them(folder: Path) -> None:
    for arguments, environment, wanted in (
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        (["--no-color"], {}, False),
        (["--color"], {"NO_COLOR": "1"}, True),
    ):
        with arena_in_terminal(["replay", "cup.jsonl", ROUND.id, *arguments], folder, environment) as session:
            session.wait_for("q quit")
            assert (re.search(rb"\x1b\[[\d;]*3\dm", session.raw) is not None) is wanted


def test_a_dumb_terminal_gets_the_last_position(folder: Path) -> None:
    with arena_in_terminal(["replay", "cup.jsonl", ROUND.id], folder, {"TERM": "dumb"}) as session:
        assert session.wait_for_status() == 0
        assert b"\x1b[?1049h" not in session.raw
        assert "--all prints every step" in session.text


def test_keys_are_told_apart() -> None:
    assert list(keys_in("a\x1b[C\x1bOA\x1b[5~\x1b[1;5C\x1b\r\x7f")) == [
        "a",
        "right",
        "up",
        "pageup",
        "escape",
        "enter",
        "backspace",
    ]
