"""The commands as people call them: what they print, and what they say of mistakes."""

import hashlib
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import click
import pytest

from arena.cli.main import main
from tests.helpers.commands import arena
from tests.helpers.paths import ROOT
from tests.helpers.processes import bad_command
from tests.helpers.tournaments import anonymous, steady


def run_in(folder: Path, *arguments: str | bytes) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "arena", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "cup.jsonl"
    done = run_in(tmp_path, "run", steady("a"), steady("b"), steady("c"), "--rounds", "4", "--journal", "cup.jsonl")
    assert done.returncode == 0, done.stderr
    return anonymous(path)


def test_a_match_prints_a_line_for_each_round_and_the_score(tmp_path: Path) -> None:
    done = run_in(tmp_path, "play", steady("a"), steady("b"), "--rounds", "4", "--seed", "7")
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"Finished round 1 \(a vs b\): (1-0|0-1|1/2-1/2) \{[a-z ]+\}", lines[0])
    assert re.fullmatch(r"Score of a vs b: \d - \d - \d  \[[01]\.\d{3}\] 4", lines[4])
    assert re.fullmatch(r"Elo difference: [+-][\d.]+ \+/- [\d.]+ at 95 %.*", lines[6])
    assert os.listdir(tmp_path) == []  # nothing is kept that nobody asked to keep


def test_a_fault_is_told_with_its_reason_and_can_be_played_again(tmp_path: Path) -> None:
    bad = f"bad={bad_command('crash')}"
    done = run_in(tmp_path, "play", bad, steady("good"), "--rounds", "2", "--journal", "m.jsonl")
    assert "Finished round 1 (bad vs good): 0-1 {bad crashed}" in done.stdout
    detail = re.search(r"  round 1\.1-2\.1: it ended \(exit status 3\); on stderr: I am leaving; see (.*)", done.stdout)
    assert detail
    again = run_in(tmp_path, "rerun", detail[1], "--yes")
    assert again.stdout.splitlines() == [
        "Then: bad: crashed: it ended (exit status 3); on stderr: I am leaving",
        "Now:  bad: crashed: it ended (exit status 3); on stderr: I am leaving",
        "The fault came again.",
    ]
    assert again.stderr == "I am leaving\n"


def test_a_fault_without_a_journal_is_kept_where_its_message_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    bad = f"bad={bad_command('crash')}"
    done = run_in(tmp_path, "play", bad, steady("good"), "--rounds", "2")
    (folder,) = tmp_path.iterdir()
    assert f"Because of the faults, everything is kept in {folder}; remove it when you are done.\n" in done.stderr
    bundles = re.findall(r"; see (.*)", done.stdout)
    assert len(bundles) == 2
    again = run_in(tmp_path, "rerun", bundles[0], "--yes")
    assert again.stdout.startswith("Then: bad: crashed: it ended (exit status 3)")
    assert run_in(tmp_path, "verify", str(folder / "match.jsonl")).returncode == 0


def test_a_match_without_faults_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = run_in(tmp_path, "play", steady("a"), steady("b"), "--rounds", "2")
    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])


def test_a_match_that_is_in_the_journal_already_is_not_played_and_says_so(tmp_path: Path) -> None:
    words = ("play", steady("a"), steady("b"), "--rounds", "2", "--journal", "m.jsonl")
    assert re.fullmatch(r"Publish this now.* sha256:[0-9a-f]{64}\n", run_in(tmp_path, *words).stderr)
    done = run_in(tmp_path, *words)
    assert done.stderr == "2 of 2 rounds are in the journal already: nothing is left to play.\n"
    assert "Finished round" not in done.stdout
    longer = run_in(tmp_path, "run", *words[1:])
    assert longer.stderr.startswith(done.stderr)


def test_the_help_of_play_promises_no_journal() -> None:
    text = " ".join(arena("play", "--help").output.split())
    assert "tournament.jsonl" not in text
    assert "[none: only faults are kept]" in text
    assert "tournament.jsonl" in arena("run", "--help").output


