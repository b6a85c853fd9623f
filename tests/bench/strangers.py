"""The fifth part of `make bench`: what honest bots notice of eleven attacks.

Server and honest bots share one core, the attackers have another. Each attack has a run of its own: the same bots play
undisturbed and under attack in turn, so every figure stands next to its own baseline. The attackers' core is busy all
the time, so that an attack does not also drive other work of the machine to the server's core; and all the time another
bot loses its connection and comes back. A decision is measured as the clock of a bot sees it, from the question to the
answer; a reconnect from connecting to the welcome.
"""

import contextlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import attrs
import trio
import trustme

from arena.cli.progress import Quiet
from arena.journal.lines import Journal
from arena.plan.config import Config
from arena.plan.round_clock import RoundClock
from arena.plan.server_config import ServerConfig, read_server_file
from arena.plan.tokens import token_hash
from arena.server.server import Server
from arena.support.address import parse_address
from arena.support.process_limits import raise_descriptor_limit, tune_gc
from engine.cards import Seat
from tests.bench.arena import show
from tests.bench.siege import ELSEWHERE, REST, Attack, attacks, besieged, compiled

FULL = bool(os.environ.get("FULL"))
SECONDS = 4.0 if FULL else 2.0  # of each time, undisturbed and under attack
LASTING = SECONDS + 3  # of an attack, so that it goes on until everything is measured
TIMES = 3  # one after the other, because the machine has moods
BOTS = 48
COMES_AND_GOES, MEANS_HARM = BOTS + 1, BOTS + 2  # numbers of two more bots of the tournament
CORES = sorted(os.sched_getaffinity(0))
IN_MEMORY = Path("/dev/shm")
PATIENCE = 15.0  # seconds for one reconnect


@attrs.frozen
class Noticed:
    before_ms: float  # 99 % of decisions took less
    under_ms: float
    decisions: float  # of those before that were made under attack
    reconnect_s: float  # the longest
    made: int  # connections of the attackers in a second


