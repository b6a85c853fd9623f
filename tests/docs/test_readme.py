"""What README.md tells people to run does run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line.partition("  #")[0].strip() for block in blocks("sh") for line in block.splitlines() if line.strip()]

(TERMINALS,) = (block.splitlines() for block in blocks("bash"))


def test_the_first_two_commands_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert COMMANDS[:2] == ["make demo", "make test"]
    assert all(re.search(rf"^{word}:", makefile, re.MULTILINE) for word in ("demo", "test", "check", "bench", "help"))


def test_the_commands_of_the_tour_run_one_after_the_other(tmp_path: Path) -> None:
    """In an empty folder with the tournament file of the tour, as a reader would."""
    (tmp_path / "cup.toml").write_text(blocks("toml")[0])
    (tmp_path / "bin").mkdir()
    arena = tmp_path / "bin" / "arena"
    arena.write_text(f'#!/bin/sh\nexec {sys.executable} -m arena "$@"\n')
    arena.chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert len(COMMANDS) == 18
    for command in COMMANDS[2:]:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert done.stdout
    assert "24 rounds of 1 tournament, 0 void: all in order" in _verified(tmp_path, path)


def test_the_server_of_the_tour_plays_with_whoever_connects(tmp_path: Path) -> None:
    """The three terminals, with a port that is free."""
    (tmp_path / "league.toml").write_text(blocks("toml")[1].replace("127.0.0.1:4000", "127.0.0.1:0"))
    serve, watch, connect = (line.replace("arena ", f"{sys.executable} -m arena ") for line in TERMINALS)
    with subprocess.Popen(
        shlex.split(serve), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[-1]
        watcher = subprocess.Popen(
            shlex.split(watch.replace("127.0.0.1:4000", address)), stdout=subprocess.PIPE, text=True
        )
        assert watcher.stdout is not None
        assert watcher.stdout.readline() == "waiting for a round. Ctrl-C leaves.\n"
        joined = connect.replace("127.0.0.1:4000", address)
        subprocess.run(joined, shell=True, cwd=tmp_path, check=True, timeout=60, stderr=subprocess.PIPE)
        table, _ = server.communicate(timeout=60)
        seen, _ = watcher.communicate(timeout=60)
    assert (server.returncode, watcher.returncode) == (0, 0)
    assert "anna" in table
    assert "anna - greedy" in seen


def _verified(folder: Path, path: str) -> str:
    environment = os.environ | {"PATH": path}
    return subprocess.run(
        ["arena", "verify", "cup.jsonl"], cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("block", blocks("python"))
def test_the_python_of_the_tour_runs(block: str) -> None:
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT)
    for _, comment in re.findall(r"print\((.*)\)  # (.*)", block):
        assert comment.removesuffix("…") in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
