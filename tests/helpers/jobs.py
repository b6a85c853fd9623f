"""Match jobs without workers: with an owner that keeps what is reported, or in a tournament of this process."""

from collections.abc import Callable
from typing import Any

import pytest
import trio

from arena.bots.player import LocalPlayer
from arena.bots.trio_driver import TrioProcesses, driven
from arena.bots.wants import Logic
from arena.bots.watchdog import Watchdog
from arena.journal.lines import RoundLine, VoidLine
from arena.plan.config import Config
from arena.tournament.ledger import planned_matches
from arena.tournament.play_here import OwnerLogic
from arena.tournament.runner import Tournament
from arena.tournament.worker_pool import WorkerPool
from arena.worker.job import MatchJob, Report, RoundFinished, RoundVoid, Rulings, SoFar
from arena.worker.job_play import JobPlay
from engine.scoring import Score
from tests.helpers.drivers import KEY, Driver, RunLogic, players_of


class KeepingOwner:
    """Keeps all reports."""

    def __init__(self, withdrawn: str = "") -> None:
        self.reports: list[Report] = []
        self._withdrawn = withdrawn

    def report(self, report: Report) -> Logic[None]:
        self.reports.append(report)
        yield from ()

    def warn(self, text: str) -> None:
        raise AssertionError(text)

    def is_withdrawn(self, name: str) -> bool:
        return name == self._withdrawn

    def may_excuse(self, name: str) -> bool:
        raise AssertionError(name)

    @property
    def rounds(self) -> list[RoundLine]:
        lines = [report.line for report in self.reports if isinstance(report, RoundFinished)]
        return [line for line in lines if isinstance(line, RoundLine)]

    @property
    def voids(self) -> list[VoidLine]:
        return [report.line for report in self.reports if isinstance(report, RoundVoid)]


def job_of(config: Config) -> MatchJob:
    planned = planned_matches(config)[0]
    one, two = config.bots
    so_far = SoFar(Score(config.rules, planned.first))
    return MatchJob(planned, config.rules, (one, two), KEY, 0, so_far, Rulings(), max_faults=3)


def play_job(run: RunLogic[None], job: MatchJob, owner: KeepingOwner, config: Config) -> KeepingOwner:
    def logic(driver: Driver) -> Logic[None]:
        return JobPlay(job, players_of(config, driver), driver.stalls, owner).play()

    run(logic)
    return owner


def play_in_this_process(patched: pytest.MonkeyPatch, watchdog: type[Watchdog] = Watchdog) -> list[Tournament]:
    """Have tournaments play all matches here, where a test can reach them. Returns the tournaments that are made."""
    made, tournaments = Tournament.__init__, list[Tournament]()

    def init(tournament: Tournament, *args: Any, **kwargs: Any) -> None:
        made(tournament, *args, **kwargs)
        tournaments.append(tournament)

    async def play(_: WorkerPool, make: Callable[[], MatchJob]) -> None:
        job, watch = make(), watchdog()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch.run)
            bots = [bot.program for bot in job.bots if bot.program is not None]
            one, two = (LocalPlayer(bot, TrioProcesses(nursery), lambda _: None) for bot in bots)
            await driven(JobPlay(job, (one, two), watch, OwnerLogic(tournaments[-1])).play(), watch)
            await driven(one.leave())
            await driven(two.leave())
            nursery.cancel_scope.cancel()

    patched.setattr(Tournament, "__init__", init)
    patched.setattr(WorkerPool, "play", play)
    return tournaments
