"""Tokens and names: who may come in, and who guesses too often."""

import contextlib
from collections.abc import Callable

import pytest
import trio

from arena.plan.bot_spec import BotSpec, RemoteSpec
from arena.plan.tokens import Owners, is_token_hash, new_token, token_hash
from arena.server.admission import AdmissionError, Refusal, Registry
from arena.server.rates import Place, place_of
from arena.server.strikes import Strikes
from protocol.messages import PROTOCOL, BotHello
from tests.helpers.visitors import (
    token_of,
)


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


HERE = place_of("192.0.2.7")


def hello(name: str, token: str | None = None) -> BotHello:
    return BotHello(PROTOCOL, name, token=token)


def nobody_holds(_name: str) -> bool:
    return True


def somebody_holds(_name: str) -> bool:
    return False


def refusal(registry: Registry, who: BotHello, holds: Callable[[str], bool] = nobody_holds) -> Refusal:
    with pytest.raises(AdmissionError) as caught:
        registry.admit(who, holds, HERE, 0.0)
    return caught.value.code


def test_an_open_door_gives_a_name_to_whoever_brings_it_first() -> None:
    registry = Registry([RemoteSpec("anna", token_hash("a")), BotSpec("greedy", ("greedy",))], open_door=True, names=32)
    assert registry.admit(hello("zoe", "my own"), nobody_holds, HERE, 0.0) == "zoe"
    assert registry.admit(hello("zoe", "my own"), somebody_holds, HERE, 0.0) == "zoe"  # a second connection
    assert refusal(registry, hello("zoe", "another")) is Refusal.NAME_TAKEN
    assert refusal(registry, hello("zoe")) is Refusal.NAME_TAKEN
    assert refusal(registry, hello("anna")) is Refusal.NAME_TAKEN
    assert refusal(registry, hello("anna", "mistyped")) is Refusal.WRONG_TOKEN
    assert refusal(registry, hello("greedy")) is Refusal.NAME_TAKEN
    assert registry.admit(hello("anything", "a"), nobody_holds, HERE, 0.0) == "anna"
    assert registry.entered() == ["zoe"]


def test_a_name_without_a_token_is_free_when_its_bot_has_left() -> None:
    registry = Registry([], open_door=True, names=32)
    assert registry.admit(hello("yan"), nobody_holds, HERE, 0.0) == "yan"
    assert refusal(registry, hello("yan"), somebody_holds) is Refusal.NAME_TAKEN
    registry.left("yan")
    assert registry.entered() == []
    assert registry.admit(hello("yan", "now with one"), nobody_holds, HERE, 0.0) == "yan"


def admitted(registry: Registry, names: list[str], place: Place, token: str | None = "t", now: float = 0.0) -> int:
    """How many of these new names are admitted from there."""
    count = 0
    for name in names:
        with contextlib.suppress(AdmissionError):
            count += registry.admit(hello(name, token), nobody_holds, place, now) == name
    return count


def many(what: str, count: int = 100) -> list[str]:
    return [f"{what}{number}x" for number in range(count)]


@pytest.mark.parametrize("token", ["t", None])
@pytest.mark.parametrize(
    ("host", "neighbour", "elsewhere"),
    [("192.0.2.7", "192.0.2.8", "192.0.3.7"), ("2001:db8:0:1::7", "2001:db8:0:2::7", "2001:db8:1::7")],
)
def test_an_address_has_so_many_names_and_its_network_four_times_as_many(
    token: str | None, host: str, neighbour: str, elsewhere: str
) -> None:
    registry = Registry([RemoteSpec("anna", token_hash("a"))], open_door=True, names=5)
    assert admitted(registry, many("a"), place_of(host), token) == 5
    assert admitted(registry, many("b"), place_of(host), token) == 0
    if ":" in host:
        assert admitted(registry, many("c"), place_of(f"{host}7"), token) == 0  # of the same /64
    assert registry.admit(hello("anna", "a"), nobody_holds, place_of(host), 0.0) == "anna"  # it is in the file
    assert admitted(registry, many("d"), place_of(neighbour), token) == 5
    others = [neighbour.replace("8", "9"), neighbour.replace("8", "10")]
    if ":" in host:
        others = [neighbour.replace(":2:", ":3:"), neighbour.replace(":2:", ":4:")]
    assert sum(admitted(registry, many(f"e{other}"), place_of(other), token) for other in others) == 10
    last = "192.0.2.99" if ":" not in host else "2001:db8:0:99::"
    assert admitted(registry, many("f"), place_of(last), token) == 0
    assert admitted(registry, many("g"), place_of(elsewhere), token) == 5


