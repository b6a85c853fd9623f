"""A part of `make bench`: the commands that only read journals, next to bare versions of the same work.

The rounds are genuine, but played at random without bots (tests/helpers/genuine.py), and long journals repeat them."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from arena.cli.progress import Quiet
from arena.journal.lines import Journal
from arena.plan.config import Config
from arena.support.process_limits import tune_gc
from arena.tournament.ledger import resume
from arena.tournament.runner import Tournament
from tests.bench.arena import FULL, show
from tests.helpers import genuine
from tests.helpers.tournaments import configured, steady

TIMES = 5
LONG = 1_000_000 if FULL else 100_000  # rounds
RESUMED = 100_000
VERIFIED = 20_000 if FULL else 2_000
EVALUATED = 1_000 if FULL else 40
HEAD = ["", "best s", "median s", "CPU s", "rounds/s", "s for a million", "ratio", "peak MiB"]
ARENA = (sys.executable, "-m", "arena")
LINES = "import sys; print(sum(1 for _ in open(sys.argv[1], 'rb')))"
EXPORTED = 20_000 if FULL else 2_000
BARE_MOVES = """
import csv, json, sys
write = csv.writer(sys.stdout).writerow
for line in map(json.loads, open(sys.argv[1], "rb")):
    for at, (seat, move, ms) in enumerate(line.get("moves", ())):
        write([line["id"], line["bots"][seat], at, move, ms])
"""
DECODED = "import sys, json; print(sum(json.loads(line)['v'] for line in open(sys.argv[1], 'rb')))"


class Measured(NamedTuple):
    wall: float  # seconds
    cpu: float  # seconds, of all its processes
    peak: float  # MiB, of the largest of them


class Work(NamedTuple):
    name: str
    command: Sequence[str | Path]
    amount: int  # what the head counts
    cores: int | None = None  # that it may use
    without: Sequence[str | Path] | None = None  # the same command without any round: what does not grow with them


def cup(cycles: int) -> Config:
    return configured(*map(steady, "abcdefgh"), rounds="20", cycles=str(cycles), rules="tactics")


def measured(words: Sequence[str | Path], limit: int | None) -> Measured:
    """The command in these words, on at most `limit` cores."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[:limit]))
    command = ["/usr/bin/time", "-f", "%e %U %S %M", "taskset", "-c", cores, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True)
    wall, user, system, peak = map(float, done.stderr.splitlines()[-1].split())
    return Measured(wall, user + system, peak / 1024)


def compared(*works: Work) -> Iterator[list[str]]:
    """Each of them several times, in turn; the ratio is to the first."""
    runs: list[list[Measured]] = [[] for _ in works]
    fixed: list[list[float]] = [[] for _ in works]  # seconds
    for _ in range(TIMES):
        for work, found, without in zip(works, runs, fixed, strict=True):
            found.append(measured(work.command, work.cores))
            without.append(measured(work.without, work.cores).wall if work.without else 0)
    bare = min(run.wall for run in runs[0])
    for work, found, without in zip(works, runs, fixed, strict=True):
        best, cpu = min(run.wall for run in found), min(run.cpu for run in found)
        middle, peak = median(run.wall for run in found), max(run.peak for run in found)
        rate, start = f"{work.amount / best:,.0f}", min(without)
        million = f"{start + (best - start) / work.amount * 1e6:.1f}"
        seconds = f"{best:.2f}", f"{middle:.2f}", f"{cpu:.2f}"
        yield [work.name, *seconds, rate, million, f"{best / bare:.2f}", f"{peak:.0f}"]


def tables(journal: Path) -> Iterator[list[str]]:
    empty, table, as_json = without_rounds(journal), (*ARENA, "table"), ("--format", "json")
    return compared(
        Work("reading the lines alone", (sys.executable, "-c", LINES, journal), LONG),
        Work("the same, decoded by Python's json", (sys.executable, "-c", DECODED, journal), LONG),
        Work("`arena table`", (*table, journal), LONG, without=(*table, empty)),
        Work(
            "`arena table --format json`, with times",
            (*table, journal, *as_json),
            LONG,
            without=(*table, empty, *as_json),
        ),
    )


