"""What a command loads and waits for before it begins to do its work. Everything that it loads takes time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.commands import arena
from tests.helpers.paths import ROOT
from tests.helpers.tournaments import configured, played, steady

# Runs the command, and prints on stderr what is loaded at the first audit event of a name, or at its end.
CODE = """
import sys

def show(event, arguments=()):
    if event == sys.argv[1] and not shown:
        shown.append(True)
        print("loaded:", *sys.modules, file=sys.stderr)

shown = []
sys.addaudithook(show)
from arena.cli.main import main
try:
    main(sys.argv[2:], prog_name="arena")
finally:
    show(sys.argv[1])
"""
FIRST_PROCESS = "subprocess.Popen"
FIRST_REPORT = "pickle.find_class"  # of a worker: that a round begins
HEAVY = {"numpy", "rich", "tabulate", "importlib.metadata", "importlib.resources", "email", "asyncio", "http.client"}
RARE = {"difflib", "statistics", "tomllib", "zipfile"}  # for mistakes, absent bots and files
TASKS = {"trio", "ssl", "subprocess"}
BY_WORKERS = {"arena.bots.player", "arena.match", "arena.replay"}  # matches, and what is kept of their faults
OTHERS = {
    "arena.server.server_events",
    "arena.client.client_events",
    "arena.pages.page",
    "arena.stats.ratings",
    "arena.devtools.check",
}
BOTS = [steady("a"), steady("b")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a journal."""
    folder = tmp_path_factory.mktemp("cup")
    played(configured(*BOTS, journal=folder / "cup.jsonl"))
    return folder


def loaded(folder: Path, until: str, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, until, *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("loaded: "))
    return set(line.split()[1:])


@pytest.mark.parametrize(
    ("words", "not_needed"),
    [
        (["--help"], HEAVY | TASKS | OTHERS | {"attrs", "msgspec", "engine"}),
        (["--version"], HEAVY | TASKS | OTHERS | {"attrs", "msgspec", "engine"}),
        (["play", "--help"], HEAVY | TASKS | OTHERS),
        (["play", *BOTS, "--rounds", "2"], HEAVY | OTHERS | RARE | BY_WORKERS),
        (["run", *BOTS, "--rounds", "2"], HEAVY | OTHERS | RARE | BY_WORKERS),
        (["table", "cup.jsonl"], TASKS | {"rich.console", "asyncio"}),
        (["verify", "cup.jsonl"], (HEAVY | TASKS | OTHERS) - {"subprocess"}),  # it starts workers for large journals
        (["replay", "cup.jsonl"], TASKS | OTHERS | {"numpy", "rich.console"}),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_command_loads_only_what_it_needs(words: list[str], not_needed: set[str], folder: Path) -> None:
    found = loaded(folder, FIRST_REPORT, *words) & not_needed
    assert not found


@pytest.mark.parametrize("command", ["play", "run"])
def test_the_first_worker_is_started_before_the_command_is_loaded(command: str, folder: Path) -> None:
    found = loaded(folder, FIRST_PROCESS, command, *BOTS, "--rounds", "2")
    assert "arena.worker.worker_process" in found
    assert not found & (HEAVY | OTHERS | {"attrs", "msgspec", "engine", "trio"})


def test_a_worker_starts_the_launcher_before_it_loads_its_modules() -> None:
    code = "import sys, arena.worker.entry; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(done.stdout.split())
    assert "arena.processes.launcher_process" in loaded
    assert not loaded & {"attrs", "msgspec", "engine", "protocol", "arena.worker.worker"}


def test_a_worker_loads_only_what_it_needs_to_play() -> None:
    code = "import sys, arena.worker.worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not set(done.stdout.split()) & (HEAVY | RARE | {"trio", "click", "ssl", "arena.replay"})


def test_a_match_waits_for_the_disk_only_if_its_journal_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    assert arena("play", *BOTS, "--rounds", "2").exit_code == 0
    assert synced == []
    assert arena("play", *BOTS, "--rounds", "2", "--journal", tmp_path / "match.jsonl").exit_code == 0
    assert synced != []
