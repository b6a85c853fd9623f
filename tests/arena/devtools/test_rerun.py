"""`arena rerun`: the very decision of a fault again, from its bundle; and what is said of files that are none."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest

from arena.bots.wants import Logic
from arena.devtools.rerun import FaultOutcome, Rerun
from arena.devtools.rerun import rerun as rerun_here
from arena.journal.lines import RoundLine
from arena.match.round_play import RoundPlay, Void
from arena.plan.bot_spec import AnySpec, BotSpec
from arena.plan.config import from_command_line
from arena.plan.recorded_config import RecordedBot, recorded_bot, spec_of
from arena.worker.fault_bundle import opponents_folder, read_bundle
from engine.cards import SEATS
from tests.helpers.commands import arena
from tests.helpers.failing import against, every_way_to_fail
from tests.helpers.paths import ROOT, STEADY_BOT
from tests.helpers.processes import bad_command, no_bad_bot_left
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
    """Makes a bundle like it, but for a change. It has both bots."""

    def make(change: Change) -> Path:
        facts = json.loads((opponents_folder(crashed) / "bundle.json").read_text())
        change(facts)
        path = tmp_path / "bundle.json"
        path.write_text(json.dumps(facts))
        return path

    return make


def rerun(path: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "arena", "rerun", str(path), "--yes", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def as_started(specs: Sequence[BotSpec]) -> Sequence[BotSpec]:
    return specs


def repeated(path: Path, *, live: bool = False, from_start: bool = False) -> Rerun:
    found = rerun_here(path, as_started, live=live, from_start=from_start)
    assert found is not None
    return found


def bundle_of(line: RoundLine) -> Path:
    assert line.fault is not None
    assert line.fault.bundle is not None
    return Path(line.fault.bundle)


# Whether it came again


@pytest.mark.parametrize("words", [[], ["--live"]])
@pytest.mark.parametrize("file", ["", "bundle.json"])
def test_a_fault_that_comes_again_has_the_status_0(crashed: Path, file: str, words: list[str]) -> None:
    done = rerun(crashed / file, *words)
    assert done.returncode == 0
    assert done.stdout == (
        "Then: bad: crashed: it ended (exit status 3); on stderr: I am leaving\n"
        "Now:  bad: crashed: it ended (exit status 3); on stderr: I am leaving\n"
        "The fault came again.\n"
    )


def good_again(facts: dict[str, Any]) -> None:
    facts["bots"][0]["cmd"] = ["random"]


def other_fault(facts: dict[str, Any]) -> None:
    facts["bots"][0]["cmd"] = bad_command("no-action").split()


def other_seat(facts: dict[str, Any]) -> None:
    facts["bots"].reverse()


def other_words(facts: dict[str, Any]) -> None:
    facts["fault"]["detail"] = "qwertz"


def not_started(facts: dict[str, Any]) -> None:
    facts["bots"][0]["cmd"] = ["false"]


AGAIN, NOT_AGAIN, ANOTHER = "The fault came again.", "The fault did not come again.", "Another fault came instead."


@pytest.mark.parametrize(
    ("change", "words", "status", "now", "last"),
    [
        (good_again, [], 1, "no fault; bad answers 'play ", NOT_AGAIN),
        (other_fault, [], 1, "bad: illegal-move: 'resign' is not an action", ANOTHER),
        (other_words, [], 0, "bad: crashed: ", AGAIN),
        (not_started, [], 1, "bad: failed-to-start: ", ANOTHER),
        (good_again, ["--live"], 1, "no fault; the round ended by ", NOT_AGAIN),
        (other_fault, ["--live"], 1, "bad: illegal-move: ", ANOTHER),
        (other_seat, ["--live"], 1, "bad: crashed: ", ANOTHER),
        (other_words, ["--live"], 0, "bad: crashed: ", AGAIN),
    ],
)
def test_the_status_tells_whether_the_same_bot_failed_in_the_same_way(
    bundle: Callable[[Change], Path], change: Change, words: list[str], status: int, now: str, last: str
) -> None:
    done = rerun(bundle(change), *words)
    assert done.returncode == status
    _, told, verdict, *_ = done.stdout.splitlines()
    assert told.startswith(f"Now:  {now}")
    assert verdict == last


def patient(spec: BotSpec) -> AnySpec:
    return attrs.evolve(spec, limits=msgspec.structs.replace(spec.limits, move_ms=30_000))


@pytest.mark.extended
@every_way_to_fail
def test_each_way_to_fail_comes_again_at_its_decision(journal: Path, way: str, ending: str, detail: str) -> None:
    config = against(way, journal=journal, max_voids="0", rounds="1")
    if ending != "timeout":  # on a busy machine the time of any bot might be up first
        config = attrs.evolve(config, bots=tuple(map(patient, config.programs)))
    (line,) = played(config)
    found = repeated(bundle_of(line))
    assert found.came_again, found.now
    assert found.now.startswith(f"bad: {ending}: ")
    assert detail in found.now
    no_bad_bot_left(way)


# Keeps what it hears in a folder, and fails in one way at one request of one round. The tired one takes its time until
# it has failed for the first time.
MOODY = """
import json, pathlib, sys, time
way, fatal_round, fatal_request, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
failed, round, count = folder / "failed", 0, 0
for line in sys.stdin:
    with open(folder / "log", "a") as log:
        log.write(line)
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"moody"}', flush=True)
    elif message["type"] == "round_start":
        round, count = message["round"], 0
    elif message["type"] == "request":
        count += 1
        legal = message["legal"]
        move = legal[message["state"]["decks"]["clan"] * 7 % len(legal)]
        if way == "tired" and not failed.exists():
            time.sleep(0.2)
        if (round, count) == (fatal_round, fatal_request):
            failed.touch()
            if way == "crash":
                sys.exit(7)
            if way == "tired":
                time.sleep(1000)
            move = "resign"
        print(json.dumps({"type": "action", "id": message["id"], "move": move}), flush=True)
    elif message["type"] == "bye":
        break
