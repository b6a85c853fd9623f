"""Attacks on an open server by bots that break no rule: some come for a moment, some take all the time that they have.
What is measured is the longest time in which no round of an honest bot ended, next to the same before.
"""

import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import attrs
import trio

from protocol.messages import BotAction, Clock, Request, RoundEnd
from tests.attack.findings import Finding
from tests.attack.server import Pulse, listening
from tests.helpers.visitors import connected

PASSERS, SLOW = 5, 20
SECONDS = 40.0  # of an attack
CALM_SECONDS = 3.0
MOVE_SECONDS: Final = 1.0  # the limit of an answer; an open door then has a bank of six seconds for a round
LONGEST: Final = 2 * 6 * MOVE_SECONDS  # in which a slow bot ends a round, on a busy machine
_STAY: Final = 1.0
_RESERVE_MS: Final = 200  # what a slow bot keeps of its time
OPTIONS: tuple[str, ...] = ()  # of the server, to see what it would be like with others
_HONEST: Final = ("honest-1", "honest-2")


async def _honest(address: str, name: str, pulse: Pulse) -> None:
    """Answers at once. The end of each of its rounds is a beat."""
    visitor = await connected(address)
    await visitor.greet(name, f"the token of {name}")
    while (message := await visitor.hear()) is not None:
        match message:
            case Request():
                await visitor.say(BotAction(message.id, message.legal[0]))
            case RoundEnd():
                pulse.beat()


async def _slow(address: str, name: str) -> None:
    """Takes all the time that it has, and loses no round by it."""
    visitor = await connected(address)
    await visitor.greet(name, f"the token of {name}")
    while (message := await visitor.hear()) is not None:
        if isinstance(message, Request):
            await trio.sleep(_usable_ms(message.clock) / 1000)
            await visitor.say(BotAction(message.id, message.legal[0]))


def _usable_ms(clock: Clock) -> float:
    left = [ms for ms in (clock.move_ms, clock.bank_ms) if ms is not None]
    return max(0, min(left) - _RESERVE_MS)


async def _passers_by(address: str, _nursery: trio.Nursery) -> None:
    """Names that come for a second and leave, in a match or not."""
    visitors = []
    for number in range(PASSERS):
        visitors.append(await connected(address))
        await visitors[-1].greet(f"passer-{number}", f"the token of {number}")
    await trio.sleep(_STAY)
    for visitor in visitors:
        await trio.aclose_forcefully(visitor.stream)


async def _slow_ones(address: str, nursery: trio.Nursery) -> None:
    for number in range(SLOW):
        nursery.start_soon(_slow, address, f"slow-{number}")


async def _measured(
    folder: Path, attack: Callable[[str, trio.Nursery], Awaitable[None]], seconds: float
) -> tuple[Pulse, Pulse]:
    """The pulse in calm, and during `seconds` from the attack on."""
    cup = folder / "open.toml"
    cup.write_text("")
    words = [sys.executable, "-m", "arena", "serve", str(cup), "--listen", "127.0.0.1:0", "--events"]
    words += ["--open", "--forever", "--rounds", "2", "--st", f"{MOVE_SECONDS:g}", "--drain", "1"]
    async with listening([*words, *OPTIONS], folder) as address, trio.open_nursery() as guests:
        pulse = Pulse()
        for name in _HONEST:
            guests.start_soon(_honest, address, name, pulse)
        while pulse.beats < 10:
            await trio.sleep(0.05)
        pulse.restart()
        await trio.sleep(CALM_SECONDS)
        calm = attrs.evolve(pulse)
        pulse.restart()
        await attack(address, guests)
        await trio.sleep(seconds)
        pulse.longest = max(pulse.longest, time.perf_counter() - pulse.last)
        guests.cancel_scope.cancel()
    return calm, pulse


def _finding(name: str, calm: Pulse, pulse: Pulse) -> Finding:
    figures = f"longest pause {pulse.longest:.1f} s (calm {calm.longest:.1f} s), {pulse.beats} rounds of honest bots"
    harm = f"no round of an honest bot ended for {pulse.longest:.1f} s, but at most {LONGEST:g} is expected"
    return Finding(name, figures, [harm] if pulse.longest > LONGEST else [])


def passers_by(folder: Path) -> list[Finding]:
    return [_finding(f"{PASSERS} passers-by", *trio.run(_measured, folder, _passers_by, SECONDS))]


def slow_ones(folder: Path) -> list[Finding]:
    return [_finding(f"{SLOW} slow bots", *trio.run(_measured, folder, _slow_ones, SECONDS))]