def test_two_bots_of_one_kind_can_play_each_other(tmp_path: Path) -> None:
    done = run_in(tmp_path, "play", "greedy", "greedy", "--rounds", "2")
    assert "Finished round 1 (greedy vs greedy-2): " in done.stdout


def test_a_round_played_again_has_the_deal_that_it_promises(tmp_path: Path) -> None:
    """The library that greedy is written with complains on stderr about a deal that does not fit its hash."""
    bad = f"bad={bad_command('no-action')}"
    done = run_in(tmp_path, "play", bad, "greedy", "--rounds", "2", "--journal", "m.jsonl")
    for folder in re.findall(r"; see (.*)", done.stdout):
        again = run_in(tmp_path, "rerun", f"{folder}/bundle.json", "--yes")
        assert "Now:  bad: illegal-move" in again.stdout
        assert again.stderr == ""


def test_events_are_json_for_programs(tmp_path: Path) -> None:
    done = run_in(tmp_path, "run", steady("a"), steady("b"), "--rounds", "2", "--events", "--journal", "c.jsonl")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds == ["tournament", "started", "bot", "bot", "finished", "started", "finished", "ended"]
    times = [datetime.fromisoformat(event["time"]) for event in events]
    assert times == sorted(times)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event.pop("time")) for event in events)
    opening, *_ = (tmp_path / "c.jsonl").read_bytes().splitlines(keepends=True)
    published = f"sha256:{hashlib.sha256(opening).hexdigest()}"
    assert events[0] == {"event": "tournament", "rounds": 2, "finished": 0, "opening_hash": published}
    assert events[4]["id"] == "1.1-2.1"
    assert sum(events[4]["points"]) >= 0


def test_a_terminal_gets_a_live_line_and_the_table(tmp_path: Path) -> None:
    here, there = pty.openpty()
    bots = [steady("a"), steady("b")]
    words = [sys.executable, "-m", "arena", "run", *bots, "--rounds", "2", "--journal", "c.jsonl"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=there, stdout=subprocess.PIPE, text=True)
    os.close(there)
    shown = b""
    try:
        while chunk := os.read(here, 4096):
            shown += chunk
    except OSError:  # the other end of a terminal is closed
        pass
    out, _ = process.communicate(timeout=60)
    os.close(here)
    assert process.returncode == 0
    assert b"2/2" in shown
    assert "Rank  Name" in out


def test_the_table_has_formats_columns_anchors_and_cross_tables(journal: Path) -> None:
    assert "Rank  Name" in arena("table", str(journal)).output
    assert arena("table", str(journal), "--format", "csv").output.startswith("rank,name,elo")
    assert len(json.loads(arena("table", str(journal), "--format", "json", "--cross").output)["standings"]) == 3
    anchored = arena("table", str(journal), "--anchor", "a=1500", "--columns", "Name,Elo", "--format", "csv").output
    assert re.search(r"^a,1500(\.0)?,", anchored, re.MULTILINE)
    assert "Wins of the row against the column" in arena("table", str(journal), "--cross").output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--columns", "Name,Speed"], "--columns: there is no column 'Speed'; the columns are: Rank, "),
        (["--anchor", "x"], "--anchor 'x', but expected a name and a rating, such as greedy=1500"),
        (["--anchor", "x=1"], "no bot is called 'x'; there are: a, b, c"),
    ],
)
def test_wrong_choices_for_a_table_are_told(journal: Path, arguments: list[str], problem: str) -> None:
    result = arena("table", str(journal), *arguments)
    assert result.exit_code == 2
    assert problem in result.output


