"""A part of `make bench`: what the sandbox costs. The same C bots with and without it, in turns, on one core."""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import trio

from arena.bots.player import LocalPlayer
from arena.bots.sandbox_check import SandboxError, settled
from arena.bots.trio_driver import TrioProcesses, driven
from arena.plan.bot_spec import AnySpec, BotSpec
from arena.plan.config import Config
from tests.bench.arena import Counting, c_bot, configured, show, timed

RUNS = 7
STARTS = 20  # in a run, of each kind


def matches(bot: Path) -> tuple[Config, Config]:
    """The same match without and with the sandbox. Raises SandboxError if there is none on this machine."""
    kinds = [configured(f"a={bot}", f"b={bot}", rounds="600", sandbox=level) for level in ("false", "true")]
    settled(kinds[1].bots)
    return kinds[0], kinds[1]


async def start_and_end(spec: AnySpec) -> tuple[float, float]:
    """Milliseconds until the bot has said hello, and from its dismissal until nothing of it is left."""
    assert isinstance(spec, BotSpec)
    async with trio.open_nursery() as nursery:
        player = LocalPlayer(spec, TrioProcesses(nursery), lambda _: None)
        began = time.perf_counter()
        await driven(player.arrive())
        here = time.perf_counter()
        await driven(player.leave())
        return (here - began) * 1000, (time.perf_counter() - here) * 1000


async def one_run(plain: AnySpec, boxed: AnySpec) -> list[tuple[float, float, float, float]]:
    """Start and end without the sandbox, then with it, again and again."""
    await start_and_end(plain)  # the first start also starts the launcher
    return [(*await start_and_end(plain), *await start_and_end(boxed)) for _ in range(STARTS)]


def starts(plain: Config, boxed: Config) -> Iterator[list[str]]:
    runs = [trio.run(one_run, plain.bots[0], boxed.bots[0]) for _ in range(RUNS)]
    for name, here, there in (("start", 0, 2), ("end", 1, 3)):
        bare, ours = ([each[place] for run in runs for each in run] for place in (here, there))
        added = statistics.median(after - before for before, after in zip(bare, ours, strict=True))
        for kind, values in (("bare", bare), ("sandboxed", ours)):
            more = f"{min(ours) - min(bare):.2f} (median {added:.2f})" if values is ours else "0"
            yield [f"{name}, {kind}", f"{min(values):.2f}", f"{statistics.median(values):.2f}", more]


def decisions(plain: Config, boxed: Config) -> Iterator[list[str]]:
    """Each sandboxed match is compared with the one just before it, because the load of a machine changes slowly."""
    rates = [[rate(config) for config in (plain, boxed)] for _ in range(RUNS)]
    bare, ours = zip(*rates, strict=True)
    middle = statistics.median(there / here for here, there in rates)
    yield ["bare", f"{max(bare):,.0f}", f"{statistics.median(bare):,.0f}", "1"]
    ratio = f"{max(ours) / max(bare):.3f} (median {middle:.3f})"
    yield ["sandboxed", f"{max(ours):,.0f}", f"{statistics.median(ours):,.0f}", ratio]


def rate(config: Config) -> float:
    listener = Counting()
    wall, _ = timed(config, listener)
    return listener.decisions / wall


def main() -> None:
    if not shutil.which("cc"):
        sys.exit("the benchmark of the sandbox needs a C compiler (cc) for its bots")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # root starts sandboxed bots as another user
        try:
            plain, boxed = matches(c_bot(folder))
        except SandboxError as error:
            print(f"\nThe cost of the sandbox is not measured: {error}")
            return
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        show("A C bot in the sandbox", ["", "best ms", "median ms", "more"], starts(plain, boxed))
        show("A match of two of them", ["", "decisions/s", "median", "ratio"], decisions(plain, boxed))


if __name__ == "__main__":
    main()
