"""`python -m tests.bench.twice`: two workers beside one, ten times in a row, with the default of `--affinity`. On a
machine with nothing else to do each ratio has to be reached; else the exit status is 1."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from arena.support.process_limits import tune_gc
from tests.bench.arena import c_bot
from tests.bench.workers import configured, measured

_RUNS = 10
_LEAST = 1.85
_HEAD = ["run", "one worker: rounds/s", "pinned", "two: rounds/s", "pinned", "owner", "ratio"]


def compared(folder: Path) -> Iterator[tuple[float, list[str]]]:
    """The ratio and the row of each comparison."""
    bots = [f"{name}={c_bot(folder)}" for name in "abcd"]
    for number in range(1, _RUNS + 1):
        one, two = (
            measured(
                configured(*bots, rounds="100", cycles="12", workers=str(count), concurrency=str(count)),
                folder / "twice.jsonl",
            )
            for count in (1, 2)
        )
        ratio = two.rounds / one.rounds
        cells = [cell for each in (one, two) for cell in (f"{each.rounds:,.0f}", f"{each.pinned:.0%}")]
        yield ratio, [f"{number}", *cells, f"{two.owner:.1%}", f"{ratio:.2f}"]


def main() -> None:
    tune_gc()
    print(*_HEAD, sep="  ")
    reached = 0
    with tempfile.TemporaryDirectory() as name:
        for ratio, row in compared(Path(name)):
            reached += ratio >= _LEAST
            print(*(cell.rjust(len(title)) for cell, title in zip(row, _HEAD, strict=True)), sep="  ", flush=True)
    print(f"{reached} of {_RUNS} ratios are at least {_LEAST}.")
    sys.exit(reached < _RUNS)


if __name__ == "__main__":
    main()
