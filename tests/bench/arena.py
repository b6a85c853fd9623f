"""The second half of `make bench`: matches, tournaments and journals, next to bare versions of the same work."""

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import trio
from tabulate import tabulate

from arena.devtools.starters import STARTERS
from arena.journal.lines import Journal
from arena.match.match import PlayedRound
from arena.match.referee import Referee
from arena.plan.config import Config, from_command_line
from arena.support import compilation
from arena.support.process_limits import tune_gc
from arena.tournament.ledger import Ledger, begin_unrecorded, resume
from arena.tournament.runner import Tournament
from arena.tournament.tournament_events import RoundFinished, TournamentEvent
from engine.cards import SEATS
from engine.deal import Deal
from engine.ruleset import PRESETS
from protocol.messages import Clock, Points
from tests.bench import workers
from tests.helpers.drivers import RunLogic, match_of, players_of, run_by_polling, run_by_trio, whole_match

FULL = bool(os.environ.get("FULL"))  # the long versions: 10,000 rounds in memory, a journal of 1,000,000
_STARTS = 7


class Counting:
    def __init__(self, at_round: dict[int, Callable[[], None]] | None = None) -> None:
        self.rounds = 0
        self._at_round = at_round or {}

    def heard(self, event: TournamentEvent, /) -> None:
        if isinstance(event, RoundFinished):
            self.rounds += 1
            self._at_round.get(self.rounds, lambda: None)()


def c_bot(folder: Path) -> Path:
    starter = STARTERS["c"]
    (folder / starter.file).write_text(starter.text())
    assert starter.build is not None
    subprocess.run(starter.build.split(), cwd=folder, check=True)
    return folder / "random_bot_c"


def configured(*bots: str, **options: str) -> Config:
    return from_command_line(bots, (), {"seed": "7", "concurrency": "1"} | options)


def timed(config: Config, listener: Counting, journal: Path | None = None) -> tuple[float, float]:
    """Seconds on the wall and of our own processor time."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    if journal is None:
        config, ledger = begin_unrecorded(config)
        trio.run(Tournament(config, None, ledger, listener).run)
    else:
        with Journal(journal) as opened:
            trio.run(Tournament(*resume_with(opened, config), listener).run)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def timed_match(config: Config, run: RunLogic[list[PlayedRound]]) -> tuple[int, float, float]:
    """Decisions, seconds on the wall and of our own processor time, of the first match by one of the drivers."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    rounds = run(lambda driver: whole_match(match_of(config, players_of(config, driver), driver.stalls), config))
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    decisions = sum(ms is not None for played in rounds for _, _, ms in played.referee.moves)
    return decisions, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def resume_with(journal: Journal, config: Config) -> tuple[Config, Journal, Ledger]:
    config, ledger = resume(journal, config)
    return config, journal, ledger


def recorded_requests() -> list[bytes]:
    """The bytes of a match: the requests of fifty rounds."""
    lines: list[bytes] = []
    for number in range(50):
        rng = random.Random(number)
        referee = Referee(PRESETS["base"], Deal.from_seed(str(number), tactics=False), SEATS[0])
        while ask := referee.ask():
            lines.append(ask.request(len(lines) + 1, Points(0, 0), Clock(10_000, None)).line)
            referee.answer(rng.choice(ask.legal).text, 0)
    return lines


