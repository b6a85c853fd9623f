"""The part of `make bench` about worker processes: what a decision costs, what a second core brings, what the owner
needs. Every figure stands next to a baseline of the same run; the runs are interleaved."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import trio

from arena.journal.lines import Journal, JournalLine, RoundLine, read
from arena.plan.config import Config, from_command_line
from arena.support import compilation
from arena.tournament.ledger import resume
from arena.tournament.runner import Tournament
from arena.tournament.tournament_events import RoundFinished, TournamentEvent
from tests.helpers.paths import BENCH, THINKING_BOT
from tests.helpers.processes import workers_of

RUNS = 5
_FROM = 20  # rounds that are played before the measurement begins: by then all bots have started
_LOOK = 100  # rounds between two looks at the cores of the workers


@attrs.frozen
class Figures:
    """Of a tournament, from one of its first rounds to one of its last."""

    rounds: float  # a second
    decisions: float  # a second
    own_us: float  # processor time of owner and workers for a decision
    owner: float  # processor seconds of the owner, of each second
    thinking_ms: float  # the mean of all answers
    pinned: float  # the part of the looks at which a worker had one core only


def _seconds(pid: int) -> float:
    """The processor time that a process has used; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except FileNotFoundError:
        return 0.0


class _Meter:
    """Hears the rounds, and takes the time of one of the first and of one of the last."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._rounds = 0
        self._before = self._after = (0.0, 0.0, 0.0)
        self._pinned: list[bool] = []

    def heard(self, event: TournamentEvent, /) -> None:
        if not isinstance(event, RoundFinished):
            return
        self._rounds += 1
        if self._rounds in (_FROM, self._last):
            owner = time.process_time()
            workers = sum(map(_seconds, workers_of(os.getpid())))
            self._before, self._after = self._after, (time.perf_counter(), owner, workers)
        if self._rounds % _LOOK == 0 and self._rounds <= self._last:
            self._pinned += [len(os.sched_getaffinity(worker)) == 1 for worker in workers_of(os.getpid())]

    def figures(self, journal: Path) -> Figures:
        """The decisions are counted in the journal afterwards, because counting or keeping them would take the owner's
        time."""
        wall, owner, workers = (after - before for before, after in zip(self._before, self._after, strict=True))
        lines = [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, RoundLine)]
        thought = [ms for line in lines[_FROM : self._last] for _, _, ms in line.moves if ms is not None]
        made = len(thought)
        return Figures(
            (self._last - _FROM) / wall,
            made / wall,
            (owner + workers) / made * 1e6,
            owner / wall,
            statistics.fmean(thought),
            statistics.fmean(self._pinned or [False]),
        )


def configured(*bots: str, **options: str) -> Config:
    return from_command_line(bots, (), {"seed": "7"} | options)


def measured(config: Config, journal: Path) -> Figures:
    journal.unlink(missing_ok=True)
    rounds = config.cycles * config.rounds * len(config.bots) * (len(config.bots) - 1) // 2
    meter = _Meter(rounds - rounds // 10)  # when the last ones are heard, the workers and their figures may be gone
    with Journal(journal) as opened:
        config, ledger = resume(opened, config)
        trio.run(Tournament(config, opened, ledger, meter).run)
    return meter.figures(journal)


def built_ping_pong(folder: Path) -> Path:
    program = folder / "ping_pong"
    subprocess.run(["cc", "-O2", "-o", str(program), str(BENCH / "ping_pong.c")], check=True)
    return program


def floor(program: Path, bot: Path, lines: Path, count: int) -> tuple[float, float]:
    """Answers a second, and microseconds of its own processor time for each, of a bare C program."""
    done = subprocess.run([str(program), str(bot), str(lines)], check=True, capture_output=True, text=True)
    wall, used = map(float, done.stdout.split())
    return count / wall, used / count * 1e6


def one_core(bot: Path, lines: list[bytes], folder: Path) -> Iterator[list[str]]:
    """Owner, worker and bots on one core, the journal included, beside the bare C program there."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    program, file = built_ping_pong(folder), folder / "requests"
    file.write_bytes(b"".join(lines))
    bare, ours = [], []
    for _ in range(RUNS):
        bare.append(floor(program, bot, file, len(lines)))
        # So many that they take two seconds: in the first hundreds, texts are made that are kept for all later ones.
        config = configured(f"a={bot}", f"b={bot}", rounds="1000", concurrency="1")
        ours.append(measured(config, folder / "one.jsonl"))
    os.sched_setaffinity(0, cores)
    best, middle = max(rate for rate, _ in bare), statistics.median(rate for rate, _ in bare)
    yield ["bare C ping-pong", f"{best:,.0f}", f"{min(used for _, used in bare):.1f}", "1"]
    rates, costs = [each.decisions for each in ours], [each.own_us for each in ours]
    least, most = (0.14, 30) if compilation.kind() == "pure Python" else (0.16, 25)
    ratio = f"{max(rates) / best:.3f} (median {statistics.median(rates) / middle:.3f}; at least {least})"
    cost = f"{min(costs):.1f} (median {statistics.median(costs):.1f}; at most {most})"
    yield ["the arena with one worker", f"{max(rates):,.0f}", cost, ratio]


def many_cores(bot: Path, folder: Path) -> Iterator[list[str]]:
    """One worker and two, each pinned to a core of its own or not. The owner's share is scaled to 500 rounds a
    second."""
    found: dict[tuple[int, str], list[Figures]] = {(n, pinned): [] for n in (1, 2) for pinned in ("true", "false")}
    bots = [f"{name}={bot}" for name in "abcd"]
    for _ in range(RUNS):
        for (workers, pinned), figures in found.items():
            more = {"workers": str(workers), "concurrency": str(workers), "affinity": pinned}
            # So many that the texts which each worker makes once and keeps are a small part of its work.
            figures.append(measured(configured(*bots, rounds="100", cycles="6", **more), folder / "many.jsonl"))
    alone = [each.rounds for each in found[1, "true"]]
    for (workers, pinned), figures in found.items():
        rates = [each.rounds for each in figures]
        ratio = f"{max(rates) / max(alone):.2f} (median {statistics.median(rates) / statistics.median(alone):.2f})"
        share = statistics.median(each.owner / each.rounds * 500 for each in figures)
        yield [str(workers), pinned, f"{max(rates):,.0f}", ratio, f"{share:.1%}"]


def thinking(folder: Path) -> Iterator[list[str]]:
    """Bots that think for 5 ms without using the processor: eight matches at once should be eight times one."""
    bots = [f"{name}={sys.executable} {THINKING_BOT} 0.005" for name in "abcd"]
    found: dict[int, list[Figures]] = {1: [], 8: []}
    for _ in range(RUNS):
        for concurrency, figures in found.items():
            config = configured(*bots, rounds="5", cycles=str(concurrency), concurrency=str(concurrency))
            figures.append(measured(config, folder / "thinking.jsonl"))
    alone = max(each.decisions for each in found[1])
    for concurrency, figures in found.items():
        rate = max(each.decisions for each in figures)
        thought = statistics.median(each.thinking_ms for each in figures)
        yield [str(concurrency), f"{rate:,.0f}", f"{rate / alone:.2f}", f"{thought:.2f}"]
