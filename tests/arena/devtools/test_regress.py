"""`arena regress`: a bot led through the recorded decisions of another version."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.journal.lines import RoundLine, TournamentLine, encoded, read
from arena.plan.deals import SCHEME, DealKey
from arena.plan.recorded_config import RecordedConfig
from tests.helpers.commands import arena
from tests.helpers.paths import ROOT, STEADY_BOT
from tests.helpers.tournaments import anonymous, rounds_in, steady

# Plays like the steady bot a, but the way it is told: at its third request it fails, once.
FAILING = """
import os, sys, time
way, done = sys.argv[1:3]
count = 0
sys.argv = ["steady", "a", *sys.argv[3:]]
lines = iter(sys.stdin.readline, "")
class Input:
    def __iter__(self):
        global count
        for line in lines:
            count += '"request"' in line
            if count == 3 and '"request"' in line and not os.path.exists(done):
                open(done, "w").close()
                if way == "crash":
                    print("out of luck", file=sys.stderr, flush=True)
                    sys.exit(3)
                if way == "hang":
                    time.sleep(100)
                print({"illegal": '{"type":"action","id":3,"move":"play r1 10"}', "malformed": "hm"}[way], flush=True)
                continue
            yield line
sys.stdin = Input()
exec(open(STEADY_BOT).read())
"""


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Four rounds of a against b, by rules with every kind of decision."""
    path = tmp_path / "cup.jsonl"
    log = f"log={tmp_path / 'then.log'}"
    options = ("--rounds", "4", "--seed", "5", "--rules", "tactics", "--journal", path)
    assert arena("play", steady("a", log), steady("b"), *options).exit_code == 0
    return anonymous(path)


def decisions(journal: Path, bot: str) -> list[tuple[str, int, str]]:
    """(round, position, move) of all that the bot was asked for."""
    found = []
    for entry in read(journal, RoundLine | TournamentLine):
        if isinstance(entry.line, RoundLine):
            seat = entry.line.bots.index(bot)
            moves = enumerate(entry.line.moves)
            found += [(entry.line.id, at, text) for at, (by, text, ms) in moves if by == seat and ms is not None]
    return found


def test_the_same_bot_decides_the_same_everywhere(journal: Path) -> None:
    done = arena("regress", journal, steady("a"))
    assert done.exit_code == 0, done.output
    count = len(decisions(journal, "a"))
    assert done.stdout == f"a decides as recorded: none of {count} decisions of a in 4 rounds differs.\n"


def test_the_bot_hears_exactly_what_the_earlier_version_heard(journal: Path, tmp_path: Path) -> None:
    assert arena("regress", journal, steady("a", f"log={tmp_path / 'now.log'}")).exit_code == 0
    then, now = ((tmp_path / name).read_text().splitlines() for name in ("then.log", "now.log"))
    assert len(then) > 100
    assert now == then