def test_a_sound_journal_is_verified(journal: Path) -> None:
    result = arena("verify", str(journal))
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "12 rounds of 1 tournament, 0 void: all in order and complete"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b'"winner":0', b'"winner":1', "the record says winner 1, but the moves give 0"),
        (b'"points":[5,', b'"points":[4,', "the record says points [4, "),
        (b'"first":0', b'"first":1', "seat 1 began, but the schedule says seat 0"),
        (b'"round","v":1,"id":"1.', b'"round","v":1,"id":"9.', "it is not in the schedule of this tournament"),
        (b'"bots":["', b'"bots":["z', "but the schedule says"),
        (b'"deck":["', b'"deck":["z', "is not a card"),
        (b'"pair":"1.', b'"pair":"9.', "its pair is 9."),
        (b'"round":1,', b'"round":3,', "its round is 3, but the schedule says 1"),
        (b",0],[", b",-4],[", "a time is negative"),
        (b'"result":', b'"fault":{"seat":0,"detail":"x"},"result":', "but a fault is recorded"),
        (b'"rules":"base","seed"', b'"rules":"expert","seed"', "it was played by expert, but the tournament by base"),
    ],
)
def test_a_journal_that_was_changed_is_found_out(journal: Path, old: bytes, new: bytes, problem: str) -> None:
    opening, *rounds = journal.read_bytes().splitlines(keepends=True)
    place = next(number for number, line in enumerate(rounds) if old in line)
    rounds[place] = rounds[place].replace(old, new, 1)
    journal.write_bytes(b"".join([opening, *rounds]))
    result = arena("verify", str(journal))
    assert result.exit_code == 1
    assert f"cup.jsonl:{place + 2}: round " in result.output
    assert problem in result.output


def test_at_most_a_screenful_of_problems_is_printed(journal: Path) -> None:
    with open(journal, "ab") as file:
        file.write(b"x\n" * 1020 + b"torn")
    shown = arena("verify", str(journal))
    assert shown.exit_code == 1
    lines = shown.output.splitlines()
    assert lines[0] == f"{journal}:1035: the line is torn: the file ends in the middle of it"
    assert [line.partition(" ")[0] for line in lines[1:20]] == [f"{journal}:{number}:" for number in range(15, 34)]
    assert lines[20] == "and 1,001 more; `arena verify --all` prints every problem"
    assert "12 rounds of 1 tournament, 0 void: 1020 problems" in lines
    everything = arena("verify", str(journal), "--all")
    assert everything.exit_code == 1
    assert [line for line in everything.output.splitlines() if line not in lines][-1].startswith(f"{journal}:1034: ")
    assert len(everything.output.splitlines()) == len(lines) - 1 + 1001


def test_doubled_and_unfinished_journals_are_told(journal: Path) -> None:
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines, *lines]))
    doubled = arena("verify", str(journal))
    assert "cup.jsonl:15: this tournament was already read; its rounds are left out" in doubled.output
    assert "12 rounds of 1 tournament" in doubled.output
    journal.write_bytes(b"".join(lines[:5]))
    unfinished = arena("verify", str(journal))
    remark, verdict, *_ = unfinished.output.splitlines()
    assert unfinished.exit_code == 0
    assert remark.startswith(f"{journal}:1: not complete: 4 of 12 rounds; the secret of the deals is not revealed yet")
    assert verdict == "4 rounds of 1 tournament, 0 void: all in order, but not complete"


def test_an_exchanged_deck_and_a_doubled_round_are_found_out(journal: Path) -> None:
    opening, first, *rest = journal.read_bytes().splitlines(keepends=True)
    line = json.loads(first)
    line["deck"][-1], line["deck"][-2] = line["deck"][-2], line["deck"][-1]
    journal.write_bytes(b"".join([opening, json.dumps(line).encode() + b"\n", *rest, rest[0], b"{}\n", b'{"torn']))
    output = arena("verify", str(journal)).output
    assert "its deal is not the one that follows from its own seed" in output
    assert f"cup.jsonl:15: round {json.loads(rest[0])['id']} is in the journal twice" in output
    assert "cup.jsonl:16: this is not a line of a journal" in output
    assert "cup.jsonl:17: the line is torn" in output


