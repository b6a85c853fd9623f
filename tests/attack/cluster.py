"""Attack on a tournament on a cluster: worker processes, Dask workers, the scheduler and the owner are killed at random
moments, while every match is played twice on purpose."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from arena.journal.lines import RoundLine
from arena.journal.verify import verify_journals
from tests.attack.findings import Finding
from tests.helpers.cluster import Cluster, kill
from tests.helpers.paths import ROOT
from tests.helpers.tournaments import configured, essence, played, rounds_in, steady

CLUSTER_KILLS = 100
ROUNDS, CYCLES = "20", "20"
_VICTIMS = ("player", "player", "worker", "worker", "scheduler", "owner")


def cluster_kills(folder: Path) -> list[Finding]:
    bots, journal, rng = [steady(name) for name in "abc"], folder / "cup.jsonl", random.Random(1)
    whole = played(configured(*bots, journal=folder / "whole.jsonl", rounds=ROUNDS, cycles=CYCLES))
    words = [sys.executable, "-m", "tests.helpers.twice", "", str(journal), ROUNDS, CYCLES, *bots]
    kills = dict.fromkeys(_VICTIMS, 0)
    with Cluster(folder) as cluster, open(folder / "owner.log", "wb") as log:
        words[3] = cluster.address
        cluster.await_workers()
        owner = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=log)
        try:
            while owner.poll() != 0:
                if owner.poll() is not None:
                    break
                time.sleep(rng.uniform(0.5, 3.0))
                players = cluster.players()
                if sum(kills.values()) == CLUSTER_KILLS:
                    continue
                victim = rng.choice(_VICTIMS)
                if victim == "player" and not players:
                    continue
                kills[victim] += 1
                if victim == "player":
                    os.kill(rng.choice(players), signal.SIGKILL)
                elif victim == "worker":
                    kill(rng.choice(cluster.workers))
                elif victim == "scheduler":
                    kill(cluster.scheduler)
                else:
                    kill(owner)
                    owner = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=log)
                cluster.tend()
        finally:
            kill(owner)
        left = cluster.left_players()
    return [_finding(journal, whole, kills, owner.returncode, left, folder / "owner.log")]


def _finding(
    journal: Path, whole: list[RoundLine], kills: dict[str, int], status: int, left: list[int], log: Path
) -> Finding:
    rounds, report = rounds_in(journal), verify_journals([journal])
    harm = [str(problem) for problem in report.problems]
    harm += [f"the owner ended with {status}: {log.read_text()[-2000:]}"] if status else []
    harm += [f"{len(rounds)} lines, but {len(whole)} rounds"] if len(rounds) != len(whole) else []
    harm += ["the lines are not those that one process plays"] if essence(rounds) != essence(whole) else []
    harm += [f"worker process {pid} is left behind" for pid in left]
    figures = ", ".join(f"{count} of {victim}s" for victim, count in kills.items())
    return Finding("kills in a cluster", f"{sum(kills.values())} kills ({figures}), {len(rounds)} rounds", harm)
