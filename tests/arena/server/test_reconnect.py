"""Bots that lose their connection: the open request, the time away, the connection that replaces the lost one."""

from pathlib import Path

import trio

from protocol.messages import (
    BotAction,
    Request,
    RoundStart,
    Welcome,
)
from tests.helpers.visitors import (
    arrived,
    come_and_play,
    first_move,
    play,
    remote_bots,
    serving,
)

TWO = remote_bots("anna", "ben")


async def test_a_bot_that_loses_its_connection_gets_the_open_request_again(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        asked = [await anna.hear_until(Request)]
        await anna.say(BotAction(asked[0].id, first_move(asked[0])))
        asked.append(await anna.hear_until(Request))
        begun = next(message for message in anna.heard if isinstance(message, RoundStart))
        await anna.stream.aclose()
        again = await arrived(served.address, "anna")
        request = await again.hear_until(Request)
        assert again.kinds() == ["ServerHello", "Welcome", "MatchStart", "RoundStart", "Request"]
        assert again.heard[3] == begun
        assert begun.seed is not None  # the same one as before
        assert again.heard[1].seed is None  # it is welcome for any round
        assert request == asked[1]
        await again.say(BotAction(request.id, first_move(request)))
        bots.start_soon(play, again)
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_an_answer_that_is_cut_off_by_a_lost_connection_is_asked_for_again(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        await anna.stream.send_all(b'{"type":"action","id":1,"mo')
        await anna.stream.aclose()
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())


async def test_a_bot_that_does_not_come_back_loses_the_round_as_disconnected(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO, grace="5", st="10000", max_faults="0") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        await anna.stream.aclose()
        await served.over.wait()
        assert 5 <= autojump_clock.current_time() < 5000
    first, second = served.verified()
    assert first.fault is not None
    assert first.result.ending == "disconnected"
    assert "did not reconnect within 5 seconds" in first.fault.detail
    assert second.result.ending == "failed-to-start"  # nobody waits a second time


async def test_being_away_does_not_withdraw_a_bot(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    assert autojump_clock.rate == 0
    options = {"grace": "5", "st": "10000", "rounds": "6", "max_faults": "2", "begin": "2020-01-01T00:00"}
    async with serving(tmp_path, remote_bots("anna", "ben", "cleo"), **options) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        await anna.stream.aclose()
        await served.heard.wait("finished", "1.1-2.6")
        bots.cancel_scope.cancel()
    assert served.heard.texts("withdrawn") == []
    assert {line.result.ending for line in served.verified()} == {"disconnected", "failed-to-start"}


async def test_the_time_away_runs_on_the_bots_own_clock(tmp_path: Path, autojump_clock: trio.testing.MockClock) -> None:
    async with serving(tmp_path, TWO, grace="10000", st="3") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        await anna.hear_until(Request)
        lost = autojump_clock.current_time()
        await anna.stream.aclose()
        await served.heard.wait("finished")
        assert autojump_clock.current_time() - lost < 5000
        bots.start_soon(come_and_play, served.address, "anna")
        await served.over.wait()
    first, second = served.verified()
    assert first.fault is not None
    assert first.result.ending == "disconnected"
    assert "time ran out" in first.fault.detail
    assert second.fault is None


async def test_time_that_was_lost_with_a_connection_is_in_the_log(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    assert autojump_clock.rate == 0
    async with serving(tmp_path, TWO, tc="6000+0") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        anna = await arrived(served.address, "anna")
        seat = (await anna.hear_until(RoundStart)).seat
        await anna.hear_until(Request)
        await anna.stream.aclose()
        await trio.sleep(7)
        again = await arrived(served.address, "anna")
        request = await again.hear_until(Request)
        await again.say(BotAction(request.id, first_move(request)))
        next_request = await again.hear_until(Request)
        assert next_request.clock.bank_ms is not None
        assert next_request.clock.bank_ms <= 5_993_000
        await again.say(BotAction(next_request.id, first_move(next_request)))
        bots.start_soon(play, again)
        await served.over.wait()
    first = next(line for line in served.verified() if line.round == 1)
    assert next(ms for who, _, ms in first.moves if who == seat and ms is not None) >= 7000


async def test_a_connection_that_only_looks_alive_is_replaced_by_its_successor(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        dead = await arrived(served.address, "anna")
        request = await dead.hear_until(Request)
        session = next(message.session for message in dead.heard if isinstance(message, Welcome))
        again = await arrived(served.address, "anna", session)  # the old one is still open
        assert await again.hear_until(Request) == request
        assert await dead.hear() is None
        await again.say(BotAction(request.id, first_move(request)))
        bots.start_soon(play, again)
        await served.over.wait()
    assert all(line.fault is None for line in served.verified())