"""


def moody(folder: Path, way: str, fatal_round: int, fatal_request: int) -> list[str]:
    (folder / "moody.py").write_text(MOODY)
    return [sys.executable, str(folder / "moody.py"), way, str(fatal_round), str(fatal_request), str(folder)]


def test_another_fault_at_an_earlier_decision_is_told_and_is_not_the_fault(
    bundle: Callable[[Change], Path], tmp_path: Path
) -> None:
    """The recorded one came at the fifth request."""

    def fails_earlier(facts: dict[str, Any]) -> None:
        facts["bots"][0]["cmd"] = moody(tmp_path, "crash", 1, 3)

    path = bundle(fails_earlier)
    decision = len(json.loads(path.read_text())["moves"])
    found = repeated(path)
    assert not found.came_again
    assert re.match(rf"bad: crashed at position \d already, instead of {decision}: it ended", found.now)


def test_an_illegal_answer_at_an_earlier_decision_ends_it_as_well(bundle: Callable[[Change], Path]) -> None:
    def always_illegal(facts: dict[str, Any]) -> None:
        facts["bots"][0]["cmd"] = [sys.executable, str(STEADY_BOT), "x", "illegal"]

    found = repeated(bundle(always_illegal))
    assert not found.came_again
    assert found.now.startswith("bad: illegal-move at position 1 already, instead of ")  # the other bot began


def test_an_answer_that_came_late_because_the_arena_stood_still_is_not_the_fault(
    crashed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def void(_: RoundPlay) -> Logic[Void | None]:
        tries.append(1)
        yield from ()
        return Void("the arena stood still", SEATS[0])

    monkeypatch.setattr(RoundPlay, "play", void)
    assert repeated(crashed) == Rerun(
        FaultOutcome.VOID,
        then="bad: crashed: it ended (exit status 3); on stderr: I am leaving",
        now="void: the arena stood still",
    )
    assert len(tries) == 2
    done = arena("rerun", crashed, "--yes")
    assert done.exit_code == 3
    assert "not known: the arena itself failed, twice" in done.stdout


def test_a_program_that_is_gone_is_another_fault(bundle: Callable[[Change], Path], tmp_path: Path) -> None:
    def gone(facts: dict[str, Any]) -> None:
        facts["bots"][0]["cmd"] = [str(tmp_path / "gone")]

    done = rerun(bundle(gone))
    assert done.returncode == 1
    assert "\nNow:  bad: failed-to-start: " in done.stdout
    assert "\nAnother fault came instead." in done.stdout


# With the same lots

PYTHON_LOTS = """
import os, random
from protocol.bot_runner import run
def choose(request):
    if random.random() < 0.05:
        os.abort()
    return random.choice(request.legal)