def test_a_time_where_nobody_was_asked_is_found_out(journal: Path) -> None:
    opening, first, *rest = journal.read_bytes().splitlines(keepends=True)
    line = json.loads(first)
    line["moves"][0][2] = None
    journal.write_bytes(b"".join([opening, json.dumps(line).encode() + b"\n", *rest]))
    assert "move 1: has no time" in arena("verify", str(journal)).output


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["run"], "a tournament needs two bots or more, found 0"),
        (["run", "none.toml"], "none.toml: No such file or directory"),
        (["play", "x=greedy", "x=greedy"], "two bots are named 'x'"),
        (["play", "gredy", "random"], "'gredy': there is no program 'gredy'; did you mean greedy?"),
        (["table", "none.jsonl"], "File 'none.jsonl' does not exist"),
        (["play", "greedy"], "a tournament needs two bots or more, found 1"),
        (["play", "greedy", "random", "counting"], "a match is between two bots, found 3; `arena run` plays with more"),
        (
            ["play", "--affinity=greedy", "greedy", "random"],
            "--affinity: affinity = 'greedy', but expected true or false",
        ),
        (["run", "cup.toml", "random"], "'cup.toml': a tournament file stands alone; write all other bots into it"),
        (
            ["run", "greedy", "--bot", "random"],
            "--bot 'random': 'random' has no value; expected words like cmd=./mybot",
        ),
        (["fly"], "No such command 'fly'"),
        (["plya"], "No such command 'plya'; did you mean play?"),
        (["play", "greedy", "random", "--ronds", "4"], "Did you mean"),
        (["play", "greedy", "random", "--rules", "tactcs"], "did you mean tactics?"),
        (
            ["play", "greedy", "random", "--env", "HOME"],
            '--env: env: expected HOME=VALUE, or, to pass on your own HOME, a tournament file with env = ["HOME"]',
        ),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(arguments: list[str], problem: str) -> None:
    result = arena(*arguments)
    assert result.exit_code == 2
    assert problem in result.output


@pytest.mark.usefixtures("new_interpreters")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_under_our_output_gets_one_clear_line(unbuffered: str) -> None:
    words, variables = [sys.executable, "-m", "arena", "bots"], os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, env=variables)
    assert done.returncode == 3
    assert done.stderr == b"arena: No space left on device\n"


def test_a_reader_who_has_had_enough_ends_a_match_without_a_traceback(tmp_path: Path) -> None:
    bots = " ".join(f"'{bot}'" for bot in (steady("a"), steady("b")))
    command = f"{sys.executable} -m arena play {bots} --rounds 20 | head -1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("Finished round 1 (a vs b)")
    assert "Traceback" not in done.stderr


def test_every_command_has_help_with_examples_that_can_be_parsed() -> None:
    names = [line.split()[0] for line in arena("--help").output.partition("Commands:")[2].splitlines() if line.strip()]
    assert len(names) == 23
    for name in names:
        text = arena(name, "--help").output
        assert text.startswith(f"Usage: main {name}")
        if name != "bots":
            assert f"arena {name}" in text.partition("Example")[2], name
        command = main.get_command(click.Context(main), name)
        assert command is not None
        for line in re.findall(rf"^ +arena {name}(?= |$)(.*?)(?:   .*)?$", text.partition("Example")[2], re.MULTILINE):
            words = shlex.split(re.split(r" [>|] ", line)[0])
            values, left, _ = command.make_parser(click.Context(command)).parse_args(words)
            assert left == []
            assert not [value for value in values.values() if isinstance(value, str) and value.startswith("--")], line


def test_the_bots_that_come_along_are_listed() -> None:
    assert [line.split()[0] for line in arena("bots").output.splitlines()] == ["random", "greedy", "counting"]
