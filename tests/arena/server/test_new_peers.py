"""Strangers who have not said hello, or say it all the time: what they cannot take from the bots."""

import contextlib
import socket
from pathlib import Path

import pytest
import trio

from arena.match.audience import Scene, Sight
from arena.server.rates import place_of
from arena.server.spectators import Spectator, Spectators
from engine.cards import SEATS
from engine.deal import Deal
from engine.game import Game
from engine.ruleset import PRESETS
from protocol.messages import PROTOCOL, BotHello, Bye, Error, Watching, Welcome
from tests.helpers.visitors import ELSEWHERE, Visitor, arrived, connected, remote_bots, serving, token_of

TWO = remote_bots("anna", "ben")


async def is_welcome(address: str, name: str, session: str | None = None) -> Visitor:
    visitor = await arrived(address, name, session)
    assert visitor.kinds() == ["ServerHello", "Welcome"]
    return visitor


async def test_those_who_stay_silent_keep_nobody_out(tmp_path: Path) -> None:
    """Neither from another address nor from the same."""
    options = {"connections": "10", "per_address": "5", "hello": "1000"}
    async with serving(tmp_path, TWO, **options) as served:
        for source in (ELSEWHERE, "127.0.0.1"):
            for _ in range(20):
                await (await connected(served.address, source)).hear()
        await is_welcome(served.address, "anna")
        await is_welcome(served.address, "ben")


async def test_the_greediest_address_loses_its_oldest_when_all_places_of_new_peers_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.server.new_peers.WATCHED", 6)
    async with serving(tmp_path, TWO, hello="1000", per_address="3") as served:
        patient = await connected(served.address)
        await patient.hear()
        for source in (ELSEWHERE, "127.0.0.67", "127.0.0.68"):
            crowd = [await connected(served.address, source) for _ in range(20)]
            for visitor in crowd[-2:]:
                await visitor.hear()
            assert await crowd[0].hear_until_closed() == ["ServerHello"]
        await patient.say(BotHello(PROTOCOL, "anna", token=token_of("anna")))
        await patient.hear_until(Welcome)


async def test_as_many_as_an_address_may_have_can_come_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, per_address="700") as served:
        crowd = [await connected(served.address) for _ in range(700)]
        for visitor in crowd:
            await visitor.hear()  # and nobody is sent away before it could answer
        await crowd[0].say(BotHello(PROTOCOL, "anna", token=token_of("anna")))
        await crowd[0].hear_until(Welcome)


async def test_a_crowd_from_one_address_waits_behind_itself(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO, per_second="5") as served:
        for _ in range(50):
            await connected(served.address, ELSEWHERE)
        await is_welcome(served.address, "anna")
        assert autojump_clock.current_time() < 2  # and not the ten seconds that all the others take


