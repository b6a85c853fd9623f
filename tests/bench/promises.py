"""`make promises`: the figures that this project promises, in some minutes. Each stands next to a baseline of the same
run; all are taken at least five times, in turns. The other parts of `make bench` say where the time goes."""

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from arena.support import compilation
from arena.support.process_limits import tune_gc
from tests.bench import offline, server, workers
from tests.bench.arena import c_bot, milliseconds_to_first_bot, recorded_requests, run_python, show

RUNS = 7


def start_up(folder: Path, bot: Path) -> Iterator[list[str]]:
    """Python writes and reads compiled files, as it does for a user."""
    bare, ours = [], []
    for _ in range(RUNS):
        start = time.perf_counter()
        run_python(["-c", "pass"])
        bare.append((time.perf_counter() - start) * 1000)
        ours.append(milliseconds_to_first_bot(folder, bot))
    yield ["python -c pass", f"{min(bare):.0f}", f"{statistics.median(bare):.0f}", "1"]
    ratio = f"{min(ours) / min(bare):.1f}"
    yield ["`arena play`, until the first bot runs", f"{min(ours):.0f}", f"{statistics.median(ours):.0f}", ratio]


def matches(folder: Path, bot: Path) -> None:
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
    show("Start-up (at most 200 ms)", ["", "best ms", "median ms", "ratio"], start_up(folder, bot))


def main() -> None:
    missing = [program for program in ("cc", "time", "taskset") if not shutil.which(program)]
    if missing:
        sys.exit(f"these figures need the programs cc, time and taskset; missing: {', '.join(missing)}")
    print(f"The arena runs {compilation.kind()}.")
    tune_gc()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        matches(folder, c_bot(folder))
        program = server.load_generator(folder)
        show("Bots over loopback, on another core", server.HEAD, server.under_load(program, folder))
    offline.main()


if __name__ == "__main__":
    main()