run(choose, name="lots")
"""


def python_bot(folder: Path) -> str:
    (folder / "lots.py").write_text(PYTHON_LOTS)
    return f"env PYTHONPATH={ROOT} {sys.executable} lots.py"


def c_bot(folder: Path) -> str:
    text = (ROOT / "example_bots" / "random_bot.c").read_text()
    crashing = text.replace(
        "    return legal[rand()", "    if (rand() % 20 == 0)\n        abort();\n    return legal[rand()"
    )
    assert crashing != text
    (folder / "lots.c").write_text(crashing)
    subprocess.run(["cc", "-o", "lots", "lots.c"], cwd=folder, check=True, timeout=60)
    return "./lots"


def javascript_bot(folder: Path) -> str:
    text = (ROOT / "example_bots" / "random_bot.js").read_text()
    crashing = text.replace(
        "  return request.legal[", "  if (random() < 0.05) process.abort();\n  return request.legal["
    )
    assert crashing != text
    (folder / "lots.js").write_text(crashing)
    return "node lots.js"


@pytest.mark.parametrize(
    ("write", "needs"),
    [
        (python_bot, "python3"),
        pytest.param(c_bot, "cc", marks=pytest.mark.extended),
        pytest.param(javascript_bot, "node", marks=pytest.mark.extended),
    ],
)
def test_a_crash_by_chance_comes_again_every_time(
    write: Callable[[Path], str], needs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a secret seed, in a later round of a process that has played before. Against an opponent that draws lots
    without a seed, so that nothing but the record can repeat the round."""
    if not shutil.which(needs):
        pytest.skip(f"no {needs} on this machine")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unseeded.py").write_text(UNSEEDED)
    bots = f"lots={write(tmp_path)}", f"other={sys.executable} unseeded.py"
    config = configured(*bots, journal=tmp_path / "c.jsonl", rounds="8", max_faults="0", concurrency="1", st="20")
    lines = [line for line in played(attrs.evolve(config, seed="")) if line.fault]
    assert len(lines) > 1
    crash = next(line for line in lines if line.round > 1 and len(line.moves) > 1)
    assert crash.result.ending == "crashed"
    for _ in range(5):
        found = repeated(bundle_of(crash))
        assert found.came_again


UNSEEDED = (ROOT / "example_bots" / "random_bot.py").read_text().replace('message.get("seed")', "None")


def test_a_bot_that_ignores_its_seed_is_told_of_it(bundle: Callable[[Change], Path], tmp_path: Path) -> None:
    (tmp_path / "unseeded.py").write_text(UNSEEDED)

    def unseeded(facts: dict[str, Any]) -> None:
        facts["bots"][0]["cmd"] = [sys.executable, str(tmp_path / "unseeded.py")]

    done = rerun(bundle(unseeded))
    assert done.returncode == 1
    assert re.search(r"\nIt answered \d of \d earlier decisions otherwise than recorded: it draws lots", done.stdout)


# With the same clock and the same messages


def test_the_bot_hears_what_it_heard_then(tmp_path: Path) -> None:
    """In a later round, with points, a bank and an increment. The ids of requests count from the start of a process."""
    log = tmp_path / "log"
    bots = f"bad={shlex.join(moody(tmp_path, 'illegal', 3, 4))}", steady("b")
    lines = played(configured(*bots, journal=tmp_path / "c.jsonl", rounds="4", tc="30+0.5", st="20", concurrency="1"))
    (failed,) = [line for line in lines if line.fault]
    then = [json.loads(line) for line in log.read_text().splitlines()]
    log.unlink()
    assert repeated(bundle_of(failed)).came_again
    now = [json.loads(line) for line in log.read_text().splitlines()]
    begin = next(i for i, message in enumerate(then) if message["type"] == "round_start" and message["round"] == 3)
    count = next(i for i, message in enumerate(then[begin:]) if message["type"] == "error")
    for message in then[begin : begin + count] + now:
        message.pop("id", None)
    assert [message["type"] for message in now[:4]] == ["hello", "welcome", "match_start", "round_start"]
    assert now[1:3] == [then[1], next(message for message in then if message["type"] == "match_start")]
    assert now[3 : 3 + count] == then[begin : begin + count]
    assert now[3 + count - 1]["clock"] != now[4]["clock"]  # the bank has changed since the first request


