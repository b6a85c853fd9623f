"""`arena rerun`: the round of a fault once more, from its bundle; and what is said of files that are none."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.plan.config import from_command_line
from arena.plan.recorded_config import RecordedBot, recorded_bot, spec_of
from arena.worker.fault_bundle import read_bundle
from tests.helpers.commands import arena
from tests.helpers.processes import bad_command
from tests.helpers.tournaments import configured, played, steady

EXPECTED = "expected a folder such as cup.faults/1.1-2.3-mybot beside the journal, or the bundle.json in it"
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a bot on seat 0 that crashed."""
    journal = tmp_path_factory.mktemp("cup") / "cup.jsonl"
    line = played(configured(f"bad={bad_command('crash')}", steady("good"), journal=journal))[0]
    assert line.fault is not None
    assert line.fault.bundle is not None
    return Path(line.fault.bundle)


@pytest.fixture
def bundle(crashed: Path, tmp_path: Path) -> Callable[[Change], Path]:
    """Makes a bundle like it, but for a change."""

    def make(change: Change) -> Path:
        facts = json.loads((crashed / "bundle.json").read_text())
        change(facts)
        path = tmp_path / "bundle.json"
        path.write_text(json.dumps(facts))
        return path

    return make


def rerun(path: Path) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-m", "arena", "rerun", str(path)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


# Whether it came again


@pytest.mark.parametrize("file", ["", "bundle.json"])
def test_a_fault_that_comes_again_has_the_status_0(crashed: Path, file: str) -> None:
    done = rerun(crashed / file)
    assert done.returncode == 0
    assert done.stdout == (
        "Then: bad: crashed: it ended (exit status 3); on stderr: I am leaving\n"
        "Now:  bad: crashed: it ended (exit status 3); on stderr: I am leaving\n"
        "The fault came again.\n"
    )


def good_again(facts: dict[str, Any]) -> None:
    facts["bots"][0]["cmd"] = ["random"]


def other_fault(facts: dict[str, Any]) -> None:
    words = bad_command("no-action").split()
    facts["bots"][0]["cmd"] = words


def other_seat(facts: dict[str, Any]) -> None:
    facts["bots"].reverse()


def other_words(facts: dict[str, Any]) -> None:
    facts["fault"]["detail"] = "qwertz"


@pytest.mark.parametrize(
    ("change", "status", "now", "last"),
    [
        (good_again, 1, "no fault; the round ended by ", "The fault did not come again."),
        (other_fault, 1, "bad: illegal-move: ", "The fault did not come again."),
        (other_seat, 1, "bad: crashed: ", "The fault did not come again."),
        (other_words, 0, "bad: crashed: ", "The fault came again."),
    ],
)
def test_the_status_tells_whether_the_same_seat_failed_in_the_same_way(
    bundle: Callable[[Change], Path], change: Change, status: int, now: str, last: str
) -> None:
    done = rerun(bundle(change))
    assert done.returncode == status
    _, told, verdict = done.stdout.splitlines()
    assert told.startswith(f"Now:  {now}")
    assert verdict == last


# What is no bundle


def remote(facts: dict[str, Any]) -> None:
    facts["bots"][1] = {"name": "anna", "remote": True}


def other_rules(facts: dict[str, Any]) -> None:
    facts["rules"] = "chess"


def without_command(facts: dict[str, Any]) -> None:
    del facts["bots"][0]["cmd"]


def three_bots(facts: dict[str, Any]) -> None:
    facts["bots"].append(facts["bots"][0])


def seat_two(facts: dict[str, Any]) -> None:
    facts["fault"]["seat"] = 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (remote, "anna connected from outside, so the arena cannot start it; the messages of the round are beside it"),
        (other_rules, "'chess' is not a rule set; there are: base, "),
        (without_command, "the command of bad is not recorded"),
        (three_bots, "this is not the bundle of a fault (Expected `array` of length 2"),
        (seat_two, "this is not the bundle of a fault (Invalid enum value 2 - at `$.fault.seat`)"),
    ],
)
def test_a_bundle_that_cannot_be_played_is_one_line_and_the_status_2(
    bundle: Callable[[Change], Path], change: Change, words: str
) -> None:
    path = bundle(change)
    result = arena("rerun", path)
    assert result.exit_code == 2
    assert result.output.startswith(f"Error: {path}: {words}")
    assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{}", "this is not the bundle of a fault (Object missing required field `round`)"),
        (b"[1]", "this is not the bundle of a fault (Expected `object`, got `array`)"),
        (b"no json", "this is not JSON"),
        (b"\xff\xfe", "this is not JSON"),
        (b"", "this is not JSON"),
        (b"[" * 100_000, "this is not JSON"),
        (b'{"type":"tournament","v":1}\n{"type":"round"}\n', "this is a journal"),
    ],
)
def test_a_wrong_file_is_one_line_and_the_status_2(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    result = arena("rerun", path)
    assert result.exit_code == 2
    assert result.output == f"Error: {path}: {words}; {EXPECTED}\n"


def test_a_wrong_place_is_one_line_and_the_status_2(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, words in (
        (tmp_path, "there is no bundle.json in this folder"),
        (tmp_path / "gone", "there is no such file"),
        (tmp_path / "fifo", "this is not a regular file"),
    ):
        result = arena("rerun", path)
        assert result.exit_code == 2
        assert result.output == f"Error: {path}: {words}; {EXPECTED}\n"


def test_the_old_name_of_the_command_is_gone() -> None:
    assert arena("again", "x").exit_code == 2
    assert "\n  again " not in arena("--help").output


# The file itself


def test_a_bundle_is_read_as_it_was_written(crashed: Path) -> None:
    text = (crashed / "bundle.json").read_text()
    found = read_bundle(crashed)
    assert json.loads(text) == json.loads(json.dumps(msgspec.to_builtins(found)))
    assert list(json.loads(text)) == [
        "round", "rules", "seed", "first", "cwd", "bots", "fault", "moves", "exit_status", "rerun",
    ]  # fmt: skip
    assert found.rerun == f"arena rerun {crashed}"


def test_a_bundle_of_an_older_version_is_read(bundle: Callable[[Change], Path]) -> None:
    def older(facts: dict[str, Any]) -> None:
        facts["again"] = facts.pop("rerun").replace("rerun", "again")
        facts["recoloured"] = True
        for bot in facts["bots"]:
            bot["env"] = {"DEPTH": "3"}

    found = read_bundle(bundle(older))
    assert found.recoloured
    assert spec_of(found.bots[0]).env == (("DEPTH", "3"),)


def test_a_bot_is_recorded_and_made_again() -> None:
    limits = {"st": "3", "tc": "10+0.5", "memory": "200M", "cpu": "7", "processes": "9", "restart": "match"}
    config = from_command_line([steady("a"), "greedy"], (), limits)
    for spec in config.bots:
        recorded = recorded_bot(spec)
        assert spec_of(recorded) == spec
        assert msgspec.json.decode(msgspec.json.encode(recorded), type=RecordedBot) == recorded
