"""What `arena play` shows while it plays: the score so far with its interval, and how long it will take."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from arena.cli.forecast import Forecast
from arena.cli.wording import duration_text
from tests.helpers.commands import arena
from tests.helpers.paths import THINKING_BOT
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.running import running
from tests.helpers.tournaments import steady

SCORE = r"Score of a vs b: \d+ - \d+ - \d+  \[[01]\.\d{3}\] (\d+), Elo (?:[+-][\d.]+ \+/- [\d.]+|not known yet)"
BOTS = (steady("a"), steady("b"))


def test_in_a_pipe_the_score_is_printed_after_each_tenth_of_the_match() -> None:
    done = arena("play", *BOTS, "--rounds", "20", "--seed", "7")
    assert re.findall(f"^{SCORE}$", done.stdout, re.MULTILINE) == [str(count) for count in range(2, 20, 2)]
    assert len(re.findall("^Score of a vs b", done.stdout, re.MULTILINE)) == 10
    short = arena("play", *BOTS, "--rounds", "4", "--seed", "7")
    assert len(re.findall("^Score of a vs b", short.stdout, re.MULTILINE)) == 1


def test_a_match_that_is_resumed_goes_on_with_its_score(tmp_path: Path) -> None:
    journal = tmp_path / "match.jsonl"
    words = ("play", *BOTS, "--rounds", "20", "--seed", "7", "--journal", journal)
    whole = re.findall(f"^{SCORE}$", arena(*words).stdout, re.MULTILINE)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:14]))
    resumed = re.findall(f"^{SCORE}$", arena(*words).stdout, re.MULTILINE)
    assert resumed == whole[-len(resumed) :] == ["12", "14", "16", "18"]


def test_on_a_terminal_the_score_and_the_time_left_stand_below_the_rounds(tmp_path: Path) -> None:
    with arena_in_terminal(["play", *BOTS, "--rounds", "5000", "--seed", "7"], tmp_path) as session:
        session.wait_for(" left")
        *rounds, score, left = [line for line in session.lines if line]
        os.kill(session.pid, signal.SIGINT)
        assert session.wait_for_status() == 130
        after = session.text
    assert rounds[-1].startswith("Finished round ")
    assert re.match(f"{SCORE}$", score)
    assert re.match(r"\d+ of 5000 rounds, about \d+ .* left$", left)
    assert "left" not in after
    assert "Elo difference: " in after


def test_on_a_terminal_the_rounds_to_come_are_shown_before_the_first_is_over(tmp_path: Path) -> None:
    thinking = f"thinking={sys.executable} {THINKING_BOT} 600"
    with arena_in_terminal(["play", thinking, "random", "--rounds", "30"], tmp_path) as session:
        session.wait_for("0 of 30 rounds")


def test_ctrl_c_prints_the_score_so_far(tmp_path: Path) -> None:
    with running("play", *BOTS, "--rounds", "5000", "--journal", "match.jsonl", cwd=tmp_path) as match:
        assert match.process.stdout is not None
        for line in match.process.stdout:
            if line.startswith("Finished round 3 "):
                break
        match.process.send_signal(signal.SIGINT)
        status, out, err = match.end()
    assert status == 130
    assert re.search(r"^Score of a vs b: \d+ - \d+ - \d+  \[[01]\.\d{3}\] \d+$", out, re.MULTILINE)
    assert "Elo difference: " in out
    assert "of 5000 rounds are saved in match.jsonl" in err


def test_an_interval_that_contains_zero_is_said_to_show_nothing() -> None:
    done = arena("play", *BOTS, "--rounds", "2", "--seed", "7")
    assert "This does not show which bot is better; `arena sprt` plays until that is known." in done.stdout
    assert "LOS" not in done.stdout


def test_of_a_match_of_a_program_with_itself_nothing_more_is_promised() -> None:
    command = BOTS[0].partition("=")[2]
    done = arena("play", f"a={command}", f"b={command}", "--rounds", "2", "--seed", "7")
    assert done.exit_code == 0
    assert "Both bots are the same program, so this does not show which bot is better.\n" in done.stdout
    assert "arena sprt" not in done.stdout


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("rounds", "seconds", "after", "text"),
    [
        (1000, 0.5, 10, "This will take about 8 min: 10 of 1000 rounds took 5.0 s."),
        (100, 30.0, 1, "This will take about 50 min: 1 of 100 rounds took 30.0 s."),
        (100, 2.0, 3, "This will take about 3 min: 3 of 100 rounds took 6.0 s."),
        (100, 0.5, None, None),  # less than a minute
        (1, 90.0, None, None),  # nothing is left
    ],
)
def test_a_run_of_more_than_a_minute_says_so_once_after_its_first_rounds(
    rounds: int, seconds: float, after: int | None, text: str | None
) -> None:
    clock = Clock()
    forecast = Forecast(rounds, clock)
    clock.now = 100.0  # bots were started meanwhile
    said = {}
    for number in range(1, rounds + 1):
        forecast.started()
        clock.now += seconds
        if found := forecast.finished():
            said[number] = found
    assert said == ({after: text} if after else {})


def test_a_run_that_becomes_slower_says_so_as_soon_as_that_shows() -> None:
    clock = Clock()
    forecast = Forecast(200, clock)
    said = {}
    for number in range(1, 201):
        forecast.started()
        clock.now += 0.2 if number <= 10 else 1.0
        if found := forecast.finished():
            said[number] = found
    assert said == {12: "This will take about 67 s: 12 of 200 rounds took 4.0 s."}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59.6, "60 s"), (130, "2 min"), (5900, "98 min"), (12000, "3 h 20 min"), (400_000, "5 days")],
)
def test_durations_in_words(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
