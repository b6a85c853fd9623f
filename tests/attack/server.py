"""Attacks on a real server, in a process of its own, by bots that are in its tournament: reconnects and storms.

A server that stands still for a moment lets nobody decide, so what is measured is the longest time in which no honest
bot was asked anything, next to the same before the attack.
"""

import contextlib
import json
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import cast

import attrs
import trio

from protocol.errors import ProtocolError
from protocol.messages import PROTOCOL, BotAction, BotHello, Bye, Request, Welcome
from tests.attack.findings import Finding
from tests.helpers.strangers import raw_sockets
from tests.helpers.visitors import Visitor, connected, remote_bots, token_of

RECONNECTS = 1000
STORMS = 10
STORM_BOTS = 48
SILENT = 12  # strangers that connect in the moment of each reconnect, so that descriptors are reused at once
CALM_SECONDS = 3.0
_BROKEN = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, ProtocolError)


@attrs.define
class Pulse:
    """The longest time in which nothing happened to an honest bot."""

    last: float = attrs.field(factory=time.perf_counter)
    longest: float = 0.0
    beats: int = 0

    def beat(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, now - self.last)
        self.last = now
        self.beats += 1

    def restart(self) -> None:
        self.last, self.longest, self.beats = time.perf_counter(), 0.0, 0


class RemoteBot:
    """A bot that answers at once, and comes back whenever its connection ends."""

    def __init__(self, address: str, name: str, pulse: Pulse | None):
        self._address, self._name, self._pulse = address, name, pulse
        self.session: str | None = None
        self.welcomes = 0
        self.stream: trio.abc.Stream | None = None

    async def stay(self) -> None:
        while await self.visit():
            await trio.sleep(0.01)

    async def visit(self) -> bool:
        """One connection. Returns whether there is anything left to play."""
        try:
            visitor = await connected(self._address)
            self.stream = visitor.stream
            async with visitor.stream:
                return await self._play(visitor)
        except _BROKEN:
            return True

    async def _play(self, visitor: Visitor) -> bool:
        await visitor.hear()
        await visitor.say(BotHello(PROTOCOL, self._name, token=token_of(self._name), session=self.session))
        while (message := await visitor.hear()) is not None:
            match message:
                case Welcome():
                    self.session = message.session
                    self.welcomes += 1
                case Bye():
                    return message.again
                case Request():
                    if self._pulse is not None:
                        self._pulse.beat()
                    await visitor.say(BotAction(message.id, message.legal[0]))
        return True


@contextlib.asynccontextmanager
async def served(folder: Path, names: list[str]) -> AsyncIterator[str]:
    """The address of a server with these bots in its tournament."""
    cup = folder / "attack.toml"
    cup.write_text("rounds = 100\ncycles = 100\n" + remote_bots(*names))
    words = [sys.executable, "-m", "arena", "serve", str(cup), "--listen", "127.0.0.1:0", "--events"]
    words += ["--per-second", "5000", "--per-address", "2000", "--st", "20", "--max-faults", "0", "--drain", "1"]
    async with listening(words, folder) as address:
        yield address


@contextlib.asynccontextmanager
async def listening(words: list[str], folder: Path) -> AsyncIterator[str]:
    """The address of the server that this command starts."""
    with open(folder / "serve.err", "wb") as errors:
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors)
        assert server.stdout is not None
        try:
            address = await trio.to_thread.run_sync(_listening, server)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_drop_output, server)
                yield address
                server.terminate()
                nursery.cancel_scope.cancel()
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


def _listening(server: "subprocess.Popen[bytes]") -> str:
    assert server.stdout is not None
    for line in server.stdout:
        event = json.loads(line)
        if event["event"] == "listening":
            return str(event["address"])
    raise RuntimeError("the server ended before it listened")


async def _drop_output(server: "subprocess.Popen[bytes]") -> None:
    assert server.stdout is not None
    descriptor = server.stdout.fileno()
    while True:
        await trio.lowlevel.wait_readable(descriptor)
        server.stdout.read1(1 << 16)  # type: ignore[attr-defined]


