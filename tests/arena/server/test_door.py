"""The door: every limit, and strangers who try it while honest bots play."""

import contextlib
import os
import select
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from arena.plan.bot_spec import BotSpec, RemoteSpec
from arena.plan.tokens import Owners, is_token_hash, new_token, token_hash
from arena.server.admission import Refusal, Refused, Registry
from arena.server.rates import Place, place_of
from arena.server.strikes import Strikes
from protocol.errors import LocalProtocolError
from protocol.messages import PROTOCOL, Action, BotHello, Bye, Error, Request
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


def test_a_token_opens_only_for_its_own_name() -> None:
    owners = Owners({name: token_hash(token_of(name)) for name in ("anna", "ben")})
    assert owners.of(token_of("ben")) == "ben"
    assert owners.of("something else") is None
    assert owners.of("ünïcödé") is None
    assert owners.of(token_hash(token_of("ben"))) is None


def test_tokens_are_new_each_time_and_only_hashes_look_like_hashes() -> None:
    assert new_token() != new_token()
    assert is_token_hash(token_hash(new_token()))
    assert not is_token_hash(new_token())
    assert not is_token_hash(None)


def hello(name: str, token: str | None = None) -> BotHello:
    return BotHello(PROTOCOL, name, token=token)


def nobody_holds(_name: str) -> bool:
    return True


def somebody_holds(_name: str) -> bool:
    return False


def refusal(registry: Registry, who: BotHello, holds: Callable[[str], bool] = nobody_holds) -> Refusal:
    with pytest.raises(Refused) as caught:
        registry.admit(who, holds)
    return caught.value.code


def test_an_open_door_gives_a_name_to_whoever_brings_it_first() -> None:
    registry = Registry([RemoteSpec("anna", token_hash("a")), BotSpec("greedy", ("greedy",))], open_door=True)
    assert registry.admit(hello("zoe", "my own"), nobody_holds) == "zoe"
    assert registry.admit(hello("zoe", "my own"), somebody_holds) == "zoe"  # a second connection
    assert refusal(registry, hello("zoe", "another")) is Refusal.NAME_TAKEN
    assert refusal(registry, hello("zoe")) is Refusal.NAME_TAKEN
    assert refusal(registry, hello("anna")) is Refusal.NAME_TAKEN
    assert refusal(registry, hello("anna", "mistyped")) is Refusal.WRONG_TOKEN
    assert refusal(registry, hello("greedy")) is Refusal.NAME_TAKEN
    assert registry.admit(hello("anything", "a"), nobody_holds) == "anna"
    assert registry.entered() == ["zoe"]


def test_a_name_without_a_token_is_free_when_its_bot_has_left() -> None:
    registry = Registry([], open_door=True)
    assert registry.admit(hello("yan"), nobody_holds) == "yan"
    assert refusal(registry, hello("yan"), somebody_holds) is Refusal.NAME_TAKEN
    registry.left("yan")
    assert registry.entered() == []
    assert registry.admit(hello("yan", "now with one"), nobody_holds) == "yan"


def test_names_of_a_tournament_are_kept_and_nobody_joins_it_later() -> None:
    registry = Registry([], open_door=True)
    registry.admit(hello("yan", "y"), nobody_holds)
    registry.begin(["yan"], ["yan"], closed=True)
    registry.left("yan")
    assert refusal(registry, hello("yan", "stolen")) is Refusal.NAME_TAKEN
    assert registry.admit(hello("yan", "y"), nobody_holds) == "yan"
    assert refusal(registry, hello("zoe")) is Refusal.BEGUN


@pytest.mark.parametrize(
    ("host", "address", "network"),
    [
        ("192.0.2.7", "192.0.2.7", "192.0.2.0/24"),
        ("::ffff:192.0.2.7", "192.0.2.7", "192.0.2.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/64", "fe80::/48"),
    ],
)
def test_an_address_counts_for_its_owner(host: str, address: str, network: str) -> None:
    assert place_of(host) == Place(address, network)


async def test_wrong_tokens_are_remembered_for_a_minute_and_in_bounded_memory(
    mock_clock: trio.testing.MockClock,
) -> None:
    strikes = Strikes(3)
    assert [strikes.add("a") for _ in range(10)] == [0, 0, 0, 0.5, 1, 2, 4, 8, 8, 8]
    mock_clock.jump(61)
    assert strikes.add("a") == 0
    for number in range(20_000):
        strikes.add(str(number))
    assert len(strikes) == 10_000


def test_only_so_many_answers_are_held_back_at_once() -> None:
    strikes = Strikes(3)
    with contextlib.ExitStack() as stack:
        assert [stack.enter_context(strikes.held("a")) for _ in range(9)] == [True] * 8 + [False]
        assert sum(stack.enter_context(strikes.held(str(number))) for number in range(100)) == 64 - 8
    with strikes.held("a") as may_wait:
        assert may_wait


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
        await anna.say(Action(first.id, first.legal[0]))
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
        "grace": "1",
        "hello": "2",
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


async def test_two_hundred_bots_play_on_when_strangers_do_everything_at_once(tmp_path: Path) -> None:
    assert await besieged(tmp_path, EVERYBODY, count=200) < 150
