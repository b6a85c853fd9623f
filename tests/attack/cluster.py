"""Attack on a tournament on a cluster: worker processes, Dask workers, the scheduler and the owner are killed at random
moments."""

import os
import random
import signal
import subprocess
import time
import uuid
from pathlib import Path

from arena.journal.lines import RoundLine
from arena.journal.verify import verify_journals
from tests.attack.findings import Finding
from tests.helpers.cluster import Cluster, kill, on
from tests.helpers.paths import ROOT
from tests.helpers.processes import left_with
from tests.helpers.tournaments import configured, essence, played, rounds_in, steady

CLUSTER_KILLS = 300
ROUNDS, CYCLES = "20", "300"  # more than is played before the last kill
SEED = 1  # of the moments and the victims
_MORE_DESCRIPTORS = 8  # than an owner had at first: some tasks more, and a file that is being read
_BYTES_OF_A_ROUND = 1600
_MOST_ROUNDS = 8  # between two kills
_SECONDS = 20  # until these rounds are played; then it is hit again
_VICTIMS = ("player", "player", "worker", "worker", "scheduler", "owner")


def cluster_kills(folder: Path) -> list[Finding]:
    token = f"attack-{uuid.uuid4().hex}"
    bots, journal, rng = [steady(name, token) for name in "abc"], folder / "cup.jsonl", random.Random(SEED)
    whole = played(configured(*bots, journal=folder / "whole.jsonl", rounds=ROUNDS, cycles=CYCLES))
    kills, harm = dict.fromkeys(_VICTIMS, 0), list[str]()
    before = first = 0  # bytes of the journal before this owner, and its descriptors when it first finished a round
    with Cluster(folder) as cluster, open(folder / "owner.log", "wb") as log:
        words = on(cluster, journal, *bots, rounds=ROUNDS, cycles=CYCLES, st="60")
        owner = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=log)
        try:
            while owner.poll() is None:
                _wait_for_rounds(journal, owner, rng)
                players = cluster.players()
                first = first or (_descriptors(owner.pid) if _size(journal) > before else 0)
                victim = rng.choice(_VICTIMS)
                if sum(kills.values()) == CLUSTER_KILLS or owner.poll() is not None:
                    continue
                if victim == "owner":
                    harm += _too_many_descriptors(owner.pid, first)
                    first = 0
                kills[victim] += _is_hit(victim, cluster, owner, players, rng)
                if victim == "owner":
                    before = _size(journal)
                    owner = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=log)
                cluster.tend()
        finally:
            kill(owner)
        left = cluster.left_players()
    harm += [f"worker process {pid} is left behind" for pid in left]
    harm += [f"bot {pid} is left behind" for pid in left_with(token)]
    harm += [f"the owner ended with {owner.returncode}: {_last(folder / 'owner.log')}"] if owner.returncode else []
    return [_finding(journal, whole, kills, harm)]


def _wait_for_rounds(journal: Path, owner: "subprocess.Popen[bytes]", rng: random.Random) -> None:
    """Wait until some rounds and a moment have passed, or until the owner has ended. Sometimes the cluster is hit while
    it still recovers from the kill before."""
    rounds, until = rng.randrange(_MOST_ROUNDS), time.monotonic() + _SECONDS
    size = _size(journal) + rounds * _BYTES_OF_A_ROUND
    while _size(journal) < size and owner.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(rng.uniform(0, 0.5))


def _is_hit(
    victim: str, cluster: Cluster, owner: "subprocess.Popen[bytes]", players: list[int], rng: random.Random
) -> bool:
    """Kill what the victim is. Returns False if there is none."""
    if victim == "player":
        try:
            os.kill(rng.choice(players), signal.SIGKILL)
        except (IndexError, ProcessLookupError):  # none is there, or it has ended by itself
            return False
        return True
    process = {"worker": rng.choice(cluster.workers), "scheduler": cluster.scheduler, "owner": owner}[victim]
    is_there = process is not None and process.poll() is None
    kill(process)
    return is_there


def _last(log: Path) -> str:
    return log.read_text()[-2000:]


def _size(journal: Path) -> int:
    return journal.stat().st_size if journal.exists() else 0


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except FileNotFoundError:  # it has ended
        return 0


def _too_many_descriptors(pid: int, first: int) -> list[str]:
    if first and (now := _descriptors(pid)) > first + _MORE_DESCRIPTORS:
        return [f"the owner has {now} descriptors, and had {first} before all the kills"]
    return []


def _finding(journal: Path, whole: list[RoundLine], kills: dict[str, int], harm: list[str]) -> Finding:
    rounds, report = rounds_in(journal), verify_journals([journal])
    harm += map(str, report.problems)
    harm += [f"{len(rounds)} lines, but {len(whole)} rounds"] if len(rounds) != len(whole) else []
    if sum(kills.values()) < CLUSTER_KILLS:
        harm.append(f"all was played after {sum(kills.values())} kills: choose more than {CYCLES} cycles")
    harm += ["the lines are not those that one process plays"] if essence(rounds) != essence(whole) else []
    figures = ", ".join(f"{count} of {victim}s" for victim, count in kills.items())
    return Finding("kills in a cluster", f"{sum(kills.values())} kills ({figures}), {len(rounds)} rounds", harm)
