"""Signals that request an orderly stop."""

import signal
from collections.abc import Iterator

import pytest
import trio

from arena.support.signals import calling_on_signals


@pytest.fixture
def hangups() -> Iterator[None]:
    before = signal.getsignal(signal.SIGHUP)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangups")
@pytest.mark.parametrize(("before", "stops"), [(signal.SIG_DFL, 2), (signal.SIG_IGN, 1)])
async def test_a_hangup_stops_unless_it_was_ignored_from_the_start(before: signal.Handlers, stops: int) -> None:
    signal.signal(signal.SIGHUP, before)
    heard = []
    async with calling_on_signals(lambda: heard.append("a signal")):
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        with trio.fail_after(30):
            while len(heard) < stops:
                await trio.sleep(0.001)
        await trio.testing.wait_all_tasks_blocked()
    assert len(heard) == stops