async def test_a_hello_in_too_many_pieces_is_none(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(tmp_path, TWO, hello="1000") as served:
        visitor = await connected(served.address)
        await visitor.hear()
        for _ in range(70):
            with contextlib.suppress(trio.BrokenResourceError):  # it is closed already
                await visitor.stream.send_all(b"x")
                await trio.sleep(0.01)
        await visitor.hear_until_closed()
        assert autojump_clock.current_time() < 100


async def test_what_all_strangers_together_have_said_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.server.new_peers.HEARD", 3000)
    async with serving(tmp_path, TWO, hello="1000") as served:
        for _ in range(5):
            patient, talker = await connected(served.address, ELSEWHERE), await connected(served.address, ELSEWHERE)
            await patient.hear()
            await patient.stream.send_all(b"x" * 2000)
            await trio.testing.wait_all_tasks_blocked(0.02)
            await talker.hear()
            await talker.stream.send_all(b"x" * 2000)
            await talker.hear_until_closed()
            await patient.stream.aclose()  # what it said is forgotten
            await trio.testing.wait_all_tasks_blocked(0.02)
        await is_welcome(served.address, "anna")


async def test_a_bot_that_comes_again_and_again_waits_for_its_turn(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO) as served:
        session = None
        for _ in range(150):
            visitor = await is_welcome(served.address, "anna", session)
            session = visitor.heard[-1].session
            if autojump_clock.current_time() < 0.1:
                await is_welcome(served.address, "ben")  # meanwhile another one does not
        assert autojump_clock.current_time() >= 1.9
        here = [each for each in served.server.lobby.connections("anna") if not each.is_leaving]
        assert [each.session for each in here] == [session]


async def test_more_strangers_than_their_address_may_bring_get_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    assert autojump_clock.rate == 0
    monkeypatch.setattr("arena.server.door.TASKS_AT_ONCE", 3.0)
    monkeypatch.setattr("arena.server.door.TASKS", 0.001)
    async with serving(tmp_path, TWO) as served:
        answers = []
        for _ in range(6):
            stranger = await connected(served.address, ELSEWHERE)
            await stranger.hear()
            await stranger.stream.send_all(b"garbage\n")
            answers.append((await stranger.hear_until_closed())[1:])
        assert answers == [["Error", "Bye"]] * 3 + [[]] * 3
        await is_welcome(served.address, "anna")


async def test_a_flood_is_told_and_kept_out_by_the_kernel_until_it_ends(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    assert autojump_clock.rate == 0
    async with serving(tmp_path, TWO, per_address="5", per_second="1000") as served:
        host, _, port = served.address.rpartition(":")

        def knock(source: str) -> None:
            with socket.socket() as stranger:
                stranger.setblocking(False)
                stranger.bind((source, 0))
                stranger.connect_ex((host, int(port)))

        await is_welcome(served.address, "anna")
        for _ in range(30):
            knock(ELSEWHERE)
            knock("127.0.0.1")  # where anna is
        await trio.sleep(1)
        knock("127.0.0.1")
        assert await served.heard.wait("refused", "flood") == f"a flood of connections comes from {ELSEWHERE}"
        await is_welcome(served.address, "ben")
        await trio.sleep(2)
        await (await connected(served.address, ELSEWHERE)).hear()


# Watchers


async def watcher_of(address: str, source: str | None = None) -> Visitor:
    visitor = await connected(address, source)
    await visitor.hear()
    await visitor.say(BotHello(PROTOCOL, "watcher", watch=""))
    await visitor.hear()
    return visitor


async def test_one_address_cannot_have_all_places_of_watchers(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, watchers="3") as served:
        crowd = [await watcher_of(served.address, ELSEWHERE) for _ in range(4)]
        assert isinstance(crowd[3].heard[-1], Error)
        other = await watcher_of(served.address)
        assert isinstance(other.heard[-1], Watching)
        assert (await crowd[0].hear_until(Bye)).again
        again = await watcher_of(served.address)
        assert isinstance(again.heard[-1], Error)  # that would be greedy itself


def spectators_with(count: int) -> tuple[Spectators, list[Spectator]]:
    spectators = Spectators("", 0.0, False, count)
    watchers = [Spectator("1.1-2", 0.0) for _ in range(count)]
    spectators.watchers += watchers
    return spectators, watchers


SCENE = Scene("1.1-2", 1, "base", ("anna", "ben"), 0, (0, 0))


def first_sight() -> Sight:
    rules = PRESETS["base"]
    return Sight(Game.new(rules, Deal.from_seed("7", rules.tactics), SEATS[0]), [], None)


async def test_a_picture_is_encoded_once_for_all_watchers(mock_clock: trio.testing.MockClock) -> None:
    assert mock_clock.rate == 0
    spectators, watchers = spectators_with(5)
    spectators.look(SCENE, first_sight())
    lines = [(await watcher.next())[0] for watcher in watchers]
    assert lines[0].startswith(b'{"type":"position"')
    assert len({id(line) for line in lines}) == 1


@pytest.mark.parametrize(("count", "pictures"), [(1, 200), (15, 200), (100, 30)])
async def test_the_more_watch_the_fewer_pictures_each_gets(
    mock_clock: trio.testing.MockClock, count: int, pictures: int
) -> None:
    spectators, watchers = spectators_with(count)
    sight, seen = first_sight(), 0
    for _ in range(10_000):  # ten seconds
        spectators.look(SCENE, sight)
        mock_clock.jump(0.001)
        with trio.move_on_after(0):  # there may be none
            seen += (await watchers[0].next())[0].count(b"\n")
    assert seen == pytest.approx(pictures, rel=0.05)


def test_the_places_of_the_tests_are_two() -> None:
    assert place_of(ELSEWHERE) != place_of("127.0.0.1")
