"""Servers with TLS: handshakes, and connections at awkward moments."""

import contextlib
import socket
import ssl
import struct
from pathlib import Path

import pytest
import trio

from protocol.messages import (
    PROTOCOL,
    BotHello,
    Welcome,
)
from tests.bench.siege import client_hello
from tests.helpers.tls import certified, connected_securely
from tests.helpers.visitors import (
    ELSEWHERE,
    connected,
    play,
    remote_bots,
    serving,
    token_of,
)

TWO = remote_bots("anna", "ben")


async def test_whoever_says_hello_after_the_end_does_not_keep_the_server_open(tmp_path: Path) -> None:
    """With TLS the hello is waited for behind the door, so it may come when everybody else has been sent away."""
    tls, trusting = certified(tmp_path)
    async with serving(tmp_path, TWO, **tls) as served, trio.open_nursery() as bots:
        watcher = await connected_securely(served.address, trusting)
        await watcher.hear()  # the greeting: it is behind the door now
        for name in ("anna", "ben"):
            visitor = await connected_securely(served.address, trusting)
            await visitor.greet(name, token_of(name))
            bots.start_soon(play, visitor)
        await served.heard.wait("finished", "1.1-2.2")
        while served.server.lobby.names():
            await trio.sleep(0.01)
        await watcher.say(BotHello(PROTOCOL, "late", watch=""))
        with trio.fail_after(120):
            await served.over.wait()


async def test_strangers_at_a_door_with_tls_leave_without_harm(tmp_path: Path) -> None:
    """One speaks plainly, one says nothing, one stops in the middle of the handshake, one resets there."""
    tls, trusting = certified(tmp_path)
    async with serving(tmp_path, TWO, hello="10", **tls) as served, trio.open_nursery() as bots:
        await (await connected(served.address)).stream.send_all(b'{"type":"hello","protocol":1,"name":"anna"}\n')
        await connected(served.address)
        await (await connected(served.address)).stream.send_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        resetting = await connected(served.address)
        assert isinstance(resetting.stream, trio.SocketStream)
        await resetting.stream.send_all(b"\x16\x03\x01\x02\x00")
        resetting.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await resetting.stream.aclose()
        for name in ("anna", "ben"):
            visitor = await connected_securely(served.address, trusting)
            await visitor.greet(name, token_of(name))
            session = (await visitor.hear_until(Welcome)).session
            again = await connected_securely(served.address, trusting)  # takes its place at once
            await again.greet(name, token_of(name), session)
            bots.start_soon(play, again)
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def come_securely(address: str, name: str, trusting: ssl.SSLContext) -> None:
    visitor = await connected_securely(address, trusting)
    await visitor.greet(name, token_of(name))
    await visitor.hear_until(Welcome)


@pytest.mark.parametrize("source", [ELSEWHERE, "127.0.0.1"])
async def test_handshakes_that_are_never_ended_keep_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr("arena.server.door.HANDSHAKES", 8)
    monkeypatch.setattr("arena.server.door.HANDSHAKE_SECONDS", 1000.0)
    tls, trusting = certified(tmp_path)
    async with serving(tmp_path, TWO, connections="10", hello="1000", **tls) as served:
        crowd = [await connected(served.address, source) for _ in range(20)]
        for visitor in crowd:
            await visitor.stream.send_all(client_hello())
        await come_securely(served.address, "anna", trusting)
        for visitor in crowd[:10]:  # they had to make room
            with contextlib.suppress(trio.BrokenResourceError):
                while await visitor.stream.receive_some(65536):
                    pass


async def test_a_handshake_has_a_time_limit_of_its_own(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    tls, _ = certified(tmp_path)
    async with serving(tmp_path, TWO, hello="1000", **tls) as served:
        visitor = await connected(served.address)
        await visitor.stream.send_all(client_hello()[:20])
        assert await visitor.stream.receive_some(1000) == b""
        assert 5 <= autojump_clock.current_time() < 100