# With the earlier rounds of its process


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The bundle of a bot that failed in the second round of its second match, and all that it had heard by then."""
    folder = tmp_path_factory.mktemp("late")
    bad = moody(folder, "illegal", 2, 4)  # it also counts its matches
    text = (folder / "moody.py").read_text()
    (folder / "moody.py").write_text(
        text.replace("failed, round, count =", "matches, failed, round, count = 0,")
        .replace(
            'elif message["type"] == "round_start":',
            'elif message["type"] == "match_start":\n        matches += 1\n    elif message["type"] == "round_start":',
        )
        .replace("(round, count) == (fatal_round", "(matches, round, count) == (2, fatal_round")
    )
    bots = f"bad={shlex.join(bad)}", steady("b"), steady("c")
    options = {"rounds": "2", "tc": "30+0.5", "st": "20", "concurrency": "1", "format": "gauntlet"}
    lines = played(attrs.evolve(configured(*bots, journal=folder / "c.jsonl", **options), seed=""))
    (failed,) = [line for line in lines if line.fault]
    return bundle_of(failed), (folder / "log").read_text().splitlines()


def test_from_the_start_the_process_hears_everything_again(late: tuple[Path, list[str]]) -> None:
    bundle, then = late
    log = bundle.parent.parent / "log"
    log.unlink()
    found = repeated(bundle, from_start=True)
    assert found.came_again, found.now
    assert found.remarks == ()
    now = log.read_text().splitlines()
    types = [json.loads(line)["type"] for line in now]
    assert (types.count("match_start"), types.count("round_start"), types.count("match_end")) == (2, 4, 1)
    end = types.index("error")
    assert now[:end] == then[:end]  # also the ids of requests, the clocks, the seeds and the promised deals


def test_without_the_earlier_rounds_it_says_that_they_are_not_repeated(late: tuple[Path, list[str]]) -> None:
    told = (
        "Its process had played 3 rounds before this one. Earlier rounds are not repeated; --from-start leads the bot"
    )
    for words in ([], ["--live"]):
        done = arena("rerun", late[0], "--yes", *words)
        assert done.exit_code == 1  # for a new process it is the first match
        assert told in done.stdout


def test_the_first_round_of_a_process_has_none_before_it(crashed: Path) -> None:
    assert repeated(crashed).remarks == ()
    assert repeated(crashed, from_start=True).came_again


def test_a_fault_in_an_earlier_round_is_another_one(late: tuple[Path, list[str]], tmp_path: Path) -> None:
    bundle = copied(late[0], tmp_path)
    facts = json.loads((bundle / "bundle.json").read_text())
    facts["bots"][0]["cmd"] = moody(tmp_path, "crash", 1, 3)
    (bundle / "bundle.json").write_text(json.dumps(facts))
    found = repeated(bundle, from_start=True)
    assert found.came is FaultOutcome.ANOTHER
    assert re.match(r"bad: crashed in round 1\.1-2\.1 already: it ended \(exit status 7\)", found.now)


def copied(bundle: Path, place: Path) -> Path:
    """The bundle with its journal in another place."""
    shutil.copytree(bundle, place / "c.faults" / bundle.name)
    shutil.copy(bundle.parent.with_suffix(".jsonl"), place / "c.jsonl")
    return place / "c.faults" / bundle.name


def test_what_is_missing_for_a_start_is_said_in_one_sentence(late: tuple[Path, list[str]], tmp_path: Path) -> None:
    bundle = copied(late[0], tmp_path)
    journal, text = tmp_path / "c.jsonl", (tmp_path / "c.jsonl").read_text()
    before = f"Error: {bundle}: the process of bad had played 3 rounds before, "
    journal.write_text("".join(line for line in text.splitlines(True) if '"1.1-2.2"' not in line))
    assert arena("rerun", bundle, "--from-start").stderr == f"{before}but {journal} does not have round 1.1-2.2\n"
    journal.write_text("x\n")
    assert arena("rerun", bundle, "--from-start").stderr == f"{before}but {journal} does not have round 1.1-2.1\n"
    journal.unlink()
    refused = arena("rerun", bundle / "bundle.json", "--from-start")
    assert refused.exit_code == 2
    told = f"the process of bad had played 3 rounds before, but the journal with them, {journal}, is missing\n"
    assert refused.stderr == f"Error: {bundle / 'bundle.json'}: {told}"
    facts = json.loads((bundle / "bundle.json").read_text())
    facts["start"]["round_count"] = 20_000
    (bundle / "bundle.json").write_text(json.dumps(facts))
    told = "had played 20000 rounds before, of which only the first 3 are known; leave out --from-start\n"
    assert arena("rerun", bundle, "--from-start").stderr.endswith(told)


def test_live_and_from_the_start_exclude_each_other(crashed: Path) -> None:
    refused = arena("rerun", crashed, "--live", "--from-start")
    assert refused.exit_code == 2
    assert "leave out one" in refused.stderr


def test_a_bot_has_the_time_that_it_had(tmp_path: Path) -> None:
    """Its bank is spent by its earlier answers, as recorded: here a bot that is quick now had been slow then."""
    bots = f"bad={shlex.join(moody(tmp_path, 'tired', 1, 4))}", steady("b")
    limits = {"tc": "1.5", "st": "none", "timemargin": "0"}
    (line,) = played(configured(*bots, journal=tmp_path / "c.jsonl", rounds="1", max_voids="0", **limits))
    assert line.result.ending == "timeout"
    found = repeated(bundle_of(line))
    assert found.came_again, found.now
    left = re.findall(r"(\d+) ms left in the bank", found.now)
    assert left == re.findall(r"(\d+) ms left in the bank", found.then)
    assert 0 < int(left[0]) < 1500


# In the hands of the author, who does not get what belongs to the opponent


def test_the_folder_alone_is_enough_unless_both_bots_play(crashed: Path, tmp_path: Path) -> None:
    handed = tmp_path / "handed"
    shutil.copytree(crashed, handed)
    assert repeated(handed).came_again
    for path in (handed, handed / "bundle.json"):
        refused = arena("rerun", path, "--live")
        assert refused.exit_code == 2
        assert refused.stderr == (
            f"Error: {path}: how its opponent was started is not in this folder but in {handed}.opponent, which is "
            "missing; without --live only bad is started\n"
        )


def test_a_bundle_without_seeds_says_so_if_the_fault_did_not_come_again(bundle: Callable[[Change], Path]) -> None:
    def changed(facts: dict[str, Any]) -> None:
        del facts["start"]["bot_seeds"]
        good_again(facts)

    assert repeated(bundle(changed)).remarks[0] == (
        "The bundle does not say which seed the bot had, so it draws other lots."
    )


def test_an_opponent_from_outside_does_not_matter(bundle: Callable[[Change], Path]) -> None:
    assert repeated(bundle(remote)).came_again


# What is no bundle


def remote(facts: dict[str, Any]) -> None:
    facts["bots"][1] = {"name": "anna", "remote": True}


def remote_itself(facts: dict[str, Any]) -> None:
    facts["bots"][0] = {"name": "bad", "remote": True}


def of_version_0_1(facts: dict[str, Any]) -> None:
    del facts["start"], facts["moves"]
    facts["again"] = facts.pop("rerun")


def between_rounds(facts: dict[str, Any]) -> None:
    facts["start"]["begun"] = False


def long_match(facts: dict[str, Any]) -> None:
    facts["start"]["match"] = "x" * 70_000


def long_name(facts: dict[str, Any]) -> None:
    facts["bots"][1]["name"] = "x" * 70_000


def other_moves(facts: dict[str, Any]) -> None:
    facts["moves"].reverse()


def fewer_moves(facts: dict[str, Any]) -> None:
    facts["moves"].pop()


def impossible_seed(facts: dict[str, Any]) -> None:
    facts["start"]["bot_seeds"] = [2**53, 0]


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
        (
            remote_itself,
            "the arena did not start bad, a person or a bot that connected, and so cannot now; ",
        ),
        (of_version_0_1, "this is not the bundle of a fault (Object missing required field `moves`)"),
        (between_rounds, "bad failed between two rounds, before it was asked for a decision of this one; there is no "),
        (long_match, "this is not the bundle of a fault (Expected `str` of length <= 1000 - at `$.start.match`)"),
        (
            long_name,
            "this is not the bundle of a fault (a bot's name is 1 to 32 ASCII letters, digits and . _ - +",
        ),
        (other_moves, "its recorded moves do not follow from its deal, or do not lead to a decision of bad; --live"),
        (fewer_moves, "its recorded moves do not follow from its deal, or do not lead to a decision of bad; --live"),
        (impossible_seed, "this is not the bundle of a fault (Expected `int` <= 9007199254740991 - at `$.start.bot_s"),
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


def test_an_opponent_from_outside_cannot_play_freely(bundle: Callable[[Change], Path]) -> None:
    result = arena("rerun", bundle(remote), "--live")
    assert result.exit_code == 2
    assert "the arena did not start anna, a person or a bot that connected, and so cannot now" in result.output


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
        "round", "rules", "seed", "first", "bots", "fault", "moves", "exit_status", "rerun", "start",
    ]  # fmt: skip
    assert found.rerun == f"arena rerun {crashed}"


def test_a_bot_is_recorded_and_made_again() -> None:
    limits = {"st": "3", "tc": "10+0.5", "memory": "200M", "cpu": "7", "processes": "9", "restart": "match"}
    config = from_command_line([steady("a"), "greedy"], (), limits)
    for spec in config.bots:
        recorded = recorded_bot(spec)
        assert spec_of(recorded) == spec
        assert msgspec.json.decode(msgspec.json.encode(recorded), type=RecordedBot) == recorded
