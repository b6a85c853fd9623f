"""Watchers: what they see, when, and what they cannot do."""

import re
from pathlib import Path

import pytest
import trio

from protocol.messages import (
    PROTOCOL,
    BotAction,
    BotHello,
    Bye,
    Error,
    Request,
    WatchedPosition,
    WatchedResult,
    Watching,
)
from tests.helpers.visitors import (
    Visitor,
    arrived,
    come_and_play,
    connected,
    first_move,
    remote_bots,
    serving,
)

TWO = remote_bots("anna", "ben")


async def watcher_of(address: str, match: str = "") -> Visitor:
    visitor = await connected(address)
    await visitor.hear()
    await visitor.say(BotHello(PROTOCOL, "watcher", watch=match))
    await visitor.hear()
    return visitor


async def seen(visitor: Visitor) -> list[WatchedPosition | WatchedResult]:
    while await visitor.hear() is not None:
        pass
    return [message for message in visitor.heard if isinstance(message, WatchedPosition | WatchedResult)]


LOCAL = '[[bot]]\nname = "carl"\ncmd = "random"\n[[bot]]\nname = "dora"\ncmd = "greedy"\n'


@pytest.mark.parametrize(("more", "match"), [("", "1.1-2"), (LOCAL, "1.3-4")])  # bots that connect, and local ones
async def test_whoever_watches_sees_rounds_and_results_but_no_secret(tmp_path: Path, more: str, match: str) -> None:
    async with serving(tmp_path, TWO + more, rules="tactics", rounds="4") as served, trio.open_nursery() as bots:
        watcher = await watcher_of(served.address, match)
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        messages = await seen(watcher)
        await served.over.wait()
    assert watcher.heard[1] == Watching("", 0, hands=False)
    results = [message for message in messages if isinstance(message, WatchedResult)]
    played = [line for line in served.verified() if line.match == match]
    assert len(played) == 4
    assert [(each.round, each.winner, each.points) for each in results] == [
        (line.round, line.result.winner, line.result.points) for line in played
    ]
    positions = [message for message in messages if isinstance(message, WatchedPosition)]
    assert positions
    for position in positions:
        assert {card for hand in position.hands for card in hand} <= {"clan", "tactic"}
        assert not re.search(r"return [roygbp]\d", position.move or "")
    for line in played:  # the last picture of a round is never left out
        last = [each for each in positions if each.round == line.round][-1]
        assert last.number == len(line.moves)
        assert tuple(stone.owner for stone in last.stones) == line.result.owners


async def test_whoever_comes_in_the_middle_of_a_match_between_local_bots_sees_the_rest(tmp_path: Path) -> None:
    """At the latest after a beat, the worker knows that somebody watches."""
    async with serving(tmp_path, TWO + LOCAL, rounds="2000") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.heard.wait("finished", "1.3-4.")
        watcher = await watcher_of(served.address, "1.3-4")
        with trio.fail_after(60):
            shown = await watcher.hear()
        assert isinstance(shown, WatchedPosition | WatchedResult)
        assert shown.bots == ("carl", "dora")
        bots.cancel_scope.cancel()


async def test_hands_are_shown_where_the_server_allows(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, show_hands="true") as served, trio.open_nursery() as bots:
        watcher = await watcher_of(served.address)
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        messages = await seen(watcher)
        await served.over.wait()
    first = next(message for message in messages if isinstance(message, WatchedPosition))
    assert all(re.fullmatch(r"[roygbp]\d", card) for hand in first.hands for card in hand)


async def test_a_delay_keeps_watchers_behind(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(tmp_path, TWO, watch_delay="20", st="none", grace="100000") as served:
        watcher = await watcher_of(served.address)
        async with trio.open_nursery() as bots:
            bots.start_soon(come_and_play, served.address, "ben")
            anna = await arrived(served.address, "anna")
            request = await anna.hear_until(Request)
            await anna.say(BotAction(request.id, first_move(request)))
            moved = autojump_clock.current_time()
            await watcher.hear_until(WatchedPosition)
            assert autojump_clock.current_time() >= moved + 19
            bots.cancel_scope.cancel()


async def test_a_watcher_who_does_not_read_slows_nobody_and_others_are_not_let_in(tmp_path: Path) -> None:
    options = {"watchers": "1", "rounds": "20", "unread": "8K"}
    async with serving(tmp_path, TWO, **options) as served, trio.open_nursery() as bots:
        deaf = await watcher_of(served.address)
        late = await connected(served.address)
        await late.hear()
        await late.say(BotHello(PROTOCOL, "watcher", watch=""))
        assert (await late.hear_until(Error)).code == "full"
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.heard.wait("finished", "1.1-2.20")
        await deaf.stream.aclose()
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_a_watcher_has_nothing_to_say(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        watcher = await watcher_of(served.address)
        await watcher.stream.send_all(b'{"type":"action","id":1,"move":"pass"}\n')
        assert (await watcher.hear_until(Error)).fatal
        await watcher.hear_until(Bye)
