"""Attacks on a tournament of processes: a host that stands still, a bot that buys second chances, bad bots."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from arena.journal.lines import JournalLine, RoundLine, VoidLine, read
from arena.journal.verify import verify_journals
from arena.plan.max_voids import SHARE, most_voids
from tests.attack.findings import Finding
from tests.bots import bad_bots
from tests.helpers.paths import LATE_BOT, STEADY_BOT
from tests.helpers.processes import TOKEN, bad_command, left_with, send_to_all, workers_of

Line = TypeVar("Line", RoundLine, VoidLine)
STALLS = 100
STALL_SECONDS = 0.6
# What bad bots do before a round, between two or after the last.
_OUTSIDE_OF_ROUNDS = (
    "crash-at-start", "slow-start", "silent", "unflushed", "never-reads", "hello-without-newline", "old-protocol",
    "leaves-after-a-round", "exits-1-at-bye", "stays",
)  # fmt: skip


def _steady(name: str) -> str:
    return f"{name}={sys.executable} {STEADY_BOT} {name}"


def _command(journal: Path, *bots: str, **options: str) -> list[str]:
    named = {"concurrency": "6", "journal": str(journal)} | options
    return [
        sys.executable, "-m", "arena", "run", *bots,
        *(word for key, value in named.items() for word in (f"--{key.replace('_', '-')}", value)),
    ]  # fmt: skip


def _lines(journal: Path, kind: type[Line]) -> list[Line]:
    return [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, kind)]


@contextmanager
def _running(words: list[str]) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def stalls(folder: Path) -> list[Finding]:
    """The arena is stopped for longer than any bot has time, while six matches are under way."""
    journal = folder / "stalls.jsonl"
    bots = [_steady(name) for name in "abcdef"]
    words = _command(journal, *bots, rounds="100", cycles="200", st="0.4", timemargin="0", seed="stalls")
    with _running(words) as arena:
        assert arena.stderr is not None
        os.set_blocking(arena.stderr.fileno(), False)
        for number in range(STALLS):
            _wait_for_rounds(arena, 4 if number else 30)
            stopped = [arena.pid, *workers_of(arena.pid)]
            send_to_all(stopped, signal.SIGSTOP)
            time.sleep(STALL_SECONDS)
            send_to_all(stopped, signal.SIGCONT)
        arena.send_signal(signal.SIGINT)
        os.set_blocking(arena.stderr.fileno(), True)
        arena.communicate(timeout=60)
    rounds = _lines(journal, RoundLine)
    harm = [f"{line.id}: {line.fault.detail}" for line in rounds if line.fault]
    figures = f"{STALLS} stalls, {len(rounds)} rounds, {len(harm)} charged, {len(_lines(journal, VoidLine))} void"
    return [Finding("stalls of the arena", figures, harm)]


def _wait_for_rounds(arena: "subprocess.Popen[bytes]", count: int) -> None:
    """Reads what the arena says until it has finished `count` more rounds."""
    assert arena.stderr is not None
    until = time.monotonic() + 60
    while count > 0 and time.monotonic() < until:
        text = arena.stderr.read() or b""
        count -= text.count(b"Finished round")
        time.sleep(0.01)
    if count > 0:
        raise RuntimeError("the arena does not go on")


def second_chances(folder: Path) -> list[Finding]:
    """A bot answers half a millisecond late where it stands to lose, on a machine with no core to spare; its opponent
    is the same bot without the trick."""
    journal = folder / "chances.jsonl"
    late, twin = (f"{sys.executable} {LATE_BOT} {seconds}" for seconds in ("0.2", "never"))
    words = _command(
        journal, f"late={late}", f"twin={twin}", rounds="20", cycles="20", st="0.2", timemargin="0", concurrency="2",
        max_faults="0", seed="chances",
    )  # fmt: skip
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        subprocess.run(words, check=True, capture_output=True, timeout=600)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    rounds = _lines(journal, RoundLine)
    voids = len(_lines(journal, VoidLine))
    won = sum(line.result.winner == line.bots.index("late") for line in rounds)
    tries = sum(line.result.ending == "timeout" for line in rounds) + voids
    allowed = most_voids(SHARE, len(rounds))
    harm = [f"{voids} void rounds, more than the {allowed} of --max-voids"] if voids > allowed else []
    figures = f"{len(rounds)} rounds, {tries} tried to be late, {voids} of them void; it won {won / len(rounds):.0%}"
    return [Finding("second chances", figures, harm)]


def bad_bots_of_all_kinds(folder: Path) -> list[Finding]:
    """Every way in which the bad bots of the tests fail, each against the same honest bot."""
    journal = folder / "bad.jsonl"
    ways = sorted({*bad_bots.WAYS, *_OUTSIDE_OF_ROUNDS})
    words = _command(
        journal, _steady("honest"), *(f"{way}={bad_command(way)}" for way in ways),
        format="gauntlet", rounds="4", st="0.5", start="1.5", cpu="2", memory="300M", max_faults="3", seed="bad",
    )  # fmt: skip
    subprocess.run(words, check=True, capture_output=True, timeout=600)
    rounds = _lines(journal, RoundLine)
    harm = [
        f"{line.id}: {line.fault.detail}" for line in rounds if line.fault and line.bots[line.fault.seat] == "honest"
    ]
    harm += [str(problem) for problem in verify_journals([journal]).problems]
    harm += [f"process {pid} is left behind" for pid in left_with(TOKEN)]
    faults = sum(line.fault is not None for line in rounds)
    return [Finding("bad bots", f"{len(ways)} kinds, {len(rounds)} rounds, {faults} faults, all their own", harm)]
