"""Sequential tests between bots that play the same round the same way each time, as commands and as results."""

import random
import subprocess
import sys
import time
from pathlib import Path

from arena.stats.recorded_test import read_test
from arena.stats.sequential_test import TestState
from tests.helpers.tournaments import steady

SHORT = {"elo0": "0", "elo1": "150", "seed": "7", "st": "5"}


def sprt_words(journal: Path, **options: str) -> list[str]:
    named = SHORT | {"journal": str(journal)} | {key.replace("_", "-"): value for key, value in options.items()}
    bots = steady("new"), steady("base")
    return [sys.executable, "-m", "arena", "sprt", *bots, *(word for k, v in named.items() for word in (f"--{k}", v))]


def result_in(journal: Path) -> TestState:
    state, problems = read_test([journal])
    assert problems == []
    return state


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
