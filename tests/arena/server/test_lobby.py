"""Connections that come, go and are lent to matches at awkward moments."""

import os
import pty
import signal
import socket
import struct
import sys
from pathlib import Path

import pytest
import trio

from arena.cli.keys import begin_key
from arena.cli.progress import Quiet
from arena.plan.config import ConfigError
from arena.server.server import serve
from arena.server.wall_clock import local_time
from protocol.messages import PROTOCOL, BotAction, BotHello, Error, MatchStart, Request, WatchedPosition, Welcome
from tests.helpers.visitors import (
    Visitor,
    arrived,
    come_and_play,
    configured,
    connected,
    first_move,
    play,
    remote_bots,
    serving,
    token_of,
)

LONG_AGO = "2020-01-01T00:00"
TWO = remote_bots("anna", "ben")
THREE = remote_bots("anna", "ben", "cleo")


async def test_a_token_is_not_in_the_bundle_of_a_fault(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        request = await anna.hear_until(Request)
        await anna.say(BotAction(request.id, "play nonsense"))
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    session = next(message.session for message in anna.heard if isinstance(message, Welcome))
    (exchange,) = tmp_path.glob("cup.faults/*anna/*anna.exchange.txt")
    assert "play nonsense" in exchange.read_text()
    for path in tmp_path.glob("cup.faults/*/*"):
        for secret in (token_of("anna"), token_of("ben"), str(session)):
            assert secret not in path.read_text()


async def test_a_token_in_a_malformed_hello_is_not_told_to_the_organiser(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        anna = await connected(served.address)
        await anna.stream.send_all(b'{"type":"hello","token":"s3cret",}\n')
        told = (await anna.hear_until(Error)).message
        assert '"token":"***",' in told  # its author sees what was wrong, and whoever reads a log sees no secret
        assert "s3cret" not in told
        await served.heard.wait("refused", "not-json")
        assert "s3cret" not in str(served.heard.told)


async def test_a_bot_that_says_too_much_with_its_hello_makes_no_round_void(tmp_path: Path) -> None:
    """The match that waits for it is offered a connection whose owner already sends it away."""
    async with serving(tmp_path, TWO, rounds="2", max_faults="0") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        await anna.stream.aclose()
        for _ in range(12):
            hasty = await connected(served.address)
            await hasty.hear()
            hello = hasty.session.send(BotHello(PROTOCOL, "anna", token=token_of("anna")))
            await hasty.stream.send_all(hello + b"and more\n")
            assert (await hasty.hear_until(Error)).code == "not-json"
            await hasty.stream.aclose()
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    assert '"void"' not in served.journal.read_text()
    assert all(line.fault is None for line in served.verified())


async def reset_after_hello(address: str, name: str) -> None:
    visitor = await connected(address)
    assert isinstance(visitor.stream, trio.SocketStream)
    await visitor.greet(name)
    visitor.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await visitor.stream.aclose()


async def test_whoever_leaves_before_the_welcome_takes_no_name(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, open="true", begin="2099-01-01T00:00") as served:
        for number in range(20):
            await reset_after_hello(served.address, f"ghost {number}")
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert served.server.registry.entered() == []


async def come_openly(address: str, name: str) -> Visitor:
    visitor = await connected(address)
    await visitor.greet(name)
    await visitor.hear_until(Welcome)
    return visitor


async def test_a_bot_that_left_is_not_in_the_next_cycle(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    assert autojump_clock.rate == 0
    async with serving(tmp_path, "", open="true", forever="true", grace="5") as served, trio.open_nursery() as bots:
        anna, ben = await come_openly(served.address, "anna"), await come_openly(served.address, "ben")
        bots.start_soon(play, anna)
        await ben.hear_until(Request)
        await ben.stream.aclose()
        bots.start_soon(play, await come_openly(served.address, "cleo"))
        bots.start_soon(play, await come_openly(served.address, "dora"))
        await served.heard.wait("begins", "Cycle 3")
        assert await served.heard.wait("begins", "Cycle 2") == "Cycle 2 begins: anna, cleo, dora"
        bots.cancel_scope.cancel()
    assert served.server.registry.entered() in (["anna", "cleo", "dora"], [])


async def test_a_bot_that_comes_back_while_its_opponent_thinks_goes_on_with_that_match(tmp_path: Path) -> None:
    """Cleo is free and would like to play with anna; but anna's connection takes the place of the one that it lost."""
    for says_session in (True, False):
        folder = tmp_path / str(says_session)
        folder.mkdir()
        async with serving(folder, THREE, begin=LONG_AGO, st="60") as served, trio.open_nursery() as bots:
            anna = await arrived(served.address, "anna")
            ben = await arrived(served.address, "ben")
            asked = await turn_of(ben, anna)
            session = next(message.session for message in anna.heard if isinstance(message, Welcome))
            bots.start_soon(come_and_play, served.address, "cleo")
            await served.heard.wait("came", "cleo")
            if not says_session:
                await anna.stream.aclose()
            again = await arrived(served.address, "anna", session if says_session else None)
            await ben.say(BotAction(asked.id, first_move(asked)))
            assert (await again.hear_until(MatchStart)).opponent == "ben"
            bots.start_soon(play, again)
            bots.start_soon(play, ben)
            await served.over.wait()
        assert all(line.fault is None for line in served.verified())


async def test_a_match_goes_on_with_another_connection_that_has_played_before(tmp_path: Path) -> None:
    async with serving(tmp_path, THREE, begin=LONG_AGO, grace="10") as served, trio.open_nursery() as bots:
        used = await arrived(served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        bots.start_soon(play, used)
        await served.heard.wait("finished", "1.1-2.2")
        new = await arrived(served.address, "anna")
        await served.heard.wait("came", "2 connections")
        (_, connection) = served.server.lobby.connections("anna")
        served.server.lobby.connections("anna").reverse()  # the new one is asked first
        assert connection.link.session.last_id == 0
        bots.start_soon(come_and_play, served.address, "cleo")
        await new.hear_until(Request)
        await new.stream.aclose()
        await served.over.wait()
    assert '"void"' not in served.journal.read_text()
    assert all(line.fault is None for line in served.verified())


async def turn_of(who: Visitor, other: Visitor) -> Request:
    """The first request to `who`; `other` has moved before, if it had to."""
    async with trio.open_nursery() as nursery:

        async def move() -> None:
            request = await other.hear_until(Request)
            await other.say(BotAction(request.id, first_move(request)))
            nursery.start_soon(other.hear_until, Request)

        nursery.start_soon(move)
        asked: Request = await who.hear_until(Request)
        nursery.cancel_scope.cancel()
    return asked


async def test_a_server_that_drains_without_anybody_there_ends_with_its_last_match(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    text = THREE + "st = 100000\n"
    async with serving(tmp_path, text, begin=LONG_AGO, drain="5000", grace="20", st="10") as served:
        anna, ben = await arrived(served.address, "anna"), await arrived(served.address, "ben")
        await turn_of(ben, anna)
        os.kill(os.getpid(), signal.SIGTERM)
        await served.heard.wait("stopping")
        await anna.stream.aclose()
        await ben.stream.aclose()
        await served.over.wait()
        assert autojump_clock.current_time() < 1000
    assert served.verified()


async def test_what_watchers_wait_for_does_not_keep_the_server_open(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, watch_delay="5000") as served, trio.open_nursery() as bots:
        watcher = await connected(served.address)
        await watcher.hear()
        await watcher.say(BotHello(PROTOCOL, "watcher", watch=""))
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        bots.start_soon(play, watcher)
        with trio.fail_after(120):
            await served.over.wait()
    assert any(isinstance(message, WatchedPosition) for message in watcher.heard)


async def test_a_tournament_that_is_finished_does_not_wait_for_its_bots(tmp_path: Path) -> None:
    for _ in range(2):
        async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
            if not served.rounds():
                bots.start_soon(come_and_play, served.address, "anna")
                bots.start_soon(come_and_play, served.address, "ben")
            with trio.fail_after(120):
                await served.over.wait()
    assert len(served.verified()) == 2


@pytest.mark.parametrize("size", ["8K", "1G", "64G"])
async def test_any_size_of_unread_bytes_opens_the_door(tmp_path: Path, size: str) -> None:
    async with serving(tmp_path, TWO, unread=size) as served:
        await arrived(served.address, "anna")


async def test_a_key_begins_every_cycle_that_is_to_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    with open(slave) as terminal, open(master, "wb", buffering=0) as keyboard:
        monkeypatch.setattr(sys, "stdin", terminal)
        options = {"open": "true", "forever": "true", "begin": "key"}
        enter = begin_key(or_pipe=False)
        async with serving(tmp_path, "", local_time, enter, **options) as served, trio.open_nursery() as bots:
            for name in ("anna", "ben"):
                bots.start_soon(play, await come_openly(served.address, name))
            await served.heard.wait("came", "ben")
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert not served.heard.texts("begins")
            keyboard.write(b"\n")
            await served.heard.wait("begins", "Cycle 3")
            bots.cancel_scope.cancel()
    assert all(line.fault is None for line in served.verified())


def test_a_key_needs_a_terminal(tmp_path: Path) -> None:
    config, server = configured(tmp_path, TWO, begin="key")
    with pytest.raises(ConfigError, match="--begin key needs a terminal"):
        serve(config, server, Quiet())
