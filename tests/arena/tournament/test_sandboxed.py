"""A tournament of bots in sandboxes: what is recorded of it, how it goes on, and how its faults are played again."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.journal.lines import JournalLine, RoundLine, TournamentLine, read
from arena.journal.verify import verify_journals
from arena.plan.sandbox import Level
from arena.worker.fault_bundle import opponents_folder
from tests.helpers.commands import arena
from tests.helpers.paths import STEADY_BOT
from tests.helpers.processes import send_to_all, workers_of
from tests.helpers.sandboxes import PYTHON, needs_sandbox, reachable_folder, script
from tests.helpers.tournaments import anonymous

# Crashes in the middle of a round where it cannot write into its own folder: only in a sandbox, or as another user.
FRAIL = STEADY_BOT.read_text().replace(
    'elif message["type"] == "request":',
    'elif message["type"] == "request":\n        open(sys.argv[0] + ".log", "a").close()',
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with reachable_folder() as found:
        for name in ("a", "b"):
            script(found / name, STEADY_BOT.read_text())
        script(found / "frail", FRAIL)
        yield found


def bot(folder: Path, name: str) -> str:
    return f"{name}={PYTHON} {folder}/{name}/bot.py {name}"


def rounds_of(journal: Path) -> list[RoundLine]:
    return [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, RoundLine)]


@needs_sandbox
def test_a_tournament_goes_on_at_its_own_level_only(folder: Path) -> None:
    journal = folder / "cup.jsonl"
    words = ["run", bot(folder, "a"), bot(folder, "b"), "--rounds", "4", "--seed", "7", "--journal", str(journal)]
    assert arena(*words, "--sandbox").exit_code == 0
    opening = next(read(journal, JournalLine)).line
    assert isinstance(opening, TournamentLine)
    levels = [each.sandbox.level for each in opening.config.bots or () if each.sandbox]
    assert levels == [Level.FULL, Level.FULL]
    lines = anonymous(journal).read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:3]))  # the opening and two rounds
    for others, told in (
        ([], "bot a: the journal has sandbox = true, now it is false"),
        (["--sandbox", "--scratch", "1M"], "bot a: the journal has scratch"),
    ):
        refused = arena(*words, *others)
        assert refused.exit_code != 0
        assert told in refused.stderr
        assert len(rounds_of(journal)) == 2
    assert arena(*words, "--sandbox=try").exit_code == 0  # it is available, so it is the same
    assert len(rounds_of(journal)) == 4
    assert verify_journals([journal]).problems == []
    assert "All bots that the arena started were in a sandbox." in arena("table", journal).stdout
    rows = json.loads(arena("table", journal, "--format", "json").stdout)["standings"]
    assert [row["sandbox"] for row in rows] == ["full", "full"]


@needs_sandbox
def test_one_bot_may_be_in_a_sandbox_and_the_other_not(folder: Path) -> None:
    journal = folder / "cup.jsonl"
    boxed = f"cmd='{PYTHON} {folder}/b/bot.py b' name=b sandbox=true"
    done = arena("run", bot(folder, "a"), "--bot", boxed, "--rounds", "2", "--journal", journal)
    assert done.exit_code == 0
    assert "In a sandbox: b.\nStarted without a sandbox: a." in done.stdout


@needs_sandbox
def test_bots_in_sandboxes_are_not_suspected_when_workers_are_killed(folder: Path) -> None:
    words = ["run", bot(folder, "a"), bot(folder, "b"), "--rounds", "90", "--journal", str(folder / "cup.jsonl")]
    words = [sys.executable, "-m", "arena", *words, "--sandbox"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = []
    with process:
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            if line.startswith("Finished"):
                send_to_all(workers_of(process.pid), signal.SIGKILL)
    assert process.returncode == 1, said
    (stopped,) = (line for line in said if line.startswith("Stopped"))
    assert stopped.endswith("Find out what is wrong with this machine, for example too little memory.\n")


@needs_sandbox
def test_a_fault_is_played_again_in_the_same_sandbox_unless_told_otherwise(folder: Path) -> None:
    journal = folder / "cup.jsonl"
    words = ("run", bot(folder, "frail"), bot(folder, "a"), "--rounds", "1", "--journal", journal, "--sandbox")
    assert arena(*words).exit_code == 0
    (bundle,) = (folder / "cup.faults").glob("*-frail")
    recorded = json.loads((opponents_folder(bundle) / "bundle.json").read_text())
    assert [each["sandbox"]["level"] for each in recorded["bots"]] == ["full", "full"]
    again = arena("rerun", bundle, "--yes")
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "The fault came again.")
    assert "Read-only file system" in again.stdout
    without = arena("rerun", bundle, "--yes", "--sandbox=false")
    assert without.exit_code == 1
    assert "Now:  no fault" in without.stdout
    assert (folder / "frail" / "bot.py.log").exists()


def test_a_key_of_the_server_is_kept_away_from_bots(folder: Path) -> None:
    for name in ("cert.pem", "b/key.pem"):
        (folder / name).write_text("")
    own = "\n".join(f"[[bot]]\nname = '{name}'\ncmd = '{PYTHON} {folder}/{name}/bot.py'" for name in ("a", "b"))
    (folder / "cup.toml").write_text(own)
    options = ("--listen", "127.0.0.1:0", "--cert", folder / "cert.pem", "--key", folder / "b" / "key.pem")
    done = arena("serve", folder / "cup.toml", *options, "--sandbox")
    told = f"Error: b would see {folder}/b/key.pem; keep it out of the folders that bots see\n"
    assert (done.exit_code, done.stderr) == (2, told)
    assert not (folder / "cup.jsonl").exists()


def test_bots_without_a_sandbox_and_the_tournament_file_are_kept_away_from_bots(folder: Path) -> None:
    boxed = f"cmd='{PYTHON} {folder}/b/bot.py b' name=b sandbox=true"
    beside = f"a={' '.join(script(folder / 'b' / 'more', STEADY_BOT.read_text()))}"
    done = arena("run", beside, "--bot", boxed, "--journal", folder / "cup.jsonl")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: b would see {folder}/b/more/bot.py, which belongs to a; ")
    own = "\n".join(f"[[bot]]\nname = '{name}'\ncmd = '{PYTHON} {folder}/{name}/bot.py'" for name in ("a", "b"))
    (folder / "b" / "cup.toml").write_text(own)
    done = arena("run", folder / "b" / "cup.toml", "--journal", folder / "cup.jsonl", "--sandbox")
    told = f"Error: b would see {folder}/b/cup.toml; keep it out of the folders that bots see\n"
    assert (done.exit_code, done.stderr) == (2, told)


def test_the_folder_of_faults_is_kept_away_from_bots(folder: Path) -> None:
    faults = folder / "cup.faults"
    script(faults, STEADY_BOT.read_text())
    words = ("run", bot(folder, "a"), f"x={PYTHON} {faults}/bot.py", "--journal", folder / "cup.jsonl", "--sandbox")
    done = arena(*words)
    told = f"Error: x would see {faults}; keep it out of the folders that bots see\n"
    assert (done.exit_code, done.stderr) == (2, told)
