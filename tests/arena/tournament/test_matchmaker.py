"""Which match begins next."""

import math
import random
from collections import Counter

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.plan.bot_spec import AnySpec, BotSpec, RemoteSpec
from arena.plan.schedule import Format, PlannedMatch, schedule
from arena.tournament.forfeit_pace import ForfeitPace
from arena.tournament.matchmaker import Matchmaker
from engine.ruleset import PRESETS


class People:
    """Who is here, with how many free connections; whoever is away has until some time, or, where others wait, until an
    earlier one."""

    grace = 60.0

    def __init__(self, **free: int):
        self.free = Counter(free)
        self.until: dict[str, float] = {}
        self.held: dict[str, float] = {}
        self.awaited: set[str] = set()
        self.given_up: list[tuple[str, float]] = []

    def is_free(self, name: str) -> bool:
        return self.free[name] > 0

    def away_until(self, name: str) -> float | None:
        return self.until.get(name)

    def held_until(self, name: str) -> float | None:
        return self.held.get(name)

    def is_awaited(self, name: str) -> bool:
        return name in self.awaited

    def give_up(self, name: str) -> None:
        self.awaited.discard(name)
        self.given_up.append((name, trio.current_time()))


def matches_of(count: int, cycles: int = 1) -> tuple[PlannedMatch, ...]:
    return schedule(count, Format.ROUND_ROBIN, cycles, 2, PRESETS["base"])


def remote(*names: str) -> tuple[AnySpec, ...]:
    return tuple(RemoteSpec(name) for name in names)


def local(*names: str) -> tuple[AnySpec, ...]:
    return tuple(BotSpec(name, (name,)) for name in names)


async def begun_now(maker: Matchmaker) -> PlannedMatch | None:
    """What can begin without waiting for anybody."""
    with trio.move_on_after(0):
        return await maker.next()
    return None


async def test_matches_between_processes_begin_in_order_as_far_as_there_is_room() -> None:
    matches = matches_of(4)
    maker = Matchmaker(matches, local(*"abcd"), People(), 2)
    assert [await begun_now(maker) for _ in range(3)] == [matches[0], matches[1], None]
    maker.over(matches[1])
    assert await begun_now(maker) == matches[2]


async def test_matches_of_a_withdrawn_bot_begin_after_all_others_are_over() -> None:
    matches, withdrawn = matches_of(4), set[str]()
    maker = Matchmaker(matches, local(*"abcd"), People(), 2, withdrawn)
    others = [match for match in matches if 0 not in match.bots]
    first = await begun_now(maker)
    assert first is not None
    assert 0 in first.bots
    withdrawn.add("a")
    assert maker.forfeits_later("a")
    maker.over(first)
    assert [await begun_now(maker), await begun_now(maker)] == others[:2]
    maker.over(others[0])
    assert await begun_now(maker) == others[2]
    maker.over(others[1])
    assert await begun_now(maker) is None  # another match is being played
    assert maker.forfeits_later("a")
    maker.over(others[2])
    assert not maker.forfeits_later("a")
    left = [match for match in matches if 0 in match.bots and match != first]
    assert [await begun_now(maker), await begun_now(maker)] == left


async def test_so_do_those_against_bots_from_outside() -> None:
    matches = set(matches_of(4))
    maker = Matchmaker(matches_of(4), (*local("a", "b"), *remote("c", "d")), People(c=1, d=1), 3, {"a"})
    forfeits = {match for match in matches if 0 in match.bots}
    for match in [await maker.next() for _ in range(3)]:
        assert match in matches - forfeits
        assert await begun_now(maker) is None
        assert maker.forfeits_later("a")
        maker.over(match)
    assert not maker.forfeits_later("a")
    while (match := await maker.next()) is not None:
        forfeits.remove(match)
        maker.over(match)
    assert not forfeits


async def test_a_bot_from_outside_plays_when_both_are_there() -> None:
    (match,) = matches_of(2)
    people = People(a=1)
    maker = Matchmaker([match], remote("a", "b"), people, 1)
    assert await begun_now(maker) is None
    people.free["b"] = 1
    maker.came("b")
    assert await begun_now(maker) == match
    maker.over(match)
    assert await maker.next() is None


async def test_matches_among_bots_from_outside_take_no_room_here() -> None:
    people = People(a=3, b=3, c=3)
    maker = Matchmaker(matches_of(4), (*remote("a", "b", "c"), *local("d")), people, 1)
    begun: list[PlannedMatch] = []
    while (match := await begun_now(maker)) is not None:
        begun.append(match)
        for number in match.bots:
            people.free["abcd"[number]] -= 1
    with_ours = [match for match in begun if 3 in match.bots]
    assert (len(begun), len(with_ours)) == (4, 1)
    maker.over(with_ours[0])
    assert (await begun_now(maker) or begun[0]).bots[1] == 3  # the room goes to the next one who waits for it