def test_every_difference_is_told_with_its_position(journal: Path) -> None:
    done = arena("regress", journal, f"{sys.executable} {STEADY_BOT} other", "--as", "a", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    recorded = {(round, at): move for round, at, move in decisions(journal, "a")}
    assert found["decisions"] == len(recorded)
    assert 0 < found["different"] == len(found["differences"]) < len(recorded)
    for each in found["differences"]:
        assert recorded[each["round"], each["position"]] == each["recorded"] != each["move"]
    first = found["differences"][0]
    shown = json.loads(arena("replay", journal, first["round"], "--at", str(first["position"]), "--json").stdout)
    assert shown["steps"][0]["position"]["phase"] == first["phase"]
    assert shown["steps"][0]["position"]["to_move"] == 0


def test_differences_are_a_table_and_the_command_to_look_at_one(journal: Path) -> None:
    done = arena("regress", journal, f"a={sys.executable} {STEADY_BOT} other", "--limit", "1")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["Round", "Position", "Phase", "Recorded", "Now"]
    assert re.fullmatch(r"\d+ of \d+ decisions of a in 1 round differ\.", lines[-3])
    assert lines[-2].endswith("--twice says how often it differs from itself.")
    position = lines[2].split()[1]
    assert lines[-1] == f"Look at the first:  arena replay {journal} 1.1-2.1 --at {position}"


def test_twice_tells_chance_from_change(journal: Path, tmp_path: Path) -> None:
    changed = arena("regress", journal, f"a={sys.executable} {STEADY_BOT} other", "--twice", "--round", "1.1-2.2")
    assert re.search(r"Asked twice, a differs from itself in 0 of \d+\.\n", changed.stdout)
    assert changed.stdout.split("\n")[0].split()[-1] == "Again"
    seeded = json.loads(arena("regress", journal, "random", "--as", "a", "--twice", "--json").stdout)
    assert (seeded["unsteady"], seeded["different"] > 0) == (0, True)
    script = tmp_path / "unseeded.py"
    script.write_text((ROOT / "example_bots" / "random_bot.py").read_text().replace('message.get("seed")', "None"))
    unseeded = f"{sys.executable} {script}"
    assert json.loads(arena("regress", journal, unseeded, "--as", "a", "--twice", "--json").stdout)["unsteady"] > 0


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("crash", "crashed: it ended (exit status 3); on stderr: out of luck"),
        ("hang", "timeout: no answer after "),
        ("malformed", "malformed: the line is not JSON"),
        ("illegal", "illegal-move: 'play r1 10' is not an action: stones are numbered 1 to 9, not '10'"),
    ],
)
def test_a_fault_is_told_and_the_bot_is_asked_on(way: str, words: str, journal: Path, tmp_path: Path) -> None:
    script = tmp_path / "failing.py"
    script.write_text(FAILING.replace("STEADY_BOT", repr(str(STEADY_BOT))))
    log = tmp_path / "now.log"
    bot = f"a={sys.executable} {script} {way} {tmp_path / 'failed'} log={log}"
    done = arena("regress", journal, bot, "--st", "3", "--json")
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    round, position, recorded = decisions(journal, "a")[2]
    assert (found["decisions"], found["faults"], found["different"]) == (len(decisions(journal, "a")), 1, 1)
    [only] = found["differences"]
    assert (only["round"], only["position"], only["recorded"]) == (round, position, recorded)
    assert only["fault"].startswith(words)
    if way != "illegal":  # a bot that was started anew hears of the whole round
        after = [json.loads(line) for line in log.read_text().splitlines()]
        again = [index for index, message in enumerate(after) if message["type"] == "hello"][1]
        assert [message["type"] for message in after[again : again + 4]] == [
            "hello",
            "welcome",
            "match_start",
            "round_start",
        ]
        following = decisions(journal, "a")[3][1]
        assert len(after[again + 4]["events"]) == following


# The decision at which the recorded bot failed

# Plays like the steady bot a, but fails at every decision once `limit` cards are on the stones.
FAILING_LATER = """
import json, sys, zlib
way, limit = sys.argv[1], int(sys.argv[2])
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"a"}', flush=True)
    elif message["type"] == "request":
        state, legal = message["state"], message["legal"]
        move = legal[zlib.crc32(f"a{state['hand']}{state['decks']}".encode()) % len(legal)]
        if sum(len(stone["yours"] + stone["theirs"]) for stone in state["stones"]) >= limit:
            if way == "crash":
                sys.exit(3)
            move = "no"
        print(json.dumps({"type": "action", "id": message["id"], "move": move}), flush=True)
    elif message["type"] == "bye":
        break
"""


def failing_later(folder: Path, way: str, limit: int) -> str:
    (folder / "later.py").write_text(FAILING_LATER)
    return f"a={sys.executable} {folder / 'later.py'} {way} {limit}"


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """One round in which a crashed in the middle."""
    path = tmp_path / "failed.jsonl"
    options = ("--rounds", "1", "--seed", "5", "--journal", path)
    assert arena("play", failing_later(tmp_path, "crash", 8), steady("b"), *options).exit_code == 0
    return path


def test_a_fault_that_comes_again_is_no_difference(failed: Path, tmp_path: Path) -> None:
    done = arena("regress", failed, failing_later(tmp_path, "crash", 8), "--round", "1.1-2.1")
    assert done.exit_code == 0, done.output
    count = len(decisions(failed, "a")) + 1
    told, _, *rest = done.stdout.splitlines()
    assert re.match(r"1\.1-2\.1, position \d+ \(the recorded fault\): crashed: it ended", told)
    total = rf"a decides as recorded: none of {count} decisions of a \([0-9a-f]{{8}}\) in 1 round differs\."
    assert re.fullmatch(total, rest[0])
    assert rest[1:] == ["1 of 1 recorded fault came again."]


@pytest.mark.parametrize(("limit", "now"), [(999, "play "), (8, "illegal-move")])
def test_what_comes_in_place_of_a_fault_is_a_difference(limit: int, now: str, failed: Path, tmp_path: Path) -> None:
    bot = failing_later(tmp_path, "illegal", limit)
    done = arena("regress", failed, bot)
    assert done.exit_code == 1
    row = next(line for line in done.stdout.splitlines() if line.startswith("1.1-2.1 "))
    assert re.fullmatch(rf"1\.1-2\.1 +{len(rounds_in(failed)[0].moves)}  play +crashed +{now}.*", row)
    assert "0 of 1 recorded fault came again." in done.stdout
    found = json.loads(arena("regress", failed, bot, "--json").stdout)
    assert (found["recorded_faults"], found["came_again"], found["different"]) == (1, 0, 1)
    [only] = found["differences"]
    assert (only["recorded"], only["recorded_fault"]) == (None, "crashed")


