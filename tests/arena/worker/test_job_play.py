"""Match jobs, played by both drivers: what is reported, and what happens when the arena itself fails."""

import attrs
import pytest

from arena.bots.wants import Logic
from arena.journal.lines import RoundLine, VoidLine, outcome_of
from arena.match.referee import Referee
from arena.plan.config import Config
from arena.tournament.ledger import planned_matches
from arena.worker.job import Finished, MatchJob, Report, Shown, SoFar, Standing, Started, Voided
from arena.worker.job_play import JobPlay
from engine.cards import SEATS
from engine.scoring import Score
from tests.helpers.drivers import KEY, Driver, RunLogic, both_drivers, players_of
from tests.helpers.tournaments import configured, steady


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


def play(run: RunLogic[None], job: MatchJob, desk: Desk, config: Config) -> Desk:
    def logic(driver: Driver) -> Logic[None]:
        return JobPlay(job, players_of(config, driver), driver.stalls, desk).play()

    run(logic)
    return desk


@both_drivers
def test_a_round_is_reported_when_it_begins_when_its_deal_is_shown_and_when_it_is_over(run: RunLogic[None]) -> None:
    config = configured(steady("a"), steady("b"))
    desk = play(run, job_of(config), Desk(), config)
    assert [type(report) for report in desk.reports] == [Started, Shown, Finished] * 2
    assert [line.id for line in desk.rounds] == ["1.1-2.1", "1.1-2.2"]


@both_drivers
@pytest.mark.parametrize("rules", ["base", "classic"])  # in classic the winner begins, so the score matters
def test_a_job_goes_on_after_what_is_played(run: RunLogic[None], rules: str) -> None:
    config = configured(steady("a"), steady("b"), rounds="4", rules=rules)
    job = job_of(config)
    whole = play(run, job, Desk(), config).rounds
    score = Score(config.rules, job.planned.first)
    for line in whole[:2]:
        score = score.begun_by(SEATS[line.first]).after(outcome_of(line.result))
    finished = frozenset(line.id for line in whole[:2])
    rest = play(run, attrs.evolve(job, so_far=SoFar(score, finished)), Desk(), config).rounds
    assert [(line.id, line.first, line.deck, line.result) for line in rest] == [
        (line.id, line.first, line.deck, line.result) for line in whole[2:]
    ]


@both_drivers
def test_our_own_failure_makes_a_round_void_and_it_is_played_again_with_another_deal(
    run: RunLogic[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = Referee.request, iter(range(10**9))

    def request(self: Referee, *arguments: object, **named: object) -> object:
        if next(calls) == 5:
            raise ZeroDivisionError("our own bug")
        return real(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Referee, "request", request)
    config = configured(steady("a"), steady("b"))
    desk = play(run, job_of(config), Desk(), config)
    assert [line.id for line in desk.voids] == ["1.1-2.1"]
    assert "ZeroDivisionError: our own bug" in desk.voids[0].reason
    one, two = planned_matches(config)[0].rounds
    seeds = [KEY.seed(one.id, voids=1, resumes=0), KEY.seed(two.id, voids=0, resumes=0)]
    assert [line.seed for line in desk.rounds] == seeds


@both_drivers
def test_a_withdrawn_bot_forfeits_without_being_started(run: RunLogic[None]) -> None:
    config = configured(steady("a"), steady("b"))
    desk = play(run, job_of(config), Desk(withdrawn="a"), config)
    assert [type(report) for report in desk.reports] == [Finished] * 2
    for line in desk.rounds:
        assert line.fault is not None
        assert (line.fault.seat, line.fault.detail) == (0, "withdrawn after 3 faults in a row")
