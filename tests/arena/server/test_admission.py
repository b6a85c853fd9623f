"""Tokens and names: who may come in, and who guesses too often."""

import contextlib
from collections.abc import Callable

import pytest
import trio

from arena.plan.bot_spec import BotSpec, RemoteSpec
from arena.plan.tokens import Owners, is_token_hash, new_token, token_hash
from arena.server.admission import Refusal, Refused, Registry
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
