"""When a tournament begins, and bots that are not there by then."""

import time
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest
import trio

from arena.server.wall_clock import wait_until
from tests.helpers.visitors import (
    come_and_play,
    configured,
    remote_bots,
    serving,
    trio_time,
)

TWO = remote_bots("anna", "ben")


async def test_a_tournament_begins_at_its_time_and_late_bots_play_what_is_left(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    soon = "2020-01-01T00:00"  # long ago: at once
    text = remote_bots("anna", "ben", "cleo")
    async with serving(tmp_path, text, begin=soon, grace="10000") as served, trio.open_nursery() as bots:
        await served.heard.wait("begins")
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.heard.wait("finished", "1.1-2.2")
        bots.start_soon(come_and_play, served.address, "cleo")
        await served.over.wait()
    assert autojump_clock.current_time() < 10000
    assert all(line.fault is None for line in served.verified())


class SetClock:
    """A wall clock that somebody sets, or that goes on while the machine is suspended."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return trio_time() + self.ahead


async def test_a_moment_comes_when_the_wall_clock_shows_it_however_it_was_set(
    autojump_clock: trio.testing.MockClock,
) -> None:
    clock = SetClock()
    began = []

    async def wait(name: str, moment: datetime) -> None:
        await wait_until(moment, clock)
        began.append((name, autojump_clock.current_time()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "before the suspension ends", trio_time() + timedelta(seconds=3600))
        nursery.start_soon(wait, "after it was set back", trio_time() + timedelta(seconds=9000))
        await trio.sleep(100)
        clock.ahead = timedelta(seconds=5000)  # the machine slept
        await trio.sleep(100)
        clock.ahead = timedelta(seconds=-1000)
    assert [name for name, _ in began] == ["before the suspension ends", "after it was set back"]
    assert 100 <= began[0][1] <= 101
    assert 10_000 <= began[1][1] <= 10_001


def test_a_time_of_day_is_meant_in_the_offset_that_holds_on_its_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the night after this evening the clocks are set forward by an hour."""

    class Evening(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Evening":
            return cls(2026, 3, 28, 21, 0, tzinfo=tz)

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        monkeypatch.setattr("arena.plan.option_readers.datetime", Evening)
        _, today = configured(tmp_path, TWO, begin="22:30")
        _, tomorrow = configured(tmp_path, TWO, begin="20:30")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert isinstance(today.begin, datetime)
    assert isinstance(tomorrow.begin, datetime)
    assert today.begin.astimezone(UTC) == datetime(2026, 3, 28, 21, 30, tzinfo=UTC)
    assert tomorrow.begin.astimezone(UTC) == datetime(2026, 3, 29, 18, 30, tzinfo=UTC)


async def test_a_tournament_begins_when_the_wall_clock_says_so(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    clock = SetClock()
    begin = (trio_time() + timedelta(hours=9)).isoformat()
    async with serving(tmp_path, TWO, clock, begin=begin) as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await trio.sleep(100)
        assert not served.heard.texts("begins")
        clock.ahead = timedelta(hours=9)
        await served.heard.wait("begins")
        assert autojump_clock.current_time() < 200
        await served.over.wait()


async def test_an_absent_bot_forfeits_after_the_grace_time_when_all_else_is_played(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    text = remote_bots("anna", "ben", "cleo")
    async with serving(tmp_path, text, begin="2020-01-01T00:00", grace="100") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "anna")
        bots.start_soon(come_and_play, served.address, "ben")
        await served.over.wait()
        assert autojump_clock.current_time() >= 100
    rounds = served.verified()
    assert [line.fault is None for line in rounds[:2]] == [True, True]
    assert {line.result.ending for line in rounds[2:]} == {"failed-to-start"}
    assert all(line.bots[line.result.winner or 0] != "cleo" for line in rounds[2:])


async def test_a_bot_that_is_a_second_later_than_the_grace_time_has_lost_one_match(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    others = ("anna", "ben", "cleo", "dora")
    options = {"begin": "2020-01-01T00:00", "grace": "100"}
    async with serving(tmp_path, remote_bots(*others, "late"), **options) as served, trio.open_nursery() as bots:
        for name in others:
            bots.start_soon(come_and_play, served.address, name)
        await trio.sleep(100.5)
        bots.start_soon(come_and_play, served.address, "late")
        await served.over.wait()
        assert autojump_clock.current_time() < 200
    lost = {line.match for line in served.verified() if line.fault is not None}
    assert len(lost) == 1
