"""A random crowd at a server: honest bots, bots that lose their connections and come back, and bots that misbehave."""

import contextlib
import os
import random
import socket
import struct
from pathlib import Path

import pytest
import trio
import trio.testing

from arena.bots.link import Link
from arena.server.connection import Connection
from protocol.errors import ProtocolError
from protocol.messages import PROTOCOL, BotAction, BotHello, Bye, Request, Welcome
from tests.helpers.sampling import sampled
from tests.helpers.strangers import ATTACKS, flood_of_connections
from tests.helpers.visitors import Visitor, connected, remote_bots, serving, token_of

HONEST = ["honest-1", "honest-2", "honest-3"]
FLAKY = ["flaky-1", "flaky-2"]  # they always come back at once
ROGUE = ["rogue-1", "rogue-2"]
ROUNDS = 4
NONSENSE = [b"nonsense\n", b"\xff\n", b"x" * 70_000, b'{"type":"action","id":99999,"move":"pass"}\n']


class RemoteBot:
    """One place at the server, on one connection after the other."""

    def __init__(self, address: str, name: str, rng: random.Random):
        self._address = address
        self._name = name
        self._rng = rng
        self._session: str | None = None

    def _happens(self, names: list[str], chance: float) -> bool:
        return self._name in names and self._rng.random() < chance

    async def play(self) -> None:
        again = True
        while again:
            with contextlib.suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError, ProtocolError):
                visitor = await connected(self._address)
                async with visitor.stream:
                    again = await self._visit(visitor)
            await trio.sleep(0)

    async def _visit(self, visitor: Visitor) -> bool:
        """Whether to come again."""
        await visitor.hear()
        lost = self._session if self._rng.random() < 0.7 else None
        hello = visitor.session.send(BotHello(PROTOCOL, self._name, token=token_of(self._name), session=lost))
        await visitor.stream.send_all(hello + (b"and more\n" if self._happens(ROGUE, 0.2) else b""))
        while (message := await visitor.hear()) is not None:
            if isinstance(message, Welcome):
                self._session = message.session
            elif isinstance(message, Bye):
                return message.again
            if self._happens([*FLAKY, *ROGUE], 0.02):
                self._hang_up(visitor)
                return True
            if isinstance(message, Request):
                await self._answer(visitor, message)
        return True

    async def _answer(self, visitor: Visitor, request: Request) -> None:
        if self._happens(ROGUE, 0.01):
            await visitor.stream.send_all(self._rng.choice(NONSENSE))
        move = "play r5 77" if self._happens(ROGUE, 0.01) else self._rng.choice(request.legal)
        await visitor.say(BotAction(request.id, move))

    def _hang_up(self, visitor: Visitor) -> None:
        assert isinstance(visitor.stream, trio.SocketStream)
        if self._rng.random() < 0.5:
            visitor.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize("seed", sampled([1, 2], 1))
async def test_a_random_crowd_plays_to_the_end_and_only_those_who_misbehave_lose_by_it(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    text = remote_bots(*HONEST, *FLAKY) + "".join(remote_bots(name) + "st = 2\n" for name in ROGUE)
    options = {"grace": "60", "st": "60", "max_faults": "0", "per_second": "2000", "per_address": "1500", "hello": "20"}
    open_before = len(os.listdir("/proc/self/fd"))
    async with (
        serving(tmp_path, text, rounds=str(ROUNDS), begin="2020-01-01T00:00", **options) as served,
        trio.open_nursery() as crowd,
    ):
        for attack in ATTACKS:
            if attack is not flood_of_connections:  # whoever comes from the same address has to queue with it
                crowd.start_soon(attack, served.address)
        for name in (*HONEST, *FLAKY, *ROGUE):
            for _ in range(rng.choice([1, 1, 2, 3])):
                crowd.start_soon(RemoteBot(served.address, name, random.Random(rng.random())).play)
        with trio.fail_after(600):
            await served.over.wait()
        crowd.cancel_scope.cancel()
    lobby = served.server.lobby
    assert (lobby.names(), served.server.registry.entered()) == ([], [])
    for name in (*HONEST, *FLAKY, *ROGUE):  # no match waits for one that comes now
        with lobby.present(Connection(name, Link(trio.testing.memory_stream_pair()[0]), "", "")):
            assert lobby.is_free(name)
    rounds = served.verified()
    assert len(rounds) == ROUNDS * 7 * 6 // 2
    assert [line for line in rounds if line.fault and line.bots[line.fault.seat] not in ROGUE] == []
    assert "the arena failed" not in served.journal.read_text()
    assert len(os.listdir("/proc/self/fd")) <= open_before