def test_the_opponent_is_not_asked_where_the_recorded_bot_failed(failed: Path) -> None:
    done = arena("regress", failed, steady("b"))
    assert (done.exit_code, "recorded fault" in done.stdout) == (0, False), done.output


def test_a_fault_between_two_rounds_has_no_decision_to_ask_for(failed: Path) -> None:
    opening, line, *rest = anonymous(failed).read_text().splitlines()
    changed = json.loads(line) | {"moves": [], "notes": {}, "first": 0}
    changed["fault"]["between_rounds"] = True
    failed.write_text("\n".join([opening, json.dumps(changed), *rest, ""]))
    done = arena("regress", failed, steady("a"))
    assert done.exit_code == 2
    assert done.stderr == "Error: there is no decision of a in these rounds to compare\n"


# Seeds


@pytest.fixture
def lots(tmp_path: Path) -> Path:
    """Four rounds of a bot that draws lots, with a secret that is revealed at the end."""
    path = tmp_path / "lots.jsonl"
    assert arena("play", "random", steady("b"), "--rounds", "4", "--journal", path).exit_code == 0
    return path


def test_a_bot_that_draws_lots_decides_as_it_did(lots: Path) -> None:
    done = arena("regress", lots, "random")
    assert (done.exit_code, done.stderr) == (0, ""), done.output


def test_seeds_that_are_not_known_yet_are_told(lots: Path) -> None:
    lines = lots.read_bytes().splitlines(keepends=True)
    lots.write_bytes(b"".join(line for line in lines if not line.startswith(b'{"type":"reveal"')))
    done = arena("regress", lots, "random", "--twice")
    assert done.stderr == (
        f"{lots}: the seeds that the bots had for their own randomness are not known, because the secret of the "
        "tournament is not revealed in it; other seeds are used, the same ones each time\n"
    )
    assert done.exit_code == 1
    assert "Asked twice, random differs from itself in 0 of " in done.stdout


def test_a_secret_that_was_not_promised_gives_no_seeds(lots: Path) -> None:
    lots.write_text(re.sub(r'"secret":"\w+"', f'"secret":"{"0" * 64}"', lots.read_text()))
    assert "are not known" in arena("regress", lots, "random").stderr


def test_the_seeds_of_a_round_that_was_played_again_are_those_of_its_last_attempt(lots: Path, tmp_path: Path) -> None:
    """Here each round was void once before, and the tournament resumed once."""
    opening, *rounds, reveal = anonymous(lots).read_text().splitlines()
    key = DealKey(json.loads(reveal)["secret"])
    log = tmp_path / "heard.log"
    lines, expected = [opening, '{"type":"resume","v":1,"started":"now"}'], []
    for line in map(json.loads, rounds):
        void = {"type": "void", "v": 1, "reason": "x", "started": "now", "excused": None}
        lines.append(json.dumps(void | {name: line[name] for name in ("id", "match", "round", "bots")}))
        lines.append(json.dumps(line | {"salt": key.salt(line["id"], 1, 1)}))
        expected.append((3, key.bot_seeds(line["id"], 1, 1, tuple(line["bots"]))[1]))
    lots.write_text("\n".join([*lines, reveal, ""]))
    assert arena("regress", lots, steady("b", f"log={log}")).exit_code == 0
    heard = [json.loads(line) for line in log.read_text().splitlines()]
    starts = [(message["attempt"], message["seed"]) for message in heard if message["type"] == "round_start"]
    assert starts == expected


def test_a_bot_that_leaves_after_a_round_is_at_fault_when_the_next_begins(journal: Path, tmp_path: Path) -> None:
    script = tmp_path / "leaving.py"
    script.write_text(STEADY_BOT.read_text().replace('== "bye"', 'in ("bye", "round_end")'))
    found = json.loads(arena("regress", journal, f"a={sys.executable} {script} a", "--json").stdout)
    assert found["decisions"] == len(decisions(journal, "a"))
    first_of_round = {round: at for round, at, _ in reversed(decisions(journal, "a"))}
    del first_of_round["1.1-2.1"]
    assert {each["round"]: each["position"] for each in found["differences"]} == first_of_round
    assert all(
        each["fault"].startswith(("crashed: it ended", "crashed: it exited on its own"))
        for each in found["differences"]
    )


