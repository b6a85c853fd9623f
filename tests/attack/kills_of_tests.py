"""A sequential test that is killed at random moments ends with the same verdict after the same pairs."""

import random
import subprocess
from pathlib import Path

from msgspec.structs import replace

from arena.journal.verify import verify_journals
from tests.attack.findings import Finding
from tests.helpers.sprt_runs import result_in, sprt_words
from tests.helpers.tournaments import run_and_kill

KILLS = 100


def kills_of_tests(folder: Path) -> list[Finding]:
    whole, killed, rng = folder / "whole.jsonl", folder / "killed.jsonl", random.Random(1)
    statuses = [subprocess.run(sprt_words(whole, concurrency="1"), capture_output=True, timeout=600).returncode]
    kills = 0
    while kills < KILLS:
        killed.unlink(missing_ok=True)
        words = sprt_words(killed, concurrency=str(rng.choice([1, 2, 8])))
        while kills < KILLS and run_and_kill(words, killed, rng) is None:
            kills += 1
        statuses.append(subprocess.run(words, capture_output=True, timeout=600).returncode)
        expected, found = (replace(result_in(journal), not_counted=0) for journal in (whole, killed))
        if found != expected or verify_journals([killed]).problems:
            return [Finding("kills of a test", f"{kills} kills", [f"{found} instead of {expected}"])]
    harm = [] if len(set(statuses)) == 1 else [f"exit statuses {statuses}"]
    return [Finding("kills of a test", f"{kills} kills, {len(statuses) - 1} tests, each as without kills", harm)]
