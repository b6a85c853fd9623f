"""A part of `make bench`: what the sandbox costs. The same C bots with and without it, in turns, on one core.

A sandbox changes a decision by less than a machine changes it from one moment to the next, so single runs say nothing.
Here short matches without and with the sandbox take turns, and only neighbours are compared. After some pairs all bots
are started again, because where a process happens to lie in memory also makes it faster or slower. Each such group
gives one ratio; the figure is the median of the groups, with its 95 % interval.
"""

import contextlib
import math
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.bots.player import LocalPlayer
from arena.bots.wants import Logic
from arena.plan.bot_spec import BotSpec
from arena.plan.config import Config
from arena.processes.process_tree import descendants
from arena.sandbox.bubblewrap import sandboxed
from arena.sandbox.sandbox_check import SandboxError, settled
from arena.sandbox.spawning import file_with, spawn
from protocol.messages import PROTOCOL, ServerHello, encode
from tests.bench.arena import c_bot, configured, show
from tests.helpers.drivers import Driver, match_of, players_of, run_by_polling, whole_match

STARTS = 150  # of each kind
GROUPS = 75
PAIRS = 10  # of matches, in a group
_PRIORITY = os.sched_param(20)

Players = tuple[LocalPlayer, LocalPlayer]


def matches(bot: Path) -> tuple[Config, Config]:
    """The same match without and with the sandbox. Raises SandboxError if there is none on this machine."""
    plain, boxed = (configured(f"a={bot}", f"b={bot}", rounds="4", sandbox=level) for level in ("false", "true"))
    settled(boxed.bots)
    return plain, boxed


def take_priority() -> None:
    """Run before all ordinary programs, if this is permitted, so that other load counts little. The bots that run now
    do so as well: they do not inherit it."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, _PRIORITY)
        for process in descendants(os.getpid()):
            if os.sched_getscheduler(process.pid) == os.SCHED_OTHER:
                os.sched_setscheduler(process.pid, os.SCHED_RR, _PRIORITY)


def start_and_end(command: Sequence[str], data: Sequence[bytes] = ()) -> tuple[float, float]:
    """Milliseconds until the bot has said hello, and from the end of its input until it has exited. There is no keeper,
    which costs the same with and without a sandbox, and takes the priority away from its bot."""
    (their_in, writer), (reader, their_out), report = os.pipe(), os.pipe(), os.pipe()
    nothing = os.open(os.devnull, os.O_RDONLY)
    began = time.perf_counter()
    files = [file_with(each) for each in data]
    words = [os.fsencode(word) for word in command]
    pid = spawn(words[0], words, {}, [their_in, their_out, 2, *files, *((report[1], nothing) if data else ())])
    os.write(writer, encode(ServerHello(PROTOCOL, "bench")))
    assert os.read(reader, 1 << 16)
    here = time.perf_counter()
    for descriptor in (their_in, writer, reader, their_out, nothing, *report, *files):
        os.close(descriptor)
    os.waitpid(pid, 0)
    return (here - began) * 1000, (time.perf_counter() - here) * 1000


def starts(plain: Config, boxed: Config) -> Iterator[list[str]]:
    spec, boxed_spec = plain.bots[0], boxed.bots[0]
    assert isinstance(spec, BotSpec)
    assert isinstance(boxed_spec, BotSpec)
    box = sandboxed(boxed_spec)
    take_priority()
    times = [(*start_and_end(spec.command), *start_and_end(box.command, box.data)) for _ in range(STARTS)]
    for name, here, there in (("start", 0, 2), ("end", 1, 3)):
        bare, ours = ([each[place] for each in times] for place in (here, there))
        more = median_and_interval([after - before for before, after in zip(bare, ours, strict=True)])
        for kind, values, added in (("bare", bare, "0"), ("sandboxed", ours, f"{min(ours) - min(bare):.2f} ({more})")):
            yield [f"{name}, {kind}", f"{min(values):.2f}", f"{statistics.median(values):.2f}", added]


def rate(config: Config, players: Players, driver: Driver) -> Logic[float]:
    """Decisions per second in one match."""
    began = time.perf_counter()
    rounds = yield from whole_match(match_of(config, players, driver.stalls), config)
    wall = time.perf_counter() - began
    return sum(ms is not None for played in rounds for _, _, ms in played.referee.moves) / wall


def group(driver: Driver, plain: Config, boxed: Config) -> Logic[list[tuple[float, float]]]:
    """Rates without and with the sandbox, of bots that are started here. They take turns to be the first of a pair."""
    kinds = [(config, players_of(config, driver)) for config in (plain, boxed)]
    for config, players in kinds:  # start and warm up
        yield from rate(config, players, driver)
    take_priority()
    found = []
    for number in range(PAIRS):
        rates = {}
        for kind in (0, 1) if number % 2 else (1, 0):
            rates[kind] = yield from rate(*kinds[kind], driver)
        found.append((rates[0], rates[1]))
    return found


def decisions(plain: Config, boxed: Config) -> Iterator[list[str]]:
    groups = [run_by_polling(lambda driver: group(driver, plain, boxed)) for _ in range(GROUPS)]
    bare, ours = ([rates[kind] for pairs in groups for rates in pairs] for kind in (0, 1))
    ratios = [statistics.median(there / here for here, there in pairs) for pairs in groups]
    yield ["bare", f"{max(bare):,.0f}", f"{statistics.median(bare):,.0f}", "1"]
    yield ["sandboxed", f"{max(ours):,.0f}", f"{statistics.median(ours):,.0f}", median_and_interval(ratios, digits=3)]


def median_and_interval(values: Sequence[float], digits: int = 2) -> str:
    """The median, and the 95 % interval for it that the ranks of the values give, whatever their distribution is."""
    ranked = sorted(values)
    outside = max(0, math.floor((len(ranked) - 1.96 * math.sqrt(len(ranked))) / 2))
    low, high = ranked[outside], ranked[-1 - outside]
    return f"{statistics.median(ranked):.{digits}f}, {low:.{digits}f} to {high:.{digits}f}"


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
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        show("A C bot in the sandbox", ["", "best ms", "median ms", "more"], starts(plain, boxed))
        show("A match of two of them", ["", "decisions/s", "median", "ratio"], decisions(plain, boxed))


if __name__ == "__main__":
    main()