async def _measured(
    folder: Path, names: list[str], attack: Callable[[str, trio.Nursery], Awaitable[int]]
) -> tuple[Pulse, Pulse, int]:
    """The pulse of the honest bots in calm and under attack, and how often the attack was carried out."""
    async with served(folder, [*names, *_HONEST]) as address, trio.open_nursery() as others:
        pulse = Pulse()
        for name in _HONEST:
            others.start_soon(RemoteBot(address, name, pulse).stay)
        for name in names:
            others.start_soon(RemoteBot(address, name, None).stay)
        while pulse.beats < 200:
            await trio.sleep(0.05)
        pulse.restart()
        await trio.sleep(CALM_SECONDS)
        calm = attrs.evolve(pulse)
        pulse.restart()
        count = await attack(address, others)
        await trio.sleep(0.1)
        pulse.beat()
        others.cancel_scope.cancel()
    return calm, pulse, count


_HONEST = [f"honest-{number}" for number in range(6)]


async def _reconnects(address: str, _nursery: trio.Nursery) -> int:
    """A bot takes the place of its own connection with another one and answers on the old one a moment later, again and
    again, while strangers who say nothing come and go: what is woken by the answer finds its connection closed, and the
    number of its descriptor may be a stranger's by then."""
    rng = random.Random(1)
    now, session = await _welcomed(await connected(address), None)
    for count in range(RECONNECTS):
        with trio.move_on_after(10):
            following = await connected(address)
            await following.hear()
            request = await _next_request(now)
            with raw_sockets(address, SILENT):
                answer = [] if request is None else [now.session.send(BotAction(request.id, request.legal[0]))]
                hello = following.session.send(BotHello(PROTOCOL, "thief", token=token_of("thief"), session=session))
                await following.stream.send_all(hello)
                _spin(rng.uniform(0, 0.001))
                for line in answer:
                    await now.stream.send_all(line)
                if rng.random() < 0.5:
                    await trio.aclose_forcefully(now.stream)
                welcome = await following.hear_until(Welcome)
            await trio.aclose_forcefully(now.stream)
            now, session = following, welcome.session
            continue
        return count  # the server does not answer any more
    await trio.aclose_forcefully(now.stream)
    return RECONNECTS


def _spin(seconds: float) -> None:
    """Waits more exactly than the scheduler can."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


async def _welcomed(visitor: Visitor, session: str | None) -> tuple[Visitor, str]:
    await visitor.greet("thief", token_of("thief"), session)
    return visitor, (await visitor.hear_until(Welcome)).session


async def _next_request(visitor: Visitor) -> Request | None:
    """None if nothing is asked soon: then the bot is in no match."""
    with trio.move_on_after(0.2):
        return cast("Request", await visitor.hear_until(Request))
    return None


def _storms(names: list[str]) -> Callable[[str, trio.Nursery], Awaitable[int]]:
    async def attack(address: str, nursery: trio.Nursery) -> int:
        """All of them drop their connections at once and come back; the bots that are there give way to them."""
        crowd = [RemoteBot(address, name, None) for name in names]
        for storm in range(STORMS):
            before = [bot.welcomes for bot in crowd]
            for bot in crowd:
                if bot.stream is not None:
                    await trio.aclose_forcefully(bot.stream)
                nursery.start_soon(bot.visit)
            with trio.move_on_after(20):
                while any(bot.welcomes == welcomes for bot, welcomes in zip(crowd, before, strict=True)):
                    await trio.sleep(0.005)
                continue
            return storm
        return STORMS

    return attack


def _finding(name: str, planned: int, result: tuple[Pulse, Pulse, int]) -> Finding:
    calm, pulse, count = result
    harm = [] if count == planned else [f"the server answered only {count} of {planned}"]
    if pulse.longest > max(2.0, 20 * calm.longest):
        harm.append(f"nobody was asked anything for {pulse.longest:.1f} s")
    figures = (
        f"{count} of {planned}; longest pause {pulse.longest * 1000:.0f} ms (calm {calm.longest * 1000:.0f} ms), "
        f"{pulse.beats} decisions of honest bots"
    )
    return Finding(name, figures, harm)


def reconnects(folder: Path) -> list[Finding]:
    return [_finding("reconnects of a thief", RECONNECTS, trio.run(_measured, folder, ["thief"], _reconnects))]


def storms(folder: Path) -> list[Finding]:
    names = [f"storm-{number}" for number in range(STORM_BOTS)]
    return [_finding("storms of reconnects", STORMS, trio.run(_measured, folder, names, _storms(names)))]