def without_rounds(journal: Path) -> Path:
    """A journal that was only begun."""
    empty = journal.with_name("begun.jsonl")
    with open(journal, "rb") as file:
        empty.write_bytes(file.readline())
    return empty


def verification(journal: Path) -> Iterator[list[str]]:
    command = (*ARENA, "verify", journal)
    yield from compared(
        Work("`arena verify` on one core", command, VERIFIED, 1),
        Work(f"on {len(os.sched_getaffinity(0))} cores", command, VERIFIED),
    )


def evaluation(journal: Path) -> Iterator[list[str]]:
    one, mistakes = ("replay", journal, "1.1-2.1"), (*ARENA, "replay", journal, "--bot", "a", "--mistakes", "10")
    yield from compared(
        Work("one round, its last position", (*ARENA, *one), 1),
        Work("one round with --evaluate", (*ARENA, *one, "--evaluate"), 1),
        Work("`arena replay --mistakes` on one core", mistakes, EVALUATED, 1),
        Work(f"on {len(os.sched_getaffinity(0))} cores", mistakes, EVALUATED),
    )


def exports(journal: Path) -> Iterator[list[str]]:
    moves = sum(len(json.loads(line).get("moves", ())) for line in journal.open("rb"))
    command, parquet = (*ARENA, "export", journal, "--what"), ("-o", journal.with_name("exported.parquet"))
    cores = f"on {len(os.sched_getaffinity(0))} cores"
    yield from compared(
        Work("some columns, decoded by Python's json", (sys.executable, "-c", BARE_MOVES, journal), moves, 1),
        Work("`arena export --what moves` on one core", (*command, "moves"), moves, 1),
        Work(cores, (*command, "moves"), moves),
        Work(f"{cores}, as Parquet", (*command, "moves", *parquet), moves),
        Work("`arena export --what positions` on one core", (*command, "positions"), moves, 1),
        Work(cores, (*command, "positions"), moves),
    )


def resuming(journal: Path) -> Iterator[list[str]]:
    module = (sys.executable, "-m", "tests.bench.offline")
    return compared(
        Work("reading the lines alone", (sys.executable, "-c", LINES, journal), RESUMED),
        Work("resuming, until the first match could begin", (*module, journal), RESUMED),
        Work("the same without any round", (*module, journal.with_name("empty.jsonl")), RESUMED),
    )


def resume_once(journal: Path) -> None:
    tune_gc()  # as every command does
    config = cup(cycles=RESUMED // 560 + 1)
    with Journal(journal) as opened:
        config, ledger = resume(opened, config)
        Tournament(config, opened, ledger, Quiet())


def main() -> None:
    if not shutil.which("time") or not shutil.which("taskset"):
        sys.exit("the benchmark of the commands that read journals needs the programs time and taskset")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        long = genuine.write_copies(folder / "long.jsonl", cup(cycles=1), LONG)
        show(f"Tables of {LONG:,} rounds (a million: at most 15 s)", HEAD, tables(long))
        long.unlink()
        verified = genuine.write_copies(folder / "verified.jsonl", cup(cycles=1), VERIFIED)
        show(f"Verifying {VERIFIED:,} rounds", HEAD, verification(verified))
        two = configured(steady("a"), steady("b"), rounds=str(EVALUATED), rules="tactics")
        evaluated = genuine.write_copies(folder / "evaluated.jsonl", two, EVALUATED)
        show(f"Evaluating {EVALUATED:,} rounds", HEAD, evaluation(evaluated))
        exported = genuine.write_copies(folder / "exported.jsonl", two, EXPORTED)
        head = [title.replace("rounds", "moves") for title in HEAD]
        show(f"Exporting {EXPORTED:,} rounds (moves: at least 50,000/s)", head, exports(exported))
        unfinished = genuine.write_unfinished(folder / "cup.jsonl", cup(cycles=RESUMED // 560 + 1), RESUMED, 1120)
        show(f"Resuming after {RESUMED:,} rounds (at most 3 s and 100 MB)", HEAD, resuming(unfinished))


if __name__ == "__main__":
    resume_once(Path(sys.argv[1])) if sys.argv[1:] else main()
