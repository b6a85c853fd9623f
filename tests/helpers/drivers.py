"""Both drivers of the same logic, for tests that hold for both."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pytest
import trio

from arena.bots.player import LocalPlayer, Processes
from arena.bots.polled_driver import polled
from arena.bots.polled_process import PolledProcesses
from arena.bots.trio_driver import TrioProcesses, driven
from arena.bots.wants import Await, Logic
from arena.bots.watchdog import Watchdog
from arena.match.match import Match, PlayedRound
from arena.plan.config import Config
from arena.plan.deals import DealKey
from arena.support.poll_loop import waiting_for
from arena.support.timekeeping import Stalls
from arena.tournament.ledger import planned_matches
from engine.cards import SEATS
from engine.scoring import Score

T = TypeVar("T")
KEY = DealKey("7", is_public=True)


class Driver:
    """What a test may use besides the wants: processes, stalls, and a pause."""

    processes: Processes
    stalls: Stalls

    def pause(self, seconds: float) -> Logic[None]:
        raise NotImplementedError


class TrioDriver(Driver):
    def __init__(self, nursery: trio.Nursery, watch: Watchdog):
        self.processes, self.stalls = TrioProcesses(nursery), watch

    def pause(self, seconds: float) -> Logic[None]:
        yield Await(partial(trio.sleep, seconds))


class PolledDriver(Driver):
    def __init__(self, processes: PolledProcesses):
        self.processes, self.stalls, self._loop = processes, processes.loop.stalls, processes.loop

    def pause(self, seconds: float) -> Logic[None]:
        yield from waiting_for(self._loop.signal(), self._loop.now() + seconds)


Make = Callable[[Driver], Logic[T]]
RunLogic = Callable[[Make[T]], T]


def run_by_trio(make: Make[T]) -> T:
    return trio.run(_run_by_trio, make)


async def _run_by_trio(make: Make[T]) -> T:
    watch = Watchdog()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        result = await driven(make(TrioDriver(nursery, watch)), watch)
        nursery.cancel_scope.cancel()
    return result


def run_by_polling(make: Make[T]) -> T:
    with PolledProcesses() as processes:
        return processes.loop.run(polled(make(PolledDriver(processes)), processes.loop))


both_drivers = pytest.mark.parametrize("run", [run_by_trio, run_by_polling])


def players_of(config: Config, driver: Driver) -> tuple[LocalPlayer, LocalPlayer]:
    one, two = config.programs
    return LocalPlayer(one, driver.processes, lambda _: None), LocalPlayer(two, driver.processes, lambda _: None)


def match_of(
    config: Config, players: tuple[LocalPlayer, LocalPlayer], stalls: Stalls, *, may_excuse: bool = False
) -> Match:
    """The first match of the tournament."""
    planned = planned_matches(config)[0]
    return Match(planned, config.rules, players, stalls, lambda *_: None, lambda _: may_excuse)


def first_round(match: Match, config: Config) -> Logic[PlayedRound]:
    planned = match.planned.rounds[0]
    score = Score(config.rules, SEATS[0])
    return match.play_round(planned, score, KEY.deal(planned, config.rules), "now")


def whole_match(
    match: Match, config: Config, tell: Callable[[PlayedRound], None] = lambda _: None
) -> Logic[list[PlayedRound]]:
    """All rounds of a match; `tell` is called with each as soon as it is over."""
    score, rounds = Score(config.rules, match.planned.first), []
    for planned in match.planned.rounds:
        score = score.begun_by(planned.first)
        rounds.append((yield from match.play_round(planned, score, KEY.deal(planned, config.rules), "now")))
        tell(rounds[-1])
        outcome = rounds[-1].referee.outcome
        assert outcome is not None
        score = score.after(outcome)
    yield from match.conclude(score)
    return rounds