def attack_of(name: str) -> Attack:
    return next(each for each in attacks(f"b{MEANS_HARM}", f"t{MEANS_HARM}") if each.name == name)


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate with its key, and who vouches for it."""
    authority, pem, ca = trustme.CA(), folder / "server.pem", folder / "ca.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    authority.cert_pem.write_to_path(ca)
    return pem, ca


def configured(folder: Path, attack: Attack) -> tuple[Config, ServerConfig, Path | None]:
    path, ca = folder / "siege.toml", None
    bots = (f'[[bot]]\nname = "b{n}"\ntoken = "{token_hash(f"t{n}")}"\n' for n in range(1, MEANS_HARM + 1))
    path.write_text("cycles = 20\n" + "".join(bots))
    options = {"listen": "127.0.0.1:0", "st": "60", "begin": "2020-01-01T00:00", "grace": "1000"}
    if IN_MEMORY.is_dir():  # bots wait for their rounds to be saved, and somebody else may keep the disk busy
        options["journal"] = str(IN_MEMORY / f"siege-{os.getpid()}.jsonl")
    if attack.tls:
        pem, ca = certified(folder)
        options |= {"cert": str(pem), "key": str(pem)}
    return *read_server_file(path, options), ca


async def noticed(folder: Path, attack: Attack, source: str) -> Noticed:
    config, server_config, ca = configured(folder, attack)
    assert config.journal is not None
    before: list[float] = []
    under: list[float] = []
    waits: list[float] = []
    total = 0
    with Journal(config.journal) as journal, timed() as times:
        server = Server(config, server_config, journal, Quiet())
        async with trio.open_nursery() as nursery:
            address = await nursery.start(server.run)
            with honest_bots(folder, address, ca):
                await trio.sleep(3 if ca else 1.5)  # until all play
                for _ in range(TIMES):
                    await phase(folder, address, REST, source, ca, times, before)
                    found, made = await phase(folder, address, attack, source, ca, times, under)
                    waits += found
                    total += made
            nursery.cancel_scope.cancel()
    config.journal.unlink()
    each = total / TIMES / LASTING
    return Noticed(p99(before), p99(under), len(under) / len(before), max(waits), round(each))


@contextlib.contextmanager
def timed() -> Iterator[list[float]]:
    """How long decisions took, in milliseconds, as the clocks of the bots see it."""
    times: list[float] = []
    spend, clock = RoundClock.spend, cast(Any, RoundClock)

    def timing_spend(clock: RoundClock, seat: Seat, ms: float) -> None:
        times.append(ms)
        spend(clock, seat, ms)

    clock.spend = timing_spend
    try:
        yield times
    finally:
        clock.spend = spend


def p99(times: list[float]) -> float:
    return sorted(times)[int(0.99 * (len(times) - 1))] if times else math.inf


@contextlib.contextmanager
def honest_bots(folder: Path, address: str, ca: Path | None) -> Iterator[None]:
    host, port = parse_address(address)
    words = [str(folder / "load"), host, str(port), str(BOTS), "patient"]
    if ca is not None:
        words = [sys.executable, "-m", "tests.bench.tls_load", host, str(port), str(BOTS), str(ca)]
    process = subprocess.Popen(words)  # on our own core
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def phase(
    folder: Path, address: str, attack: Attack, source: str, ca: Path | None, times: list[float], decided: list[float]
) -> tuple[list[float], int]:
    """Adds what decisions took, and returns what reconnects of another bot took and how many strangers came."""
    words = [sys.executable, "-m", "tests.bench.reconnecting", address, str(ca or ""), f"b{COMES_AND_GOES}"]
    words += [f"t{COMES_AND_GOES}", str(SECONDS)]
    with besieged(folder / "siege", address, attack, LASTING, source=source, core=CORES[-1]) as made:
        await trio.sleep(0.5)
        waits: list[float] = []

        async def reconnect() -> None:
            waits.extend(json.loads((await trio.run_process(words, capture_stdout=True)).stdout))

        async with trio.open_nursery() as both:
            both.start_soon(reconnect)
            times.clear()
            await trio.sleep(SECONDS)
            decided += times
    return waits, sum(made)


def measure(folder: Path, name: str, source: str) -> Noticed:
    """In a process of its own."""
    words = [sys.executable, "-m", "tests.bench.strangers", "measure", str(folder), name, source]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    return Noticed(**json.loads(done.stdout))


def rows(folder: Path, source: str) -> Iterator[list[str]]:
    for attack in attacks("", ""):
        found = measure(folder, attack.name, source)
        yield [
            attack.name,
            f"{found.made:,}",
            f"{found.before_ms:.1f}",
            f"{found.under_ms:.1f}",
            f"{found.under_ms / found.before_ms:.2f}",
            f"{found.decisions:.2f}",
            f"{found.reconnect_s:.2f}",
        ]


def main() -> None:
    match sys.argv[1:]:
        case ["measure", given, name, source]:
            raise_descriptor_limit()
            tune_gc()
            os.sched_setaffinity(0, {CORES[0]})
            print(json.dumps(attrs.asdict(trio.run(noticed, Path(given), attack_of(name), source))))
            return
    if not shutil.which("cc"):
        sys.exit("the benchmark of strangers needs a C compiler (cc) for its load generators")
    if len(CORES) < 2:
        sys.exit("the benchmark of strangers needs two cores, one of them for the strangers")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for program in ("siege", "load"):
            compiled(folder, program)
        head = ["attack", "connects/s", "p99 ms", "under attack", "ratio", "decisions", "reconnect s"]
        title = f"{BOTS} bots on the server's core, strangers on another, from another address"
        show(title, head, rows(folder, ELSEWHERE))
        if FULL:
            show("The same, strangers from the address of the bots", head, rows(folder, "127.0.0.1"))


if __name__ == "__main__":
    main()
