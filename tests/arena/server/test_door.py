"""The door: every limit, and strangers who try it while honest bots play."""

import contextlib
import os
import select
import socket
from pathlib import Path

import pytest
import trio

from protocol.errors import LocalProtocolError
from protocol.messages import PROTOCOL, BotAction, BotHello, Bye, Error, Request
from tests.helpers.strangers import ATTACKS, Attack
from tests.helpers.visitors import (
    Served,
    arrived,
    come_and_play,
    connected,
    remote_bots,
    serving,
    token_of,
)

TWO = remote_bots("anna", "ben")


async def test_only_so_many_connections_are_let_in(tmp_path: Path) -> None:
    """One of the three places is kept for ben."""
    async with serving(tmp_path, TWO, connections="3") as served:
        here = [await arrived(served.address, "anna") for _ in range(2)]
        assert await refusal_of(served, "anna") == (
            "there are 3 connections already (1 places are kept for bots that are away); try again later"
        )
        await here[0].stream.aclose()
        await served.heard.wait("came", "anna is here")
        while (await arrived(served.address, "anna")).kinds()[-1] != "Welcome":
            pass  # until there is room again


async def test_a_place_is_kept_for_each_bot_of_the_tournament(tmp_path: Path) -> None:
    options = {"connections": "3", "per_address": "2"}
    async with serving(tmp_path, TWO, **options) as served:
        for _ in range(2):
            await arrived(served.address, "anna")
        assert "3 connections already" in await refusal_of(served, "anna")
        watcher = await connected(served.address)
        await watcher.hear()
        await watcher.say(BotHello(PROTOCOL, "watcher", watch=""))
        assert (await watcher.hear_until(Error)).code == "full"
        assert (await arrived(served.address, "ben")).kinds() == ["ServerHello", "Welcome"]


async def refusal_of(served: Served, name: str) -> str:
    refused = await connected(served.address)
    await refused.greet(name, token_of(name))
    error = await refused.hear_until(Error)
    assert error.code == "full"
    assert (await refused.hear_until(Bye)).again
    return str(error.message)


async def test_only_so_many_connections_come_from_one_address(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, per_address="2") as served:
        for _ in range(2):
            await arrived(served.address, "anna")
        assert "2 connections from 127.0.0.1" in await refusal_of(served, "anna")


async def test_connections_are_accepted_at_a_bounded_rate(tmp_path: Path, mock_clock: trio.testing.MockClock) -> None:
    async with serving(tmp_path, TWO, per_second="5") as served:
        visitors = [await connected(served.address) for _ in range(12)]  # the kernel takes them all
        mock_clock.jump(0.3)
        await trio.testing.wait_all_tasks_blocked(0.05)
        greeted = sum([await has_something(visitor.stream) for visitor in visitors])
        assert 1 <= greeted < 12
        while greeted < 12:
            mock_clock.jump(0.2)
            await trio.testing.wait_all_tasks_blocked(0.01)
            greeted = sum([await has_something(visitor.stream) for visitor in visitors])


async def has_something(stream: trio.abc.Stream) -> bool:
    assert isinstance(stream, trio.SocketStream)
    return bool(select.select([stream.socket], [], [], 0)[0])


async def test_whoever_does_not_say_hello_in_time_has_to_go(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO, hello="7") as served:
        visitor = await connected(served.address)
        assert (await visitor.hear_until(Error)).code == "too-slow"
        assert autojump_clock.current_time() >= 7


