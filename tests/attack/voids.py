"""An attack on sequential tests: a bot kills a process of the arena where it is behind, so that the round is void."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from arena.journal.lines import JournalLine, VoidLine, read
from arena.journal.sequential_test import Answer
from tests.attack.findings import Finding
from tests.helpers.paths import SORE_LOSER_BOT
from tests.helpers.sprt_runs import result_in

TESTS = 5  # with each victim
_TEST: Final = ("--elo0", "0", "--elo1", "150", "--st", "60", "--concurrency", "2")


def bought_voids(folder: Path) -> list[Finding]:
    """The opponent is the same bot without the trick, so no test may find that the bot is better."""
    return [_bought(victim, folder) for victim in ("worker", "keeper")]


def _bought(victim: str, folder: Path) -> Finding:
    rounds = voids = 0
    harm = []
    for number in range(TESTS):
        journal = folder / f"{victim}-{number}.jsonl"
        bots = (
            f"{name}={sys.executable} {SORE_LOSER_BOT} {kills}"
            for name, kills in (("sore", victim), ("twin", "nothing"))
        )
        words = [sys.executable, "-m", "arena", "sprt", *bots, *_TEST, "--journal", str(journal)]
        subprocess.run(words, capture_output=True, timeout=600)
        state = result_in(journal)
        rounds += 2 * state.counted
        voids += sum(isinstance(entry.line, VoidLine) for entry in read(journal, JournalLine))
        if state.answer is Answer.BETTER:
            harm.append(f"a bot that kills its {victim} is better than itself, by {2 * state.counted} rounds")
    return Finding(f"bought voids, {victim}", f"{TESTS} tests, {rounds} rounds, {voids} void, {len(harm)} better", harm)
