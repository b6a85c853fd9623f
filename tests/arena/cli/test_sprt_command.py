"""`arena sprt`, and `arena table --sprt`: exit statuses, texts, JSON, and what is refused."""

import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from arena.cli.sprt_progress import FirstFaults, RunningTest
from arena.journal.lines import FaultLine, ResultLine
from arena.journal.sequential_test import SprtState
from arena.plan.sprt import Sprt
from arena.tournament.tournament_events import RoundFinished, VerdictAdvanced
from tests.helpers.commands import arena
from tests.helpers.journals import write
from tests.helpers.paths import ROOT, STEADY_BOT
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.rounds import round_line
from tests.helpers.running import running
from tests.helpers.tournaments import steady

EASY = ("--elo1", "200", "--seed", "7", "--st", "60")
BAD = f"{sys.executable} -c 1"


def losing(name: str) -> str:
    return steady(name, "illegal")


def test_a_bot_that_is_better_a_bot_that_is_not_and_rounds_that_do_not_suffice(tmp_path: Path) -> None:
    never = ("--max-faults", "0")
    better = arena("sprt", steady("new"), losing("base"), *EASY, *never, "--journal", tmp_path / "better.jsonl")
    assert better.exit_code == 0, better.output
    assert "new is better than base: H1 (Elo 200) was accepted." in better.output
    assert "Warning: base failed in" in better.output
    worse = arena("sprt", losing("new"), steady("base"), *EASY, *never, "--journal", tmp_path / "worse.jsonl")
    assert worse.exit_code == 1
    assert "new is not better than base: H0 (Elo 0) was accepted." in worse.output
    short = arena("sprt", steady("new"), steady("base"), *EASY, "--max-rounds", "4", "--journal", tmp_path / "s.jsonl")
    assert short.exit_code == 3
    assert "Undecided whether new is better than base: all 2 pairs are played." in short.output
    for name, done in (("better", better), ("worse", worse), ("s", short)):
        table = arena("table", "--sprt", tmp_path / f"{name}.jsonl")
        assert table.exit_code == done.exit_code
        assert table.output in done.output


def test_the_result_as_json_is_the_same_from_the_journal(tmp_path: Path) -> None:
    journal = tmp_path / "test.jsonl"
    words = ("sprt", steady("new"), losing("base"), *EASY, "--max-faults", "0", "--journal", journal)
    done = arena(*words, "--json", "--quiet")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"], found["over"], found["reason"]) == (0, "better", True, "h1")
    assert found["bots"] == ["new", "base"]
    assert found["llr"] >= found["upper"] == pytest.approx(2.944, abs=0.001)
    assert sum(found["pentanomial"]) == found["pairs"]
    assert found["faults"] == [0, 2 * found["pairs"]]
    assert len(found["warnings"]) == 1
    again = arena("table", "--sprt", journal, "--format", "json")
    assert json.loads(again.stdout) == found
    assert json.loads(arena(*words, "--json", "--quiet").stdout) == found


