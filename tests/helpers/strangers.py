"""What strangers do at the door: each goes on until it is cancelled."""

import contextlib
import itertools
import random
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator

import trio

from arena.support.address import parse_address

Attack = Callable[[str], Awaitable[None]]


@contextlib.contextmanager
def raw_sockets(address: str, count: int) -> Iterator[list[socket.socket]]:
    """They do not wait for anything, not even for being connected: we share a thread with the server."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in found:
            each.setblocking(False)
            each.connect_ex(parse_address(address))
        yield found


async def slow_senders(address: str) -> None:
    with raw_sockets(address, 20) as sockets:
        for byte in itertools.cycle(b'{"type":"hello","protocol":1,'):
            for each in sockets:
                with contextlib.suppress(OSError):
                    each.send(bytes([byte]))
            await trio.sleep(0.02)


async def half_open(address: str) -> None:
    """They say nothing and read nothing, and the other half of each connection is closed."""
    with raw_sockets(address, 20) as sockets:
        await trio.sleep(0.05)
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_WR)
        await trio.sleep_forever()


async def flood_of_connections(address: str) -> None:
    while True:
        with raw_sockets(address, 10):
            await trio.sleep(0.001)


async def giant_lines(address: str) -> None:
    while True:
        with raw_sockets(address, 2) as sockets:
            for _ in range(50):
                for each in sockets:
                    with contextlib.suppress(OSError):
                        each.send(b"x" * 10_000)
                await trio.sleep(0.001)


async def resets(address: str) -> None:
    """In the middle of a line."""
    while True:
        with raw_sockets(address, 5) as sockets:
            await trio.sleep(0.002)
            for each in sockets:
                with contextlib.suppress(OSError):
                    each.send(b'{"type":"hel')
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await trio.sleep(0.005)


async def random_bytes(address: str) -> None:
    rng = random.Random(1)
    while True:
        with raw_sockets(address, 5) as sockets:
            await trio.sleep(0.002)
            for each in sockets:
                with contextlib.suppress(OSError):
                    each.send(rng.randbytes(rng.randrange(1, 5000)))
            await trio.sleep(0.005)


ATTACKS: list[Attack] = [slow_senders, half_open, flood_of_connections, giant_lines, resets, random_bytes]
