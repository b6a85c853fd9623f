"""Rates and places that strangers share, and the filter in the kernel."""

import select
import socket
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.server.rates import Bucket, Buckets, Floods, Place, Room, Shares, place_of
from arena.server.syn_filter import program, set_filter

HERE, ELSEWHERE = place_of("127.0.0.1"), place_of("127.0.0.66")


def test_a_bucket_allows_a_burst_and_then_its_rate() -> None:
    bucket = Bucket(rate=10, burst=3)
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.ready_at(100.0) == pytest.approx(100.1)
    assert [bucket.take(100.1), bucket.take(100.1)] == [True, False]
    assert [bucket.take(200.0) for _ in range(4)] == [True, True, True, False]  # no more than a burst is saved up


def test_turns_that_are_reserved_come_one_after_the_other() -> None:
    bucket = Bucket(rate=10, burst=2)
    assert [round(bucket.reserve(5.0), 3) for _ in range(5)] == [0, 0, 0.1, 0.2, 0.3]


def test_rates_are_remembered_in_bounded_memory() -> None:
    buckets = Buckets(1, 1)
    for number in range(20_000):
        buckets.of(str(number)).take(0)
    assert len(buckets) == 10_000


def test_a_network_has_a_rate_of_its_own() -> None:
    shares = Shares(rate=1, burst=2, network=3)
    from_one_network = [shares.take(place_of(f"192.0.2.{number % 10}"), 0) for number in range(20)]
    assert sum(from_one_network) == 6
    assert shares.take(place_of("192.0.3.1"), 0)


def test_whoever_comes_to_a_full_room_takes_the_place_of_the_greediest() -> None:
    room: Room[str] = Room(most=5, per_address=4)
    for item in ("a1", "a2", "a3", "a4"):
        assert room.enter(item, ELSEWHERE) is None
    assert room.enter("b1", HERE) is None
    assert room.enter("b2", HERE) == "a1"
    assert room.enter("a5", ELSEWHERE) == "a2"
    assert room.enter("c1", place_of("192.0.2.1")) == "a3"
    assert set(room.items()) == {"a4", "a5", "b1", "b2", "c1"}


def test_an_address_pushes_out_its_own_when_it_has_its_share() -> None:
    room: Room[int] = Room(most=100, per_address=2)
    assert [room.enter(number, HERE) for number in range(4)] == [None, None, 0, 1]


def test_addresses_have_their_turns_whoever_of_them_waits_in_numbers() -> None:
    room: Room[str] = Room(100, 100)
    for number in range(10):
        room.enter(f"a{number}", ELSEWHERE)
    room.enter("b", place_of("192.0.2.1"))
    assert [room.next(), room.next(), room.next()] == ["a0", "b", "a1"]
    assert room.next(newest=True) == "a9"


PLACES = [place_of(f"10.0.{network}.{host}") for network in range(2) for host in range(3)]


@given(st.lists(st.tuples(st.sampled_from(["enter", "leave", "next"]), st.integers(0, 5)), max_size=80))
@settings(max_examples=100, deadline=None)
def test_a_room_never_holds_more_than_it_may_and_loses_nobody(steps: list[tuple[str, int]]) -> None:
    room: Room[int] = Room(most=7, per_address=3)
    inside: dict[int, Place] = {}
    for number, (step, which) in enumerate(steps):
        if step == "enter":
            pushed = room.enter(number, PLACES[which])
            inside[number] = PLACES[which]
            if pushed is not None:
                del inside[pushed]
        elif inside:
            gone = room.next(newest=bool(which % 2)) if step == "next" else room.oldest()
            assert gone is not None
            if step == "leave":
                room.leave(gone)
            del inside[gone]
        assert set(room.items()) == set(inside)
        assert len(room) <= 7
        assert max(Counter(inside.values()).values(), default=0) <= 3
        assert all(room.count(place) == list(inside.values()).count(place) for place in PLACES)


def test_a_flood_is_noticed_and_so_is_its_end() -> None:
    floods = Floods(most=10)
    assert floods.changed(0.9, {}) is None
    for _ in range(11):
        floods.add(ELSEWHERE)
    floods.add(HERE)
    assert floods.changed(1.0, {}) == frozenset([ELSEWHERE.address])
    assert floods.changed(1.3, {}) is None  # not yet
    assert floods.changed(1.5, {}) is None  # in this time there was one
    for _ in range(2):  # of which one in sixteen is seen
        floods.add(ELSEWHERE)
    assert floods.changed(2.1, {}) is None  # it goes on
    assert floods.look_again_at == pytest.approx(2.6)
    assert floods.changed(2.7, {}) == frozenset()


