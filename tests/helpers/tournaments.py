"""Small tournaments of real bots that play the same round the same way each time."""

import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.cli.progress import Quiet
from arena.journal.lines import JournalLine, RoundLine, VoidLine, read
from arena.plan.config import Config, from_command_line
from arena.tournament.run import run_tournament
from tests.helpers.paths import STEADY_BOT


def steady(name: str, *words: str) -> str:
    return f"{name}={sys.executable} {STEADY_BOT} {name} {' '.join(words)}"


def limited(bot: str, **limits: str) -> str:
    """The bot with limits of its own."""
    name, _, command = bot.partition("=")
    words = {"cmd": shlex.quote(command or bot), "name": name} | limits
    return " ".join(f"{key}={value}" for key, value in words.items())


def configured(*bots: str, journal: Path | None = None, **options: str) -> Config:
    """A tournament of bots, of which some may be `limited`. All others have plenty of time, however busy the machine
    is."""
    named = {"rounds": "2", "seed": "7", "concurrency": "2", "st": "60", "start": "60"} | {
        k.replace("_", "-"): v for k, v in options.items()
    }
    described = [bot if bot.startswith("cmd=") else limited(bot) for bot in bots]
    return from_command_line((), described, named | ({"journal": str(journal)} if journal else {}))


def played(config: Config) -> list[RoundLine]:
    assert config.journal is not None
    run_tournament(config, Quiet())
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


def run_and_kill(words: list[str], journal: Path, rng: random.Random) -> int | None:
    """Kill the command at a random moment: while it starts, or after some rounds. Returns its exit status if it ended
    before that."""
    grows_to = _size(journal) + rng.randrange(6) * 1600  # bytes; a round has about that many
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(rng.random() * 0.3)
    while _size(journal) < grows_to and process.poll() is None:
        time.sleep(rng.random() * 0.01)
    status = process.poll()
    process.kill()
    process.wait()
    return status


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