async def test_a_match_that_waits_for_an_absent_bot_gives_its_place_back() -> None:
    people = People(a=1, b=1)
    matches = [match for match in matches_of(4) if match.bots in ((0, 2), (1, 3))]
    maker = Matchmaker(matches, (*remote("a", "b"), *local("c", "d")), people, 1)
    assert await begun_now(maker) == matches[0]
    people.free["ab"[matches[0].bots[0]]] = 0
    assert await begun_now(maker) is None
    away = "ab"[matches[0].bots[0]]
    people.awaited.add(away)
    maker.came(away)
    assert await begun_now(maker) == matches[1]


async def test_those_who_are_away_are_waited_for_until_nothing_else_is_left(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People(a=1, b=1)
    people.until["c"] = 50.0
    maker = Matchmaker(matches_of(3), remote("a", "b", "c"), people, 1)
    first = await maker.next()
    assert first is not None
    assert first.bots == (0, 1)
    people.free.clear()
    with trio.move_on_after(200):
        await maker.next()
        raise AssertionError("nobody is free, and one match runs")
    people.free.update(a=1, b=1)
    maker.over(first)
    late = await maker.next()  # its time was up long ago
    assert late is not None
    assert 2 in late.bots
    assert autojump_clock.current_time() >= 200


async def test_nobody_waits_longer_than_the_time_of_whoever_is_away(autojump_clock: trio.testing.MockClock) -> None:
    people = People(a=1)
    people.until["b"] = 50.0
    (match,) = matches_of(2)
    maker = Matchmaker([match], remote("a", "b"), people, 1)
    assert await maker.next() == match
    assert autojump_clock.current_time() == 50


async def test_two_who_are_away_lose_their_match_when_the_later_time_is_up(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People()
    people.until = {"a": 20.0, "b": 70.0}
    (match,) = matches_of(2)
    assert await Matchmaker([match], remote("a", "b"), people, 1).next() == match
    assert autojump_clock.current_time() == 70


async def forfeits(maker: Matchmaker, count: int) -> list[float]:
    """When the next matches begin, each of which is over at once."""
    times = []
    for _ in range(count):
        match = await maker.next()
        assert match is not None
        times.append(trio.current_time())
        maker.over(match)
    return times


async def test_a_bot_that_is_away_loses_a_match_each_grace_time_while_nothing_was_played(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People(a=1, b=1, c=1)
    people.until["d"] = 50.0
    matches = [match for match in matches_of(4) if 3 in match.bots]
    maker = Matchmaker(matches, remote(*"abcd"), people, 1)
    assert await forfeits(maker, 3) == [50, 50 + people.grace, 50 + 2 * people.grace]
    assert autojump_clock.current_time() == 50 + 2 * people.grace


async def test_matches_are_forfeited_at_the_pace_at_which_others_were_played(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People(a=1, b=1, c=1)
    people.until["d"] = 10.0
    maker = Matchmaker(matches_of(4), remote(*"abcd"), people, 1)
    for seconds in (20, 7, 3):  # the median is 7
        match = await maker.next()
        assert match is not None
        assert 3 not in match.bots
        await trio.sleep(seconds)
        maker.over(match)
    assert await forfeits(maker, 3) == [30, 37, 44]
    assert autojump_clock.current_time() == 44


@pytest.mark.parametrize(("took", "pace"), [(0.001, 1.0), (30.0, 30.0), (3600.0, 60.0)])
def test_forfeits_are_neither_a_burst_nor_endless(took: float, pace: float) -> None:
    """A match that takes a millisecond does not make them a burst, one that takes an hour does not make them a week."""
    measured = ForfeitPace(60.0)
    measured.played(took)
    assert measured.forfeit_seconds == pace


async def test_a_bot_that_left_in_a_match_is_waited_for_before_it_loses_the_next(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People(a=1, b=1, c=1)
    maker = Matchmaker(matches_of(3), remote(*"abc"), people, 1)
    match = await maker.next()
    assert match is not None
    await trio.sleep(100)
    for number in match.bots:  # both were lost, and their time ended with the match
        people.free["abc"[number]] = 0
        people.until["abc"[number]] = 90.0
    maker.over(match)
    assert await forfeits(maker, 1) == [100 + people.grace]
    assert autojump_clock.current_time() == 100 + people.grace


async def test_bots_that_could_play_something_else_wait_for_an_absent_one_only_for_a_moment(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """It loses the rest of the cycle at once, not at the pace of play."""
    people = People(a=1, b=1, c=1)
    people.until["d"], people.held["d"] = 60.0, 1.0
    maker = Matchmaker(matches_of(4), remote(*"abcd"), people, 1)
    for _ in range(3):
        match = await maker.next()
        assert match is not None
        assert 3 not in match.bots
        maker.over(match)
    assert await forfeits(maker, 3) == [1, 1, 1]
    assert await maker.next() is None
    assert autojump_clock.current_time() == 1


async def test_a_match_that_waits_for_an_absent_bot_is_given_up_if_all_else_is_played_and_others_wait(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People(a=1, b=1, c=1, d=1)
    matches = [match for match in matches_of(4) if match.bots in ((0, 1), (2, 3))]
    maker = Matchmaker(matches, remote(*"abcd"), people, 1)
    begun = [await maker.next(), await maker.next()]
    people.free.clear()
    people.until["a"], people.held["a"] = 60.0, 1.0
    people.awaited.add("a")
    maker.came("a")

    async def end(after: float, names: str) -> None:
        await trio.sleep(after)
        people.free.update(names)
        maker.over(next(match for match in begun if match is not None and match.bots == ((2, 3))))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end, 20.0, "cd")
        with trio.move_on_after(30):
            await maker.next()
    assert people.given_up == [("a", 20.0)]  # not earlier: until then the others had a match
    assert autojump_clock.current_time() == 30


async def test_nobody_is_dropped_while_the_others_have_nothing_else_to_play(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People(a=1)
    people.until["b"] = 60.0
    people.awaited.add("b")
    (match,) = matches_of(2)
    maker = Matchmaker([match], remote("a", "b"), people, 1)
    assert await forfeits(maker, 1) == [60]
    assert people.given_up == []
    assert autojump_clock.current_time() == 60


async def test_a_bot_that_was_dropped_plays_what_is_left_when_it_comes_back(
    autojump_clock: trio.testing.MockClock,
) -> None:
    people = People(a=1)
    people.until.update(b=60.0, c=60.0)
    people.held.update(b=1.0, c=5.0)
    maker = Matchmaker(matches_of(3), remote(*"abc"), people, 1)
    assert await forfeits(maker, 1) == [1]  # between a and b
    people.free["b"] = 1
    del people.until["b"], people.held["b"]
    maker.came("b")
    del people.until["c"], people.held["c"]
    people.free["c"] = 1
    maker.came("c")
    assert await forfeits(maker, 2) == [1, 1]
    assert autojump_clock.current_time() == 1


async def test_nothing_begins_any_more_once_it_is_closed() -> None:
    maker = Matchmaker(matches_of(3), local(*"abc"), People(), 1)
    maker.close()
    assert await maker.next() is None


async def test_whoever_waits_is_told_when_it_is_closed(autojump_clock: trio.testing.MockClock) -> None:
    maker = Matchmaker(matches_of(2), remote("a", "b"), People(), 1)
    results: list[PlannedMatch | None] = []

    async def wait() -> None:
        results.append(await maker.next())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(1)
        maker.close()
    assert results == [None]
    assert autojump_clock.current_time() < math.inf


@given(
    kinds=st.lists(st.booleans(), min_size=2, max_size=7),
    connections=st.integers(1, 3),
    room=st.integers(1, 3),
    cycles=st.integers(1, 2),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_every_match_is_begun_once_whoever_plays(
    kinds: list[bool], connections: int, room: int, cycles: int, order: random.Random
) -> None:
    names = [f"b{number}" for number in range(len(kinds))]
    bots = tuple(
        RemoteSpec(name) if outside else BotSpec(name, (name,)) for name, outside in zip(names, kinds, strict=True)
    )
    planned = matches_of(len(kinds), cycles)
    people = People(**dict.fromkeys(names, connections))
    begun: list[PlannedMatch] = []

    async def play() -> None:
        maker = Matchmaker(planned, bots, people, room)
        running: list[PlannedMatch] = []
        while True:
            match = await begun_now(maker)
            if match is not None:
                begun.append(match)
                running.append(match)
                for number in match.bots:
                    people.free[names[number]] -= kinds[number]
                    assert people.free[names[number]] >= 0
                assert sum(not all(kinds[number] for number in each.bots) for each in running) <= room
            elif running:
                over = running.pop(order.randrange(len(running)))
                for number in over.bots:
                    people.free[names[number]] += kinds[number]
                    if kinds[number]:
                        maker.came(names[number])
                maker.over(over)
            else:
                return

    trio.run(play)
    assert Counter(begun) == Counter(planned)
