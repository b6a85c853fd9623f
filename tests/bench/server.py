"""The third part of `make bench`: many bots connected over loopback and playing, next to a bare trio server that sends
the same lines to the same bots and reads their answers."""

import contextlib
import itertools
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from arena.journal.lines import Journal
from arena.plan.round_clock import RoundClock
from arena.plan.server_config import read_server_file
from arena.plan.tokens import token_hash
from arena.server.server import Server
from arena.server.server_events import BotCame, CycleBegins, ServerEvent
from arena.support.address import address_of
from arena.support.process_limits import raise_descriptor_limit, tune_gc
from arena.support.streams import TcpStream
from arena.tournament.tournament_events import TournamentEvent
from engine.cards import Seat
from protocol.session import Session
from tests.bench.arena import recorded_requests, show
from tests.helpers.strangers import ATTACKS as STRANGERS

FULL = bool(os.environ.get("FULL"))
SECONDS = 10.0 if FULL else 2.0  # measured, after everybody is there
RUNS = 5  # in turns
BOTS = (50, 200, 1000)
HEAD = [
    "bots", "bare/s", "ours/s", "ratio", "to 50 bots", "bare us", "ours us", "p50 us", "p99 us", "bare KiB", "ours KiB",
]  # fmt: skip
CORES = sorted(os.sched_getaffinity(0))  # the server has the first, everybody else the last


@attrs.frozen
class Figures:
    per_second: float
    cpu_us: float
    kib_each: float
    p50_us: float = 0.0
    p99_us: float = 0.0


def load_generator(folder: Path) -> Path:
    program = folder / "load"
    source = Path(__file__).with_name("load.c")
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", str(program), str(source)], check=True)
    return program


@contextlib.contextmanager
def bots_from_outside(program: Path, address: str, count: int) -> Iterator[None]:
    host, _, port = address.rpartition(":")
    process = subprocess.Popen([str(program), host, port, str(count)])
    os.sched_setaffinity(process.pid, {CORES[-1]})
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Meter:
    """Counts what bots say and who comes."""

    def __init__(self) -> None:
        self.decisions = self.came = 0
        self.begun = trio.Event()
        self.before = resident_kib()
        self.with_all = self.before  # once everybody is there, or nearly

    def heard(self, event: ServerEvent | TournamentEvent, /) -> None:
        if isinstance(event, BotCame):
            self.arrived()
        if isinstance(event, CycleBegins):
            self.begun.set()

    def arrived(self) -> None:
        self.came += 1
        self.with_all = resident_kib()

    async def figures(self) -> Figures:
        await trio.sleep(1)  # until all have begun
        used, start, counted = time.process_time(), time.perf_counter(), self.decisions
        await trio.sleep(SECONDS)
        done, wall = self.decisions - counted, time.perf_counter() - start
        each = (self.with_all - self.before) / self.came
        return Figures(done / wall, (time.process_time() - used) / done * 1e6, each)


def resident_kib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1024


async def bare(program: Path, count: int) -> Figures:
    """Nothing but trio: a line out, a line in, again and again, with a time limit for each."""
    lines = recorded_requests()
    meter = Meter()

    async def handle(stream: trio.SocketStream) -> None:
        await stream.send_all(b'{"type":"hello","protocol":1,"server":"bare"}\n')
        await stream.receive_some(65536)
        meter.arrived()
        if meter.came == count:
            meter.begun.set()
        await meter.begun.wait()
        start, unread = meter.came % len(lines), bytearray()
        for line in itertools.chain(lines[start:], itertools.cycle(lines)):
            with trio.move_on_after(10):
                await stream.send_all(line)
                while b"\n" not in unread:
                    unread += await stream.receive_some(4096)
            _answer, _, unread = unread.partition(b"\n")
            meter.decisions += 1

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, handle, 0, host="127.0.0.1"))
        with bots_from_outside(program, address_of(listeners[0]), count):
            await meter.begun.wait()
            figures = await meter.figures()
            nursery.cancel_scope.cancel()
    return figures


@contextlib.contextmanager
def counted(meter: Meter, times: list[float] | None) -> Iterator[None]:
    """Counts answers; with `times`, also how long it takes from one to the next question."""
    spend, receive, send = RoundClock.spend, Session.receive, TcpStream.send_all
    heard: dict[Any, float] = {}

    def counting_spend(clock: RoundClock, seat: Seat, ms: float) -> None:
        meter.decisions += 1
        spend(clock, seat, ms)

    def timing_receive(session: Session, line: bytes) -> Any:
        heard[trio.lowlevel.current_task()] = time.perf_counter()
        return receive(session, line)

    async def timing_send(stream: TcpStream, data: bytes) -> None:
        await send(stream, data)
        if times is not None and (since := heard.pop(trio.lowlevel.current_task(), None)) is not None:
            times.append(time.perf_counter() - since)

    clock: Any = RoundClock
    session: Any = Session
    stream: Any = TcpStream
    clock.spend = counting_spend
    if times is not None:
        session.receive, stream.send_all = timing_receive, timing_send
    try:
        yield
    finally:
        clock.spend, session.receive, stream.send_all = spend, receive, send


