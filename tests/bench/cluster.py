"""The part of `make bench` about a Dask cluster: a scheduler and two Dask workers on this machine, next to two worker
processes of the arena. The runs are interleaved; the time counts from the first tenth of the rounds to the last one."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tabulate import tabulate

from tests.bench.arena import c_bot
from tests.helpers.cluster import Cluster
from tests.helpers.paths import STEADY_BOT

RUNS = 5


def measured(bots: list[str], cycles: int, journal: Path, *words: str) -> float:
    """Rounds a second of a tournament with matches of 20 rounds."""
    command = [
        sys.executable, "-m", "arena", "run", *bots, "--rounds", "20", "--cycles", str(cycles), "--events",
        "--journal", str(journal), *words,
    ]  # fmt: skip
    ended = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith('{"event": "finished"'):
                ended.append(time.perf_counter())
    assert process.returncode == 0
    journal.unlink()
    first = len(ended) // 10
    return (len(ended) - first - 1) / (ended[-1] - ended[first])


def compared(title: str, command: str, cycles: int, cluster: Cluster, *words: str) -> list[str]:
    bots, journal = [f"{name}={command}" for name in "abcd"], cluster.folder / "cup.jsonl"
    here, there = [], []
    for _ in range(RUNS):
        here.append(measured(bots, cycles, journal, "--workers", "2", "--concurrency", "2", *words))
        there.append(measured(bots, cycles, journal, "--scheduler", cluster.address, *words))
    ratio, middle = max(there) / max(here), statistics.median(there) / statistics.median(here)
    return [title, f"{max(here):,.0f}", f"{max(there):,.0f}", f"{ratio:.2f} (median {middle:.2f}; at least 0.9)"]


def main() -> None:
    if not shutil.which("cc"):
        sys.exit("the benchmark of matches needs a C compiler (cc) for its bots")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as own:
        bot, python = str(c_bot(Path(own))), f"{sys.executable} {STEADY_BOT} x"
        with Cluster(Path(folder)) as cluster:
            rows = [
                # By default workers are pinned only if the machine was idle for a while.
                compared("C bots, public seed", bot, 20, cluster, "--seed", "7", "--affinity", "true"),
                compared("C bots, secret deals", bot, 20, cluster, "--affinity", "true"),
                compared("Python bots, secret deals", python, 12, cluster),
            ]
    print("\nA Dask cluster (a scheduler, two workers of one thread), matches of 20 rounds")
    print(tabulate(rows, ["", "--workers 2: rounds/s", "Dask: rounds/s", "ratio"], disable_numparse=True))


if __name__ == "__main__":
    main()
