"""Who played, if the machines of a cluster do not run a bot in quite the same way."""

import os
import signal
import sys
from pathlib import Path

import pytest

from arena.journal.lines import BotLine, JournalLine, read
from arena.journal.verify import verify_journals
from tests.helpers.cluster import PATIENCE, Cluster, done, on
from tests.helpers.paths import THINKING_BOT
from tests.helpers.tournaments import heard, rounds_in, running

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("cluster")]


def interpreter_in(folder: Path) -> str:
    """A PATH with a python3 of its own, which is another file than that of any other folder."""
    folder.mkdir()
    (folder / "python3").write_text(f'#!/bin/sh\n# {folder}\nexec {sys.executable} "$@"\n')
    (folder / "python3").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("ship", [[], ["--ship"]], ids=["", "ship"])
def test_a_bot_is_the_same_player_whichever_interpreter_a_machine_has(tmp_path: Path, ship: list[str]) -> None:
    """So a tournament that was begun on a cluster can be resumed without it, and each bot has one version."""
    (tmp_path / "bots").mkdir()
    script = tmp_path / "bots/bot.py"
    script.write_bytes(THINKING_BOT.read_bytes())
    bots, journal = [f"{name}=python3 {script} 0.02" for name in "ab"], tmp_path / "cup.jsonl"
    here, there = interpreter_in(tmp_path / "here"), interpreter_in(tmp_path / "there")
    with Cluster(tmp_path, size=1, everywhere={"PATH": there}) as cluster:
        there_words = ["env", f"PATH={here}", *on(cluster, journal, *bots, rounds="8"), *ship]
        with running(there_words) as process:
            heard(process, "Finished round 2")
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 130
    words = [sys.executable, "-m", "arena", "run", *bots, "--journal", str(journal), "--rounds", "8", "--seed", "7"]
    ran = done(["env", f"PATH={here}", *words])
    assert ran.returncode == 0, ran.stderr
    assert {line.host is None for line in rounds_in(journal)} == {True, False}
    lines = [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, BotLine)]
    assert sorted(line.name for line in lines) == ["a", "b"]
    assert verify_journals([journal]).problems == []