async def ours(
    program: Path,
    folder: Path,
    count: int,
    times: list[float] | None = None,
    siege: Callable[[str], contextlib.AbstractContextManager[None]] | None = None,
) -> Figures:
    path = folder / "load.toml"
    bots = (f'[[bot]]\nname = "b{n}"\ntoken = "{token_hash(f"t{n}")}"\n' for n in range(1, count + 1))
    path.write_text(f"cycles = {max(1, 200 // count)}\n" + "".join(bots))
    options = {"listen": "127.0.0.1:0", "per-address": str(count + 200), "st": "60"}
    config, server_config = read_server_file(path, options)
    meter = Meter()
    journal_path = folder / f"{time.monotonic_ns()}.jsonl"
    with Journal(journal_path) as journal, counted(meter, times):
        server = Server(config, server_config, journal, meter)
        async with trio.open_nursery() as nursery:
            address = await nursery.start(server.run)
            with bots_from_outside(program, address, count):
                await meter.begun.wait()
                with siege(address) if siege else contextlib.nullcontext():
                    figures = await meter.figures()
                nursery.cancel_scope.cancel()
    journal_path.unlink()
    ordered = sorted(times or [0.0])
    middle, slow = (ordered[int(share * (len(ordered) - 1))] * 1e6 for share in (0.5, 0.99))
    return attrs.evolve(figures, p50_us=middle, p99_us=slow)


async def everything_at_once(address: str) -> None:
    async with trio.open_nursery() as nursery:
        for attack in STRANGERS:
            nursery.start_soon(attack, address)


def strangers(address: str) -> None:
    os.sched_setaffinity(0, {CORES[-1]})
    os.nice(10)  # they shall cost the honest bots, who run beside them, as little as may be
    trio.run(everything_at_once, address)


@contextlib.contextmanager
def besieged(address: str) -> Iterator[None]:
    process = multiprocessing.get_context("spawn").Process(target=strangers, args=(address,), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def measured(kind: str, program: Path, folder: Path, count: int) -> Figures:
    """In a process of its own, so that nobody's memory is counted twice."""
    words = [sys.executable, "-m", "tests.bench.server", kind, str(program), str(folder), str(count)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    return Figures(**json.loads(done.stdout))


def measure(kind: str, program: Path, folder: Path, count: int) -> Figures:
    raise_descriptor_limit()
    tune_gc()
    os.sched_setaffinity(0, {CORES[0]})
    match kind:
        case "bare":
            return trio.run(bare, program, count)
        case "ours" | "besieged":
            return trio.run(ours, program, folder, count, None, besieged if kind == "besieged" else None)
        case _:
            return trio.run(ours, program, folder, count, [])


def rate(figures: Figures) -> float:
    return figures.per_second


def under_load(program: Path, folder: Path) -> Iterator[list[str]]:
    """The best of each, and the ratio of the medians."""
    first = 0.0
    for count in BOTS:
        runs = [[measured(kind, program, folder, count) for kind in ("bare", "ours")] for _ in range(RUNS)]
        plain, played = (max(each, key=rate) for each in zip(*runs, strict=True))
        middle = [statistics.median(map(rate, each)) for each in zip(*runs, strict=True)]
        timed = measured("timed", program, folder, count)
        first = first or played.per_second
        yield [
            str(count),
            f"{plain.per_second:,.0f}",
            f"{played.per_second:,.0f}",
            f"{played.per_second / plain.per_second:.2f} (median {middle[1] / middle[0]:.2f})",
            f"{played.per_second / first:.2f}",
            f"{plain.cpu_us:.0f}",
            f"{played.cpu_us:.0f}",
            f"{timed.p50_us:.0f}",
            f"{timed.p99_us:.0f}",
            f"{plain.kib_each:.1f}",
            f"{played.kib_each:.1f}",
        ]


def under_siege(program: Path, folder: Path) -> Iterator[list[str]]:
    """Strangers share a core with the honest bots, which costs those something, too."""
    alone, with_strangers = (measured(kind, program, folder, 200) for kind in ("ours", "besieged"))
    yield ["200 bots", f"{alone.per_second:,.0f}", f"{alone.cpu_us:.0f}", "1"]
    ratio = with_strangers.per_second / alone.per_second
    yield [
        "200 bots and strangers",
        f"{with_strangers.per_second:,.0f}",
        f"{with_strangers.cpu_us:.0f}",
        f"{ratio:.2f}",
    ]


def main() -> None:
    if not shutil.which("cc"):
        sys.exit("the benchmark of the server needs a C compiler (cc) for its load generator")
    if len(sys.argv) > 1:
        kind, *paths, count = sys.argv[1:]
        print(json.dumps(attrs.asdict(measure(kind, Path(paths[0]), Path(paths[1]), int(count)))))
        return
    with tempfile.TemporaryDirectory() as name:
        program = load_generator(Path(name))
        title = "Bots over loopback, on another core: decisions, processor time, own time of one, memory of each"
        show(title, HEAD, under_load(program, Path(name)))
        title = "The same while strangers flood the door"
        show(title, ["", "decisions/s", "CPU us", "ratio"], under_siege(program, Path(name)))


if __name__ == "__main__":
    main()
