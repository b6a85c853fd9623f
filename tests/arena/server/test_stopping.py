"""Servers that are stopped by signals."""

import os
import signal
from collections import Counter
from pathlib import Path

import trio

from protocol.messages import (
    Bye,
    Request,
)
from tests.helpers.visitors import (
    arrived,
    come_and_play,
    remote_bots,
    serving,
)

TWO = remote_bots("anna", "ben")


async def test_the_first_signal_lets_matches_end_and_the_tournament_can_go_on(tmp_path: Path) -> None:
    text = remote_bots("anna", "ben", "cleo", "dora")
    async with serving(tmp_path, text, rounds="10") as served, trio.open_nursery() as bots:
        for name in ("anna", "ben", "cleo", "dora"):
            bots.start_soon(come_and_play, served.address, name)
        await served.heard.wait("finished")
        os.kill(os.getpid(), signal.SIGTERM)
        await served.over.wait()
    first = served.verified()
    assert len(first) < 60
    per_match = Counter(line.match for line in first)
    assert set(per_match.values()) == {10}  # none was broken off
    async with serving(tmp_path, text, rounds="10") as served, trio.open_nursery() as bots:
        for name in ("anna", "ben", "cleo", "dora"):
            bots.start_soon(come_and_play, served.address, name)
        await served.over.wait()
    assert len(served.verified()) == 60


async def test_a_match_that_takes_too_long_to_end_is_broken_off(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with serving(tmp_path, TWO, drain="30", st="none") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        silent = await arrived(served.address, "anna")
        await silent.hear_until(Request)
        os.kill(os.getpid(), signal.SIGTERM)
        await served.over.wait()
        assert 30 <= autojump_clock.current_time() < 300
        assert (await silent.hear_until(Bye)).again
    assert served.verified() == []


async def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO, st="none") as served, trio.open_nursery() as bots:
        bots.start_soon(come_and_play, served.address, "ben")
        silent = await arrived(served.address, "anna")
        await silent.hear_until(Request)
        os.kill(os.getpid(), signal.SIGINT)
        await served.heard.wait("stopping")
        os.kill(os.getpid(), signal.SIGINT)
        await served.over.wait()
    assert served.verified() == []


async def test_a_signal_in_the_lobby_ends_the_server(tmp_path: Path) -> None:
    async with serving(tmp_path, TWO) as served:
        anna = await arrived(served.address, "anna")
        os.kill(os.getpid(), signal.SIGTERM)
        assert (await anna.hear_until(Bye)).again
        await served.over.wait()
