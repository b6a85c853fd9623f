"""Match jobs, played by both drivers: what is reported, and what happens when the arena itself fails."""

import pytest
from msgspec.structs import replace

from arena.bots.conversation import Conversation
from arena.journal.lines import outcome_of
from arena.tournament.ledger import planned_matches
from arena.worker.job import BotIdentified, DealExposed, RoundFinished, RoundStarted, SoFar
from engine.cards import SEATS
from engine.scoring import Score
from protocol.messages import EncodedRequest, Message
from tests.helpers.drivers import KEY, RunLogic, both_drivers
from tests.helpers.jobs import KeepingOwner, job_of, play_job
from tests.helpers.tournaments import configured, steady


@both_drivers
def test_a_round_is_reported_when_it_begins_when_its_deal_is_shown_and_when_it_is_over(run: RunLogic[None]) -> None:
    config = configured(steady("a"), steady("b"))
    owner = play_job(run, job_of(config), KeepingOwner(), config)
    assert [type(report) for report in owner.reports] == [
        *(RoundStarted, BotIdentified, BotIdentified, DealExposed, RoundFinished),
        *(RoundStarted, DealExposed, RoundFinished),  # the same players
    ]
    assert [line.id for line in owner.rounds] == ["1.1-2.1", "1.1-2.2"]


@both_drivers
@pytest.mark.parametrize("rules", ["base", "classic"])  # in classic the winner begins, so the score matters
def test_a_job_goes_on_after_what_is_played(run: RunLogic[None], rules: str) -> None:
    config = configured(steady("a"), steady("b"), rounds="4", rules=rules)
    job = job_of(config)
    whole = play_job(run, job, KeepingOwner(), config).rounds
    score = Score(config.rules, job.planned.first)
    for line in whole[:2]:
        score = score.begun_by(SEATS[line.first]).after(outcome_of(line.result))
    finished = frozenset(line.id for line in whole[:2])
    rest = play_job(run, replace(job, so_far=SoFar(score, finished)), KeepingOwner(), config).rounds
    assert [(line.id, line.first, line.deck, line.result) for line in rest] == [
        (line.id, line.first, line.deck, line.result) for line in whole[2:]
    ]


@both_drivers
def test_our_own_failure_makes_a_round_void_and_it_is_played_again_with_another_deal(
    run: RunLogic[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = Conversation.line_for, iter(range(10**9))

    def line_for(self: Conversation, message: Message | EncodedRequest) -> bytes:
        if isinstance(message, EncodedRequest) and next(calls) == 5:
            raise ZeroDivisionError("our own bug")
        return real(self, message)

    monkeypatch.setattr(Conversation, "line_for", line_for)
    config = configured(steady("a"), steady("b"))
    owner = play_job(run, job_of(config), KeepingOwner(), config)
    assert [line.id for line in owner.voids] == ["1.1-2.1"]
    assert "ZeroDivisionError: our own bug" in owner.voids[0].reason
    one, two = planned_matches(config)[0].rounds
    seeds = [KEY.seed(one.id, voids=1, resumes=0), KEY.seed(two.id, voids=0, resumes=0)]
    assert [line.seed for line in owner.rounds] == seeds


@both_drivers
def test_a_withdrawn_bot_forfeits_without_being_started(run: RunLogic[None]) -> None:
    config = configured(steady("a"), steady("b"))
    owner = play_job(run, job_of(config), KeepingOwner(withdrawn="a"), config)
    assert [type(report) for report in owner.reports] == [RoundFinished] * 2
    for line in owner.rounds:
        assert line.fault is not None
        assert (line.fault.seat, line.fault.detail) == (0, "withdrawn after 3 faults in a row")