async def test_one_byte_a_second_is_not_in_time(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(tmp_path, TWO, hello="7") as served:
        visitor = await connected(served.address)
        sent = 0
        with contextlib.suppress(trio.BrokenResourceError):
            for byte in b'{"type":"hello","protocol":1,"name":"anna"}':
                await visitor.stream.send_all(bytes([byte]))
                sent += 1
                await trio.sleep(1)
        assert sent < 12
        assert autojump_clock.current_time() < 20


async def test_a_line_may_be_only_so_long(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, line="600") as served:
        visitor = await connected(served.address)
        await visitor.stream.send_all(b"x" * 700)
        assert (await visitor.hear_until(Error)).code == "line-too-long"
        assert await visitor.hear_until(Bye)


async def test_answers_that_nobody_asked_for_are_counted(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, late_answers="5") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        first = await anna.hear_until(Request)
        late = b'{"type":"action","id":%d,"move":"pass"}\n' % first.id
        await anna.say(BotAction(first.id, first.legal[0]))
        await anna.hear_until(Request)
        await anna.stream.send_all(late * 7)
        error = await anna.hear_until(Error)
        assert error.code == "too-many"
        assert "more than 5 answers" in error.message
        await anna.stream.aclose()
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    assert served.verified()[0].result.ending == "malformed"


async def test_guesses_are_answered_late_and_a_right_token_never_is(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO, wrong_tokens="3") as served:
        took = []
        for number in range(6):
            began = autojump_clock.current_time()
            stranger = await connected(served.address)
            await stranger.greet("anna", f"guess {number}")
            assert (await stranger.hear_until(Error)).code == "wrong-token"
            took.append(autojump_clock.current_time() - began)
        assert max(took[:3]) < 0.5
        assert [round(seconds, 1) for seconds in took[3:]] == [0.5, 1, 2]
        began = autojump_clock.current_time()
        assert (await arrived(served.address, "anna")).kinds() == ["ServerHello", "Welcome"]
        assert autojump_clock.current_time() - began < 0.5


def other_end(address: object) -> socket.socket:
    """A copy of the socket of this process that is connected to the address."""
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # it is closed by now, or not connected
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                with socket.socket(fileno=os.dup(int(name))) as copy:
                    if copy.getpeername() == address:
                        return copy.dup()
    raise AssertionError(f"no socket here is connected to {address}")


async def test_what_a_bot_does_not_read_is_bounded(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    """It says hello and never reads again: its rounds are lost on time, and the kernel keeps little for it."""
    assert autojump_clock.rate == 0
    options = {"unread": "8K", "st": "1", "max_faults": "2", "rounds": "4"}
    async with serving(tmp_path, TWO, **options) as served, trio.open_nursery() as bots:
        deaf = await arrived(served.address, "anna")
        assert isinstance(deaf.stream, trio.SocketStream)
        deaf.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        with other_end(deaf.stream.socket.getsockname()) as server_end:
            assert server_end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) <= 16 * 1024
        bots.start_soon(come_and_play, served.address, "ben")
        await served.over.wait()
    assert {line.result.ending for line in served.verified()} <= {"timeout", "failed-to-start", "disconnected"}


# Strangers, while others play.


async def never_reads(address: str) -> None:
    """A bot with a token of its own that is deaf; it plays in the tournament."""
    with contextlib.suppress(OSError, trio.BrokenResourceError, LocalProtocolError):  # once the tournament is over
        while True:
            deaf = await arrived(address, "deaf")
            await trio.sleep(0.5)
            await deaf.stream.aclose()


def resident_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


EVERYBODY: list[Attack] = [*ATTACKS, never_reads]


async def besieged(folder: Path, attacks: list[Attack], count: int) -> float:
    """Honest bots play all at once while strangers do what they do; the result is how much our memory grew in MiB."""
    names = [f"b{number}" for number in range(count)]
    # A gauntlet of the first bot with many connections against all others, so that everybody plays at the same time.
    text = "[each]\nst = 60\n" + remote_bots("first", *names)
    text += remote_bots("deaf") + "st = 1\n" if never_reads in attacks else ""
    options = {
        "format": "gauntlet",
        "grace": "60",
        "hello": "60",
        "per_address": "1500",
        "per_second": "2000",
    }
    async with serving(folder, text, begin="2020-01-01T00:00", **options) as served, trio.open_nursery() as everybody:
        for name in ["first"] * count + names:
            everybody.start_soon(come_and_play, served.address, name)
        for attack in attacks:
            everybody.start_soon(attack, served.address)
        await served.heard.wait("finished")
        before = resident_mib()
        await served.over.wait()
        grown = resident_mib() - before
        everybody.cancel_scope.cancel()
    honest = [line for line in served.verified() if "deaf" not in line.bots]
    assert len(honest) == 2 * count
    assert [(line.id, line.bots, line.result.ending, line.fault) for line in honest if line.fault is not None] == []
    return grown


@pytest.mark.parametrize("attack", EVERYBODY, ids=lambda attack: attack.__name__)
async def test_bots_play_on_whatever_a_stranger_does(tmp_path: Path, attack: Attack) -> None:
    assert await besieged(tmp_path, [attack], count=8) < 50


@pytest.mark.extended
async def test_two_hundred_bots_play_on_when_strangers_do_everything_at_once(tmp_path: Path) -> None:
    assert await besieged(tmp_path, EVERYBODY, count=200) < 150