def test_a_decided_test_does_not_answer_for_a_bot_that_has_changed(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text((ROOT / "example_bots" / "random_bot.py").read_text())
    new = f"new={sys.executable} {bot}"
    words = ("sprt", new, losing("base"), *EASY, "--max-faults", "0", "--journal", tmp_path / "test.jsonl")
    assert arena(*words).exit_code == 0
    assert arena(*words).exit_code == 0  # the same bots: the same result
    bot.write_text("raise SystemExit('broken')")
    refused = arena(*words)
    assert refused.exit_code == 2
    assert "new has changed since " in refused.stderr
    assert "a test is of one version of each bot" in refused.stderr
    assert "--changed" not in refused.stderr


def test_the_same_program_on_both_sides_is_not_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    same = "Undecided: both bots are the same program: nothing to test.\n"
    done = arena("sprt", "new=greedy", "base=greedy")
    assert (done.exit_code, done.stdout) == (3, same)
    for folder in ("new", "old"):
        shutil.copytree(ROOT / "tests" / "bots", tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    bots = [f"{name}={sys.executable} {name}/{STEADY_BOT.name} bot" for name in ("new", "old")]
    done = arena("sprt", *bots)
    assert (done.exit_code, done.stdout) == (3, same)
    assert "Compared were their commands, their settings, and all files in their folders except for .git" in done.stderr
    found = json.loads(arena("sprt", *bots, "--json").stdout)
    assert (found["verdict"], found["over"], found["reason"], found["pairs"]) == ("undecided", True, "same_program", 0)
    Path("test.toml").write_text('[sprt]\n[[bot]]\nname = "a"\ncmd = "greedy"\n[[bot]]\nname = "b"\ncmd = "greedy"\n')
    (event,) = map(json.loads, arena("run", "test.toml", "--events").stdout.splitlines())
    assert (event["event"], event["reason"]) == ("test", "same_program")
    assert not [*tmp_path.glob("*.jsonl")]
    Path("new/weights.json").touch()
    played = arena("sprt", *bots, "--max-rounds", "2")
    assert played.stdout.startswith("Undecided whether new is better than old: the only pair is played.\n")
    assert played.stderr.startswith("The programs are the same, but weights.json differs.\n")
    assert "differs" not in arena("sprt", *bots, "--max-rounds", "2", "--quiet").stderr


def test_without_a_journal_the_file_that_the_help_names_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "tournament.jsonl" in arena("sprt", "--help").stdout
    words = ("sprt", steady("new"), steady("base"), *EASY, "--max-rounds", "2")
    first = arena(*words)
    assert first.exit_code == 3
    assert "Everything is in tournament.jsonl." in first.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["tournament.jsonl"]
    again = arena(*words)
    assert (again.stdout, "2 rounds are in the journal already." in again.stderr) == (first.stdout, True)


def test_a_test_begins_with_what_is_compared(tmp_path: Path) -> None:
    bot = (
        "import json, sys\nfor line in sys.stdin:\n    message = json.loads(line)\n"
        "    if message['type'] == 'hello':\n"
        "        print(json.dumps({'type': 'hello', 'protocol': 1, 'name': 'x', 'version': '0.2'}), flush=True)\n"
        "    elif message['type'] == 'request':\n"
        "        answer = {'type': 'action', 'id': message['id'], 'move': message['legal'][0]}\n"
        "        print(json.dumps(answer), flush=True)\n"
    )
    for name in ("mybot.py", "one.py", "two.py", "three.py"):
        (tmp_path / name).write_text(bot)
    test = ("sprt", f"new={sys.executable} {tmp_path / 'mybot.py'}", "base=greedy", "--journal", tmp_path / "t.jsonl")
    done = arena(*test, "--max-rounds", "2", "--concurrency", "1")
    told = [f"new: {tmp_path / 'mybot.py'} and 3 files, 0.2", "base: greedy and 2 files"]
    promise, *lines = done.stderr.splitlines()
    assert promise.startswith("Publish this now")
    assert lines[:2] == told


def test_progress_in_a_pipe_has_the_words_that_chess_programmers_know(tmp_path: Path) -> None:
    words = (*EASY, "--max-rounds", "8", "--concurrency", "1", "--journal", tmp_path / "test.jsonl")
    done = arena("sprt", steady("new"), steady("base"), *words)
    lines = [line for line in done.stderr.splitlines() if line.startswith("LLR: ")]
    for line in lines:
        assert re.match(r"LLR: -?\d\.\d\d \(-2\.94, 2\.94\) \[0, 200\]  Ptnml\(0-2\): \d+(, \d+){4}  Elo: ", line)
        assert "Faults: new 0, base 0" in line
    assert "Elo: not known (new won every round, but they are too few to tell)" in lines[0]
    assert re.search(r"Elo: [+-].* \(95 %; biased by stopping\)", lines[-1])


def test_lines_come_with_each_half_as_many_pairs_again_and_a_display_has_figures_from_the_first_pair() -> None:
    piped, live, told = RunningTest(), RunningTest(), []
    for pairs in range(20):
        event = VerdictAdvanced(SprtState(Sprt(), ("new", "base"), most_pairs=500, pairs=(0, 0, pairs, 0, 0)))
        live.heard(event)
        told += [(pairs, line) for line in piped.lines(event)]
        drawn = live.drawn()
        if not pairs:
            assert drawn == ["The first pair is being played."]
        else:
            assert [line.partition(":")[0] for line in drawn[:2]] == ["LLR", "Elo"]
            assert drawn[2].startswith(f"{pairs} pair")
    assert [pairs for pairs, _ in told] == [1, 2, 3, 5, 8, 12, 18]
    assert all(line.startswith("LLR: ") for _, line in told)


def test_of_many_faults_the_first_ten_are_told() -> None:
    faults = FirstFaults()
    good = round_line("1.1-2.1", ResultLine(0, "five-stones", (5, 0), (None,) * 9))
    bad = round_line("1.1-2.2", ResultLine(0, "timeout", (5, 0), (None,) * 9), fault=FaultLine(1, "no answer"))
    told = [line for each in [good, bad] * 13 for line in faults.lines(RoundFinished(each))]
    words = f"Round 1.1-2.2 ({bad.bots[0]} vs {bad.bots[1]}): {bad.bots[1]} loses on time: no answer"
    assert told == [*[words] * 10, "Further faults are only counted."]


def test_the_live_display_shows_the_ratio_the_counts_and_what_is_to_come(tmp_path: Path) -> None:
    with arena_in_terminal(["sprt", steady("new"), steady("base"), "--elo1", "1", "--seed", "7"], tmp_path) as session:
        session.wait_for(" to come, ")
        new, base, ratio, elo, rest, *_ = session.lines
        os.kill(session.pid, signal.SIGINT)
        assert session.wait_for_status() == 130
        assert "Undecided whether new is better than base: the test is not over." in session.text
    assert (new.partition(":")[0], base.partition(":")[0]) == ("new", "base")  # what is compared
    assert re.match(r"LLR: -?\d\.\d\d \(-2\.94, 2\.94\) \[0, 1\]  Ptnml\(0-2\): \d+(, \d+){4}$", ratio)
    assert re.match(r"Elo: [+-].* \+/- .* \(95 %; biased by stopping\)$", elo)
    assert re.match(r"\d+ pairs?, about \d+ to come, \d+ .*  Faults: new 0, base 0; voids: 0$", rest)


def test_ctrl_c_prints_the_state_so_far_and_the_test_can_be_resumed(tmp_path: Path) -> None:
    words = ("sprt", steady("new"), steady("base"), "--elo1", "1", "--seed", "7", "--journal", "test.jsonl")
    with running(*words, cwd=tmp_path) as test:
        test.line_with("LLR: ")
        test.process.send_signal(signal.SIGINT)
        status, out, err = test.end()
    assert status == 130
    assert out.startswith("Undecided whether new is better than base: the test is not over.\nLLR: ")
    assert "are saved in test.jsonl" in err
    assert "To resume:  arena sprt" in err


@pytest.mark.extended
def test_a_file_with_a_test_is_played_by_run_and_by_sprt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    new, base = (json.dumps(steady(name, *words).split("=", 1)[1]) for name, words in (("a", ()), ("b", ("illegal",))))
    Path("test.toml").write_text(
        f'seed = 7\nmax-faults = 0\n[sprt]\nelo1 = 200\n[[bot]]\nname = "new"\ncmd = {new}\n'
        f'[[bot]]\nname = "base"\ncmd = {base}\n'
    )
    ran = arena("run", "test.toml")
    assert ran.exit_code == 0, ran.output
    assert "new is better than base" in ran.stdout
    again = arena("sprt", "test.toml")
    assert (again.exit_code, again.stdout) == (0, ran.stdout)
    other = arena("sprt", "test.toml", "--elo1", "100")
    assert other.exit_code == 2
    assert other.stderr == (
        "Error: test.jsonl: its test has elo1 = 200, but now it is elo1 = 100; name another journal (--journal FILE)\n"
    )
    events = [json.loads(line) for line in arena("run", "test.toml", "--events").stdout.splitlines()]
    assert {"test", "tournament", "ended"} == {event["event"] for event in events}
    assert next(event for event in events if event["event"] == "test")["verdict"] == "better"
    note = "A sequential test stops when its results happen to be extreme, so the Elo of its bots is biased"
    assert note in arena("table", "test.jsonl").stdout
    assert "still to be played" not in arena("table", "test.jsonl").stdout


def test_a_journal_of_an_ordinary_match_is_not_continued_by_a_test_nor_the_other_way_round(tmp_path: Path) -> None:
    bots, journal = (steady("new"), steady("base")), tmp_path / "match.jsonl"
    assert arena("play", *bots, "--rounds", "2", "--seed", "7", "--journal", journal).exit_code == 0
    saved = journal.read_bytes()
    refused = arena("sprt", *bots, *EASY, "--journal", journal)
    assert (refused.exit_code, refused.stderr) == (
        2,
        f"Error: {journal}: it is not the journal of a sequential test; name another journal (--journal FILE)\n",
    )
    table = arena("table", "--sprt", journal)
    assert table.exit_code == 2
    assert table.stderr == f"Error: {journal}:1: this tournament is not a sequential test; `arena sprt` plays one\n"
    assert journal.read_bytes() == saved
    test = tmp_path / "test.jsonl"
    assert arena("sprt", *bots, *EASY, "--max-rounds", "2", "--journal", test).exit_code == 3
    other = arena("play", *bots, "--rounds", "2", "--seed", "7", "--journal", test)
    assert other.exit_code == 2
    assert "it is the journal of a sequential test" in other.stderr


def test_table_has_nothing_else_to_do_with_a_test(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 4)
    for option in (["--cross"], ["--format", "csv"], ["--columns", "Rank"]):
        done = arena("table", "--sprt", journal, *option)
        assert done.exit_code == 2
        assert "--sprt prints the result of a test as text or, with --format json, as JSON only" in done.stderr