def test_names_with_a_token_count_for_good_and_others_while_they_are_there() -> None:
    registry = Registry([], open_door=True, names=3)
    assert admitted(registry, many("with", 3), HERE) == 3
    for name in many("with", 3):
        registry.left(name)
    assert admitted(registry, many("another"), HERE) == 0
    assert admitted(registry, many("with", 3), HERE) == 3  # they come back
    again = Registry([], open_door=True, names=3, kept=registry.lasting_claims())
    assert admitted(again, many("another"), HERE) == 0
    assert admitted(again, many("with", 3), HERE) == 3
    there = place_of("198.51.100.1")
    assert admitted(registry, many("without", 3), there, None) == 3
    for name in many("without", 3):
        registry.left(name)
    assert admitted(registry, many("another"), there, None) == 3


def test_new_names_come_slowly_in_the_long_run() -> None:
    """However often bots without a token come and leave: each name in a cycle costs the others matches."""
    registry = Registry([], open_door=True, names=3)
    found = []
    for now in (0.0, 0.0, 1000.0):
        for name in many("passer", 50):
            found.append(admitted(registry, [name], HERE, None, now))
            registry.left(name)
    assert [sum(found[:50]), sum(found[50:100]), sum(found[100:])] == [12, 0, 12]


def test_all_names_together_are_bounded_and_their_owners_still_come_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.server.admission.MOST_NAMES", 10)
    registry = Registry([], open_door=True, names=3)
    found = [admitted(registry, many(f"n{network}", 3), place_of(f"10.0.{network}.1")) for network in range(10)]
    assert sum(found) == 10
    assert registry.admit(hello("n00x", "t"), nobody_holds, HERE, 0.0) == "n00x"
    assert refusal(registry, hello("new", "t")) is Refusal.FULL
    assert len(registry.lasting_claims()) == 10


def test_a_stranger_cannot_fill_the_names_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest name that never played makes room, but none of the file, none that played, and none that is here."""
    monkeypatch.setattr("arena.server.admission.MOST_NAMES", 5)
    registry = Registry([RemoteSpec("anna", token_hash("a"))], open_door=True, names=32)
    for name in ("player", "here", "old", "young"):
        registry.admit(hello(name, "t"), nobody_holds, HERE, 0.0)
    registry.begin(["player", "here"], ["here"], closed=False)
    registry.begin(["anna"], ["here"], closed=False)
    registry.admit(hello("new", "t"), nobody_holds, HERE, 0.0)
    assert {claim.name for claim in registry.lasting_claims()} == {"anna", "player", "here", "young", "new"}
    assert registry.has_news
    registry.left("young")
    registry.admit(hello("newer", "t"), nobody_holds, HERE, 0.0)
    assert refusal(registry, hello("newest", "t")) is Refusal.FULL
    assert {claim.name for claim in registry.lasting_claims()} == {"anna", "player", "here", "new", "newer"}


def test_a_name_that_once_had_a_token_never_becomes_free() -> None:
    """Whether the bot has played or not, and whether it chose the token or the tournament file had it."""
    registry = Registry([RemoteSpec("anna", token_hash("a"))], open_door=True, names=32)
    registry.admit(hello("zoe", "my own"), nobody_holds, HERE, 0.0)
    assert registry.has_news
    assert not registry.is_established("zoe")
    registry.left("zoe")
    registry.begin(["anna", "ben"], [], closed=False)
    assert refusal(registry, hello("zoe", "another")) is Refusal.NAME_TAKEN
    again = Registry([], open_door=True, names=32, kept=registry.lasting_claims())  # anna is no longer in the file
    for name, token in (("zoe", "my own"), ("anna", "a")):
        assert refusal(again, hello(name)) is Refusal.NAME_TAKEN
        assert refusal(again, hello(name, "another")) is Refusal.NAME_TAKEN
        assert again.owner(hello(name, token)) == name
        assert again.admit(hello(name, token), nobody_holds, HERE, 0.0) == name
    assert again.is_established("anna")
    assert not again.is_established("zoe")


def test_names_of_a_tournament_are_kept_and_nobody_joins_it_later() -> None:
    registry = Registry([], open_door=True, names=32)
    registry.admit(hello("yan", "y"), nobody_holds, HERE, 0.0)
    registry.begin(["yan"], ["yan"], closed=True)
    registry.left("yan")
    assert refusal(registry, hello("yan", "stolen")) is Refusal.NAME_TAKEN
    assert registry.admit(hello("yan", "y"), nobody_holds, HERE, 0.0) == "yan"
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
