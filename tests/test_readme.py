"""What README.md tells people to run does run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line.partition("#")[0].strip() for block in blocks("sh") for line in block.splitlines() if line.strip()]


def test_the_first_two_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert COMMANDS[:2] == ["make demo", "make test"]
    assert all(re.search(rf"^{word}:", makefile, re.MULTILINE) for word in ("demo", "test", "check", "bench", "help"))


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith(".venv/bin/arena")])
def test_the_commands_of_the_tour_run(command: str) -> None:
    arguments = command.split()[1:]
    done = subprocess.run([sys.executable, "-m", "arena", *arguments], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize("block", blocks("python"))
def test_the_python_of_the_tour_runs(block: str) -> None:
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT)
    for _, comment in re.findall(r"print\((.*)\)  # (.*)", block):
        assert comment.removesuffix("…") in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
