"""Sequential tests between bots that play the same round the same way each time, as commands and as results."""

import sys
from pathlib import Path

from arena.journal.sequential_test import SprtState
from arena.stats.recorded_test import read_test
from tests.helpers.tournaments import steady

SHORT = {"elo0": "0", "elo1": "150", "seed": "7", "st": "60"}


def sprt_words(journal: Path, *words: str, **options: str) -> list[str]:
    """A test between two bots that are started with these words."""
    named = SHORT | {"journal": str(journal)} | {key.replace("_", "-"): value for key, value in options.items()}
    bots = steady("new", *words), steady("base", *words)
    return [sys.executable, "-m", "arena", "sprt", *bots, *(word for k, v in named.items() for word in (f"--{k}", v))]


def result_in(journal: Path) -> SprtState:
    state, problems = read_test([journal])
    assert problems == []
    return state
