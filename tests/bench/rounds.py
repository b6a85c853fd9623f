"""Another part of `make bench`: what a round costs besides its decisions, next to a bare version of the same work."""

import math
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import trio

from arena.cli.tournament_progress import lines_of_rounds
from arena.journal.likelihood import llr, t_value
from arena.journal.lines import Journal, encoded
from arena.plan.config import from_command_line
from arena.plan.deals import DealKey
from arena.plan.schedule import Format, schedule
from arena.plan.sprt import EloModel, Sprt
from arena.support.process_limits import tune_gc
from arena.tournament.ledger import begin_unrecorded
from arena.tournament.tournament_events import RoundFinished, TournamentEvent
from arena.tournament.writer import JournalWriter
from engine.ruleset import PRESETS
from protocol.fairness import hash_of
from tests.bench.arena import show
from tests.helpers.journals import rounds

FINISHED = [RoundFinished(line) for line in rounds(40, rules="base")]
SECONDS = 2.0  # for each rate
Send = Callable[[RoundFinished], Awaitable[None]]


class Deaf:
    def heard(self, event: TournamentEvent, /) -> None:
        pass


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def feed(send: Send, rate: int, count: int) -> None:
    """Send rounds as they would finish at this rate."""
    due = trio.current_time()
    for number in range(count):
        due += 1 / rate
        await trio.sleep_until(due)
        await send(FINISHED[number % len(FINISHED)])


async def to_nobody(_journal: Journal, rate: int, count: int) -> None:
    async def send(_event: RoundFinished) -> None:
        pass

    await feed(send, rate, count)


async def one_by_one(journal: Journal, rate: int, count: int) -> None:
    """The baseline: a wait for the disk for each round, in one of trio's threads."""

    async def send(event: RoundFinished) -> None:
        await trio.to_thread.run_sync(journal.append, encoded(event.line))

    await feed(send, rate, count)


async def to_the_writer(journal: Journal, rate: int, count: int) -> None:
    sender, receiver = trio.open_memory_channel[TournamentEvent](256)
    async with trio.open_nursery() as nursery, sender:
        nursery.start_soon(JournalWriter(journal, Deaf()).run, receiver, nursery.cancel_scope.cancel)
        await feed(sender.send, rate, count)


def microseconds(way: Callable[..., Awaitable[None]], path: Path, rate: int) -> float:
    """Our own processor time for a round."""
    count = int(SECONDS * rate)
    with Journal(path) as journal:
        before = cpu_seconds()
        trio.run(partial(way, journal, rate, count))
        spent = cpu_seconds() - before
    path.unlink()
    return spent / count * 1e6


def journals(folder: Path) -> Iterator[list[str]]:
    for rate in (50, 500, 2000):
        found: dict[Any, list[float]] = {to_nobody: [], one_by_one: [], to_the_writer: []}
        for _ in range(5):
            for way, taken in found.items():
                taken.append(microseconds(way, folder / "cup.jsonl", rate))
        nothing, bare, ours = (statistics.median(taken) for taken in found.values())
        bare, ours = bare - nothing, ours - nothing
        yield [f"{rate:,}", f"{bare:.0f}", f"{ours:.0f}", f"{ours / bare:.2f}", f"{ours * rate / 1e4:.1f} %"]


def best(once: Callable[[int], Any], times: int = 2000) -> float:
    """Microseconds of processor time, the best of five."""
    found = []
    for _ in range(5):
        before = time.process_time()
        for number in range(times):
            once(number % len(FINISHED))
        found.append((time.process_time() - before) / times * 1e6)
    return min(found)


def parts() -> Iterator[list[str]]:
    """Everything else that happens once in a round. The baseline is a system call: a byte written to nowhere."""
    base, key = PRESETS["base"], DealKey("a" * 64)
    (match,) = schedule(2, Format.ROUND_ROBIN, 1, len(FINISHED), base)
    planned = match.rounds
    revealed = key.deal(planned[0], base).revealed(1)
    config = from_command_line(["greedy", "random"], (), {"rounds": str(len(FINISHED))})
    _, ledger = begin_unrecorded(config)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        bare = best(lambda _: os.write(nowhere.fileno(), b"x"))
        lines = lines_of_rounds(partial(print, file=nowhere, flush=True))
        works: dict[str, Callable[[int], Any]] = {
            "derive the deal": lambda number: key.deal(planned[number], base),
            "hash the deal": lambda _: hash_of(revealed),
            "make the journal's line": lambda number: encoded(FINISHED[number].line),
            "add it to the ledger": lambda number: ledger.add(FINISHED[number].line),
            "print a line about it": lambda number: lines.heard(FINISHED[number]),
        }
        for name, once in works.items():
            took = best(once)
            yield [name, f"{took:.1f}", f"{took / bare:.1f}"]


def updates() -> Iterator[list[str]]:
    """Of a sequential test, by one pair more: what chess tools approximate by a formula, and the exact ratio."""
    rng = random.Random(1)
    rows = [tuple(rng.choices(range(1000), k=5)) for _ in range(500)]
    baseline = 0.0
    works: list[tuple[str, Callable[[tuple[int, ...]], object]]] = [("the approximation", approximate_ratio)]
    works += [(f"exact, {model.value}", partial(llr, sprt=Sprt(model=model))) for model in EloModel]
    for name, work in works:
        took = []
        for row in rows:
            start = time.perf_counter()
            work(row)
            took.append(time.perf_counter() - start)
        best = statistics.median(took) * 1e6
        baseline = baseline or best
        yield [name, f"{best:.0f}", f"{sorted(took)[-5] * 1e6:.0f}", f"{best / baseline:.0f}"]


def approximate_ratio(pairs: tuple[int, ...]) -> float:
    """The ratio of normal distributions with the observed variance."""
    total, t0, t1 = sum(pairs), t_value(0), t_value(10)
    mean = sum(count * score / 4 for score, count in enumerate(pairs)) / total
    deviation = math.sqrt(sum(count * (score / 4 - mean) ** 2 for score, count in enumerate(pairs)) / total)
    t = (mean - 0.5) / deviation
    return total / 2 * math.log((1 + (t - t0) ** 2) / (1 + (t - t1) ** 2))


def main() -> None:
    tune_gc()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:  # on a disk; the folder for temporary files may be RAM
        head = ["rounds/s", "one by one: us", "the writer: us", "ratio", "of a core"]
        show("Rounds on their way to the disk (processor time of a round)", head, journals(Path(folder)))
    show("What else happens once in a round", ["", "us", "ratio to a system call"], parts())
    head = ["", "median us (below 1,000)", "the slowest of a hundred", "ratio"]
    show("Another pair of a sequential test", head, updates())


if __name__ == "__main__":
    main()