def test_a_flood_of_many_addresses_is_one_of_their_network() -> None:
    floods = Floods(most=10)
    for number in range(100):
        floods.add(place_of(f"192.0.2.{number}"))
    assert floods.changed(1.0, {}) == frozenset(["192.0.2.0/24"])


def test_an_address_that_bots_came_from_is_never_kept_out() -> None:
    floods = Floods(most=10)
    for _ in range(1000):
        floods.add(ELSEWHERE)
    assert floods.changed(1.0, {ELSEWHERE.address: None, ELSEWHERE.network: None}) is None


def test_a_flood_from_everywhere_is_counted_in_bounded_memory() -> None:
    floods = Floods(most=1)
    for number in range(20_000):
        for _ in range(2):
            floods.add(place_of(f"10.{number % 250}.{number // 250}.1"))
    assert len(floods) <= 4000
    assert len(floods.changed(1.0, {}) or ()) == 32


def ran(flooding: list[str], packet: dict[int, int], luck: int) -> int:
    """What the filter returns for a packet, of which only some words are looked at."""
    code, at, a = program(flooding, 16), 0, 0
    while True:
        kind, if_true, if_false, value = code[at]
        at += 1
        match kind:
            case 0x20 | 0x30:
                a = luck if value == 0xFFFFF000 + 56 else packet[value]
            case 0x54:
                a &= value
            case 0x74:
                a >>= value
            case 0x05:
                at += value
            case 0x15:
                at += if_true if a == value else if_false
            case 0x25:
                at += if_true if a > value else if_false
            case 0x06:
                return value


IP = 0xFFF00000


def v4(source: str, flags: int = 0x02) -> dict[int, int]:
    return {13: flags, IP: 0x45, IP + 12: int.from_bytes(socket.inet_aton(source))}


def v6(source: str) -> dict[int, int]:
    packed = socket.inet_pton(socket.AF_INET6, source)
    return {13: 0x02, IP: 0x60, IP + 8: int.from_bytes(packed[:4]), IP + 12: int.from_bytes(packed[4:8])}


@pytest.mark.parametrize(
    ("packet", "passes"),
    [
        (v4("192.0.2.7"), False),
        (v4("192.0.2.8"), True),
        (v4("192.0.2.7", flags=0x10), True),  # of a connection that is open
        (v4("198.51.100.77"), False),
        (v4("198.51.101.77"), True),
        (v6("2001:db8:1:2:3:4:5:6"), False),
        (v6("2001:db8:1:3::1"), True),
        (v6("2001:db9:7:ffff::1"), False),
        (v6("2001:db9:8::1"), True),
    ],
)
def test_the_filter_drops_the_beginning_of_connections_from_where_a_flood_comes(
    packet: dict[int, int], passes: bool
) -> None:
    flooding = ["192.0.2.7", "198.51.100.0/24", "2001:db8:1:2::/64", "2001:db9:7::/48"]
    unlucky = 0xF0000000
    assert bool(ran(flooding, packet, unlucky)) is passes
    assert ran(flooding, packet, luck=0x01000000)  # one in sixteen passes
    assert ran([], packet, unlucky)


def is_established(source: str, target: tuple[str, int]) -> bool:
    """On loopback a handshake is over before connecting returns."""
    with socket.socket() as client:
        client.setblocking(False)
        client.bind((source, 0))
        client.connect_ex(target)
        poll = select.poll()
        poll.register(client, select.POLLOUT)
        return bool(poll.poll(0))


def test_the_kernel_takes_the_filter_and_open_connections_go_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as early:
        target = listening.getsockname()
        early.bind((ELSEWHERE.address, 0))
        early.connect(target)
        set_filter(listening, [ELSEWHERE.address, "2001:db8::/64"], 1 << 30)
        assert not is_established(ELSEWHERE.address, target)
        assert is_established(HERE.address, target)
        accepted, _ = listening.accept()
        with accepted:
            early.send(b"still here")
            assert accepted.recv(100) == b"still here"
        set_filter(listening, [], 16)
        assert is_established(ELSEWHERE.address, target)