def test_a_bot_that_does_not_start_is_told_in_one_line(journal: Path) -> None:
    done = arena("regress", journal, f"a={sys.executable} -c pass")
    assert (done.exit_code, done.stdout) == (1, "")
    assert re.match(r"Error: a does not start: the bot closed its end before it said hello", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["greedy"], "the journal has no bot 'greedy'; say whose decisions with --as NAME; there are: a, b"),
        (["greedy", "--as", "zoe"], "the journal has no bot 'zoe'; there are: a, b"),
        (["greedy", "--as", "a", "--round", "9.9"], "--round '9.9', but a has no such round"),
        (["./nowhere", "--as", "a"], "there is no program './nowhere'"),
        (["greedy", "--as", "a", "--tc", "soon"], "--tc: tc = 'soon', but expected"),
    ],
)
def test_wrong_calls_are_told_what_would_be_right(arguments: list[str], words: str, journal: Path) -> None:
    done = arena("regress", journal, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr


def test_damaged_rounds_are_left_out_and_told(journal: Path) -> None:
    opening, first, *others = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(opening + first.replace(b'"points":[', b'"points":[4') + b"".join(others) + b'{"type":')
    done = arena("regress", journal, steady("a"))
    assert "in 3 rounds" in done.stdout
    problems = done.stderr.splitlines()
    assert problems[0] == f"{journal}:6: the line is torn: the file ends in the middle of it"
    assert re.match(rf"{journal}:2: round 1\.1-2\.1: the record says points .*; it is left out", problems[1])


def test_an_empty_and_a_foreign_journal_get_one_line(tmp_path: Path) -> None:
    empty, foreign = tmp_path / "empty.jsonl", tmp_path / "notes.txt"
    empty.touch()
    foreign.write_text("Dear diary\n" * 9)
    assert arena("regress", empty, "greedy").stderr == f"Error: {empty}: the journal is empty: nothing was played yet\n"
    assert re.fullmatch(rf"Error: {foreign}: this is not a journal, .*\n", arena("regress", foreign, "greedy").stderr)


@pytest.mark.parametrize("config", [{}, {"rounds": None, "seed": 5}, {"rounds": "ten"}])
def test_a_journal_of_another_program_will_do(config: dict[str, object], journal: Path) -> None:
    _, *rounds = journal.read_bytes().splitlines(keepends=True)
    opening = {"type": "tournament", "v": 1, "config": config, "started": "2026-01-01T00:00:00Z"}
    journal.write_bytes(b"".join([json.dumps(opening).encode() + b"\n", *rounds]))
    done = arena("regress", journal, steady("a"))
    assert done.exit_code == 0, done.output
    assert "in 4 rounds" in done.stdout


def test_rounds_of_another_version_and_a_repeated_tournament_are_told(journal: Path) -> None:
    opening, first, *others = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(opening + first.replace(b'"v":1', b'"v":2') + b"".join(others) + opening + first)
    done = arena("regress", journal, steady("a"))
    assert "in 3 rounds" in done.stdout
    assert done.stderr.splitlines() == [
        f"{journal}:2: the line has version 2 of the journal format, but this arena reads version 1",
        f"{journal}:6: this tournament was already read; its rounds are left out",
    ]


def test_rounds_of_two_tournaments_in_one_file_are_told_apart(journal: Path) -> None:
    lines = journal.read_bytes()
    other = encoded(
        TournamentLine(config=RecordedConfig(rounds=4, seed="5", deals=SCHEME), started="2026-01-01T00:00:00Z")
    )
    journal.write_bytes(lines + other + b"".join(lines.splitlines(keepends=True)[1:]))
    done = arena("regress", journal, f"a={sys.executable} {STEADY_BOT} other", "--round", "1.1-2.1@7")
    assert "1.1-2.1@7 --at" in done.stdout.splitlines()[-1]
    assert "there are: 1.1-2.1@2, 1.1-2.1@7" in arena("regress", journal, steady("a"), "--round", "1.1-2.1").stderr


def test_ctrl_c_ends_it_with_what_was_found_so_far(journal: Path, tmp_path: Path) -> None:
    script = tmp_path / "failing.py"
    script.write_text(FAILING.replace("STEADY_BOT", repr(str(STEADY_BOT))))
    hangs = tmp_path / "failed"
    command = [sys.executable, "-m", "arena", "regress", str(journal), f"a={sys.executable} {script} hang {hangs}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not hangs.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, warned = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said == "a decides as recorded: none of 2 decisions of a in 1 round differs.\n"
    assert warned == "Stopped: not every decision was asked for.\n"
