"""The third part of `make bench`: many bots connected over loopback and playing, next to a bare trio server that sends
the same lines to the same bots and reads their answers."""

import contextlib
import itertools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from arena.address import address_of
from arena.drive import calm_garbage_collector, raise_descriptor_limit
from arena.journal import Journal
from arena.link import Link
from arena.progress import Quiet
from arena.serve import Server
from arena.server_config import read_server_file
from arena.tokens import token_hash
from tests.bench_arena import recorded_requests, show

FULL = bool(os.environ.get("FULL"))
SECONDS = 10.0 if FULL else 4.0  # measured, after everybody is there
BOTS = (50, 200, 1000)


@attrs.define
class Figures:
    per_second: float
    cpu_us: float
    kib_each: float
    times: list[float] = attrs.field(factory=list)

    def at(self, share: float) -> str:
        ordered = sorted(self.times)
        return f"{ordered[int(share * (len(ordered) - 1))] * 1e6:.0f}" if ordered else ""


def load_generator(folder: Path) -> Path:
    program = folder / "load"
    source = Path(__file__).with_name("load.c")
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", str(program), str(source)], check=True)
    return program


@contextlib.contextmanager
def bots_from_outside(program: Path, address: str, count: int) -> Iterator[None]:
    host, _, port = address.rpartition(":")
    last_core = max(os.sched_getaffinity(0))
    process = subprocess.Popen(["taskset", "-c", str(last_core), str(program), host, port, str(count)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Meter(Quiet):
    """Counts what bots say and who comes."""

    def __init__(self) -> None:
        self.decisions = self.came = 0
        self.begun = trio.Event()
        self.before = resident_kib()
        self.with_all = self.before  # once everybody is there, or nearly

    def news(self, kind: str, text: str, **facts: Any) -> None:  # noqa: ARG002
        if kind == "came":
            self.arrived()
        if kind == "begins":
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
        start = meter.came % len(lines)
        for line in itertools.chain(lines[start:], itertools.cycle(lines)):
            with trio.move_on_after(10):
                await stream.send_all(line)
                await stream.receive_some(65536)
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
    """Counts what bots say; with `times`, also how long it takes from an answer to the next question."""
    hear, say = Link.hear, Link.say
    heard: dict[Any, float] = {}

    async def counting_hear(link: Link) -> Any:
        message = await hear(link)
        meter.decisions += 1
        if times is not None:
            heard[trio.lowlevel.current_task()] = time.perf_counter()
        return message

    async def timing_say(link: Link, message: Any) -> None:
        await say(link, message)
        if times is not None and (since := heard.pop(trio.lowlevel.current_task(), None)) is not None:
            times.append(time.perf_counter() - since)

    link: Any = Link
    link.hear = counting_hear
    if times is not None:
        link.say = timing_say
    try:
        yield
    finally:
        link.hear, link.say = hear, say


async def ours(program: Path, folder: Path, count: int, times: list[float] | None = None) -> Figures:
    path = folder / "load.toml"
    bots = (f'[[bot]]\nname = "b{n}"\ntoken = "{token_hash(f"t{n}")}"\n' for n in range(1, count + 1))
    path.write_text("rounds = 2\n" + "".join(bots))
    options = {"listen": "127.0.0.1:0", "per-address": str(count), "per-second": "1000", "st": "60"}
    config, server_config = read_server_file(path, options)
    meter = Meter()
    journal_path = folder / f"{time.monotonic_ns()}.jsonl"
    with Journal(journal_path) as journal, counted(meter, times):
        server = Server(config, server_config, journal, lambda *_: contextlib.nullcontext(meter), meter)
        async with trio.open_nursery() as nursery:
            address = await nursery.start(server.run)
            with bots_from_outside(program, address, count):
                await meter.begun.wait()
                figures = await meter.figures()
                nursery.cancel_scope.cancel()
    journal_path.unlink()
    figures.times = times or []
    return figures


def under_load(program: Path, folder: Path) -> Iterator[list[str]]:
    first = 0.0
    for count in BOTS:
        plain = trio.run(bare, program, count)
        played = trio.run(ours, program, folder, count)
        timed = trio.run(ours, program, folder, count, [])
        first = first or played.per_second
        yield [
            str(count),
            f"{plain.per_second:,.0f}",
            f"{played.per_second:,.0f}",
            f"{played.per_second / plain.per_second:.2f}",
            f"{played.per_second / first:.2f}",
            f"{plain.cpu_us:.0f}",
            f"{played.cpu_us:.0f}",
            timed.at(0.5),
            timed.at(0.99),
            f"{plain.kib_each:.1f}",
            f"{played.kib_each:.1f}",
        ]


def main() -> None:
    if not shutil.which("cc"):
        sys.exit("the benchmark of the server needs a C compiler (cc) for its load generator")
    raise_descriptor_limit()
    cores = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as name:
        program = load_generator(Path(name))
        calm_garbage_collector()
        os.sched_setaffinity(0, {min(cores)})
        head = [
            "bots",
            "bare/s",
            "ours/s",
            "ratio",
            "to 50",
            "bare us",
            "ours us",
            "p50 us",
            "p99 us",
            "bare KiB",
            "ours KiB",
        ]
        show(
            "Bots over loopback, server and load on a core each: decisions, time for one, memory of a connection",
            head,
            under_load(program, Path(name)),
        )


if __name__ == "__main__":
    main()