async def ping_pong(bot: Path, lines: list[bytes]) -> tuple[float, float]:
    """The baseline: the same bytes to the same bots with nothing but trio. Round trips and processor seconds."""
    bots = [
        await trio.lowlevel.open_process([str(bot)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    for number, line in enumerate(lines):
        process = bots[number % 2]
        assert process.stdin is not None
        assert process.stdout is not None
        with trio.move_on_after(10):
            await process.stdin.send_all(line)
            await process.stdout.receive_some(65536)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    for process in bots:
        process.kill()
        await process.wait()
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def decisions(bot: Path) -> Iterator[list[str]]:
    """Pinned to one core, in turns, the best of each: machines are noisy."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    lines = recorded_requests()
    bare: list[tuple[float, float]] = []
    by_trio: list[tuple[float, float]] = []
    by_polling: list[tuple[float, float]] = []
    for _ in range(5):
        wall, cpu = trio.run(ping_pong, bot, lines)
        bare.append((len(lines) / wall, cpu / len(lines) * 1e6))
        config = configured(f"a={bot}", f"b={bot}", rounds="100")
        for run, figures in ((run_by_trio, by_trio), (run_by_polling, by_polling)):
            made, wall, cpu = timed_match(config, run)
            figures.append((made / wall, cpu / made * 1e6))
    os.sched_setaffinity(0, cores)
    best_bare, cpu_bare = max(bare)
    yield ["bare trio ping-pong", f"{best_bare:,.0f}", f"{cpu_bare:.0f}", "1"]
    for name, ours in (("a match by trio", by_trio), ("a match by the polled driver", by_polling)):
        best, cpu = max(ours)
        middle = statistics.median(rate for rate, _ in ours) / statistics.median(rate for rate, _ in bare)
        yield [name, f"{best:,.0f}", f"{cpu:.0f}", f"{best / best_bare:.2f} (median {middle:.2f})"]


def tournaments(folder: Path) -> Iterator[list[str]]:
    alone = 0.0
    for concurrency in (1, 2, 4):
        listener = Counting()
        options = {"rounds": "20", "cycles": "4", "concurrency": str(concurrency)}
        bots = [f"{name}=random" for name in "abcd"]
        wall, _ = timed(configured(*bots, **options), listener, folder / f"{concurrency}.jsonl")
        rate = listener.rounds / wall
        alone = alone or rate
        yield [str(concurrency), f"{rate:,.0f}", f"{rate / alone:.2f}"]


def restarts(bot: Path) -> Iterator[list[str]]:
    """Pinned to one core too: otherwise where the scheduler puts a bot matters more than its start."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    start = time.perf_counter()
    for _ in range(100):
        subprocess.run([str(bot)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    bare = (time.perf_counter() - start) / 100 * 1000 * 2
    walls = []
    for restart in ("never", "round"):
        walls.append(
            min(
                timed(configured(f"a={bot}", f"b={bot}", rounds="100", restart=restart), Counting())[0]
                for _ in range(3)
            )
        )
    os.sched_setaffinity(0, cores)
    added = (walls[1] - walls[0]) / 100 * 1000
    yield ["two bare processes, started and waited for", f"{bare:.2f}", "1"]
    yield ["two C bots started anew for a round", f"{added:.2f}", f"{added / bare:.2f}"]


def start_up(folder: Path, bot: Path, commands: Sequence[Sequence[str]] = ()) -> Iterator[list[str]]:
    """Several times, in turns. Python writes and reads compiled files, as it does for a user."""
    bare, until_bot = "python -c pass", "arena play, until the first bot runs"
    called = {bare: ["-c", "pass"]} | {f"arena {' '.join(words[:2])}": ["-m", "arena", *words] for words in commands}
    took: dict[str, list[float]] = {name: [] for name in (*called, until_bot)}
    for _ in range(_STARTS):
        for name, words in called.items():
            start = time.perf_counter()
            run_python(words)
            took[name].append((time.perf_counter() - start) * 1000)
        took[until_bot].append(milliseconds_to_first_bot(folder, bot))
    for name, found in took.items():
        ratio = min(found) / min(took[bare])
        yield [name.replace(str(folder), "…"), f"{min(found):.0f}", f"{statistics.median(found):.0f}", f"{ratio:.1f}"]


def run_python(words: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True, env=environment)


def milliseconds_to_first_bot(folder: Path, bot: Path) -> float:
    """The bot begins with a note of the time."""
    note, script = folder / "began", folder / "noting.sh"
    script.write_text(f"date +%s%N >> {note}\nexec {bot}\n")
    note.unlink(missing_ok=True)
    start = time.time_ns()
    run_python(["-m", "arena", "play", f"a=sh {script}", f"b=sh {script}", "--rounds", "2"])
    return (int(note.read_text().split()[0]) - start) / 1e6


def memory(bot: Path) -> Iterator[list[str]]:
    rounds = 10_000 if FULL else 2_000
    sizes: dict[int, float] = {}

    def note(number: int) -> Callable[[], None]:
        def read() -> None:
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            sizes[number] = pages * os.sysconf("SC_PAGE_SIZE") / 2**20

        return read

    marks = {number: note(number) for number in (rounds // 5, rounds // 2, rounds)}
    timed(configured(f"a={bot}", f"b={bot}", rounds="100", cycles=str(rounds // 100)), Counting(marks))
    first = sizes[rounds // 5]
    for number, size in sizes.items():
        yield [f"{number:,}", f"{size:.1f}", f"{size / first:.2f}"]


def show(title: str, head: list[str], rows: Iterator[list[Any]]) -> None:
    print(f"\n{title}")
    print(tabulate(list(rows), head, disable_numparse=True))


def show_matches(folder: Path, bot: Path) -> None:
    show(
        "Two C bots, all of it on one core, the journal included",
        ["", "decisions/s", "own CPU us", "ratio to the floor"],
        workers.one_core(bot, recorded_requests(), folder),
    )
    show(
        "Workers of C bots, pinned each to a core of its own or not",
        ["workers", "pinned", "rounds/s", "ratio to 1 (two: at least 1.8)", "owner at 500 rounds/s (at most 10 %)"],
        workers.many_cores(bot, folder),
    )
    show(
        "Bots that think for 5 ms (eight matches at once lose nothing)",
        ["matches at once", "decisions/s", "ratio to 1", "mean answer in ms"],
        workers.thinking(folder),
    )


def show_start_up(folder: Path, bot: Path, commands: Sequence[Sequence[str]] = ()) -> None:
    head = ["", "best ms", "median ms", "ratio to bare Python"]
    show("Start-up (at most 200 ms until the first bot runs)", head, start_up(folder, bot, commands))


def main() -> None:
    if not shutil.which("cc"):
        sys.exit("the benchmark of matches needs a C compiler (cc) for its bots")
    print(f"The arena runs {compilation.kind()}.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bot, journal = c_bot(folder), str(folder / "1.jsonl")
        tune_gc()
        show(
            "A match of two C bots over pipes, pinned to one core",
            ["", "decisions/s", "CPU us", "ratio"],
            decisions(bot),
        )
        show_matches(folder, bot)
        show("A tournament of the Python random bot", ["concurrency", "rounds/s", "ratio to 1"], tournaments(folder))
        show("Restarting", ["", "ms", "ratio"], restarts(bot))
        show_start_up(folder, bot, [["--help"], ["play", "--help"], ["bots"], ["table", journal], ["replay", journal]])
        show("Memory of a tournament", ["after rounds", "MiB", "ratio"], memory(bot))


if __name__ == "__main__":
    main()
