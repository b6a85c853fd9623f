"""Match jobs without a tournament: a desk that keeps what is reported."""

from arena.bots.wants import Logic
from arena.journal.lines import RoundLine, VoidLine
from arena.plan.config import Config
from arena.tournament.ledger import planned_matches
from arena.worker.job import Finished, MatchJob, Report, SoFar, Standing, Voided
from arena.worker.job_play import JobPlay
from engine.scoring import Score
from tests.helpers.drivers import KEY, Driver, RunLogic, players_of


class Desk:
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
        return [report.line for report in self.reports if isinstance(report, Finished)]

    @property
    def voids(self) -> list[VoidLine]:
        return [report.line for report in self.reports if isinstance(report, Voided)]


def job_of(config: Config) -> MatchJob:
    planned = planned_matches(config)[0]
    one, two = config.bots
    so_far = SoFar(Score(config.rules, planned.first))
    return MatchJob(planned, config.rules, (one, two), KEY, 0, so_far, Standing(), max_faults=3, max_voids=20)


def play_job(run: RunLogic[None], job: MatchJob, desk: Desk, config: Config) -> Desk:
    def logic(driver: Driver) -> Logic[None]:
        return JobPlay(job, players_of(config, driver), driver.stalls, desk).play()

    run(logic)
    return desk
