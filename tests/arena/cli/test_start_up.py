"""What a command loads before it begins to do its work. Everything that it loads takes time."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.tournaments import configured, played, steady

# Runs the command, and prints on stderr what is loaded when it starts the first process, or at its end.
CODE = """
import sys

def show(event="", arguments=()):
    if event in ("", "subprocess.Popen") and not shown:
        shown.append(True)
        print("loaded:", *sys.modules, file=sys.stderr)

shown = []
sys.addaudithook(show)
from arena.cli.main import main
try:
    main(sys.argv[1:], prog_name="arena")
finally:
    show()
"""
HEAVY = {"numpy", "rich.console", "tabulate", "importlib.metadata", "email", "asyncio", "http.client"}
TASKS = {"trio", "ssl", "subprocess"}
OTHERS = {
    "arena.server.events",
    "arena.client.events",
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


def loaded(folder: Path, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words],
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
        (["play", *BOTS, "--rounds", "2"], HEAVY | OTHERS),
        (["run", *BOTS, "--rounds", "2"], HEAVY | OTHERS),
        (["table", "cup.jsonl"], TASKS | {"rich.console", "asyncio"}),
        (["verify", "cup.jsonl"], (HEAVY | TASKS | OTHERS) - {"subprocess"}),  # it starts workers for large journals
        (["replay", "cup.jsonl"], TASKS | OTHERS | {"numpy", "rich.console"}),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_command_loads_only_what_it_needs(words: list[str], not_needed: set[str], folder: Path) -> None:
    found = loaded(folder, *words) & not_needed
    assert not found
