"""Small tournaments of real bots that play the same round the same way each time."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.cli.progress import Quiet
from arena.journal.lines import JournalLine, RoundLine, VoidLine, read
from arena.plan.config import Config, from_command_line
from arena.tournament.drive import drive
from tests.helpers.paths import STEADY_BOT


def steady(name: str, *words: str) -> str:
    return f"{name}={sys.executable} {STEADY_BOT} {name} {' '.join(words)}"


def configured(*bots: str, journal: Path | None = None, **options: str) -> Config:
    named = {"rounds": "2", "seed": "7", "concurrency": "2", "st": "5"} | {
        k.replace("_", "-"): v for k, v in options.items()
    }
    return from_command_line(bots, (), named | ({"journal": str(journal)} if journal else {}))


def played(config: Config) -> list[RoundLine]:
    assert config.journal is not None
    drive(config, Quiet())
    return rounds_in(config.journal)


def rounds_in(journal: Path) -> list[RoundLine]:
    return [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, RoundLine)]


def voids_in(journal: Path) -> list[VoidLine]:
    return [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, VoidLine)]


def anonymous(journal: Path) -> Path:
    """The journal as an arena wrote it that did not know who played: its lines are the opening and the rounds."""
    lines = journal.read_bytes().splitlines(keepends=True)
    kept = [re.sub(rb',"players":\[[^]]*\]', b"", line) for line in lines if not line.startswith(b'{"type":"bot"')]
    journal.write_bytes(b"".join(kept))
    return journal


def essence(lines: list[RoundLine]) -> dict[str, Any]:
    """All that a round is, but when it was played and how long it took."""
    return {
        line.id: (line.bots, line.first, line.deck, line.result, [move[:2] for move in line.moves], line.seed)
        for line in lines
    }


def command(journal: Path, *bots: str, **options: str) -> list[str]:
    named = {"rounds": "6", "seed": "7", "concurrency": "2", "journal": str(journal)} | options
    return [sys.executable, "-m", "arena", "run", *bots, *(word for k, v in named.items() for word in (f"--{k}", v))]


@contextmanager
def running(words: list[str]) -> Iterator["subprocess.Popen[str]"]:
    """The arena as a process, which is killed at the end of the block."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def heard(process: "subprocess.Popen[str]", words: str) -> None:
    """Wait until the arena says so."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if words in line:
            return
    raise AssertionError("".join(said))
