"""The referee of a recorded round that plays the recorded moves, whatever the bot answers; and its clock."""

import random

import pytest

from arena.journal.endings import Fault
from arena.match.led_round import LedAnswer, LedReferee, RecordedClock, RecordedMove
from arena.match.referee import Referee
from arena.plan.round_clock import RoundClock
from arena.plan.time_control import TimeLimits
from engine.cards import SEATS, Seat
from engine.deal import Deal
from engine.ruleset import PRESETS

RULES = PRESETS["tactics"]
DEAL = Deal.from_seed("led", RULES.tactics)


def fresh() -> Referee:
    return Referee(RULES, DEAL, SEATS[0])


def recorded(most: int = 10**6) -> tuple[RecordedMove, ...]:
    """The moves of a round, up to a decision after at least `most` of them."""
    referee, rng = fresh(), random.Random(3)
    while (ask := referee.ask()) and len(referee.moves) < most:
        referee.answer(rng.choice(ask.legal).text, rng.randrange(1, 90))
    return tuple(RecordedMove(*move) for move in referee.moves)


def led(
    moves: tuple[RecordedMove, ...], seat: Seat, *, last: bool = False, goes_on: bool = False, start: int = 0
) -> tuple[LedReferee, list[LedAnswer]]:
    answers: list[LedAnswer] = []
    referee = LedReferee(fresh(), seat, moves, answers.append, asks_last=last, goes_on=goes_on, start=start)
    return referee, answers


@pytest.mark.parametrize("seat", SEATS)
def test_one_seat_is_asked_for_each_of_its_decisions_and_the_recorded_moves_are_played(seat: Seat) -> None:
    moves = recorded()
    referee, answers = led(moves, seat)
    while ask := referee.ask():
        assert ask.seat == seat
        assert ask == referee.ask()  # until it is answered
        referee.answer(ask.legal[-1].text, 5)
    asked = [at for at, move in enumerate(moves) if move.seat == seat and move.ms is not None]
    assert [answer.position for answer in answers] == asked
    assert [answer.recorded for answer in answers] == [moves[at].text for at in asked]
    assert any(answer.move != answer.recorded for answer in answers)
    assert all(answer.fault is None for answer in answers)


def test_the_decision_after_the_last_move_is_asked_only_if_it_is_wanted() -> None:
    moves = recorded(21)
    for last in (False, True):
        referee, answers = led(moves, to_move_after(moves), last=last)
        while question := referee.ask():
            referee.answer(question.legal[0].text, 0)
        assert (answers[-1].position == len(moves), answers[-1].recorded is None) == (last, last)


def to_move_after(moves: tuple[RecordedMove, ...]) -> Seat:
    referee = fresh()
    while (ask := referee.ask()) and len(referee.moves) < len(moves):
        referee.answer(moves[len(referee.moves)].text, 0)
    assert ask is not None
    return ask.seat


def test_an_illegal_move_ends_the_round_unless_it_goes_on() -> None:
    moves = recorded()
    for goes_on in (False, True):
        referee, answers = led(moves, SEATS[0], goes_on=goes_on)
        while referee.ask():
            referee.answer("claim 4", 0)
        faults = [answer.fault.ending for answer in answers if answer.fault]
        assert set(faults) == {Fault.ILLEGAL_MOVE}
        assert (len(answers) == 1) is (not goes_on)
        assert not referee.has_failed


def test_a_failure_ends_the_round_and_another_bot_can_go_on_from_there() -> None:
    moves = recorded()
    referee, answers = led(moves, SEATS[1])
    while (ask := referee.ask()) and len(answers) < 3:
        referee.answer(ask.legal[0].text, 0)
    referee.forfeit(SEATS[1], Fault.TIMEOUT, "too slow")
    assert (referee.ask(), referee.has_failed) == (None, True)
    assert (answers[3].move, str(answers[3].fault)) == (None, "timeout: too slow")
    assert referee.position == answers[3].position
    second, later = led(moves, SEATS[1], start=referee.position + 1)
    ask = second.ask()
    assert ask is not None
    second.answer(ask.legal[0].text, 0)
    assert later[0].position > answers[3].position


def test_the_clock_shows_what_it_showed_however_long_the_answers_take_now() -> None:
    limits, moves = TimeLimits(move_ms=500, bank_ms=3000, increment_ms=20), recorded()
    then, now = RoundClock((limits, limits)), RecordedClock(limits, SEATS[1], moves)
    for move in moves:
        if move.seat == 1 and move.ms is not None:
            assert now.left(SEATS[1]) == then.left(SEATS[1])
            then.spend(SEATS[1], move.ms)
            now.spend(SEATS[1], 0)
    assert now.left(SEATS[1])[0].bank_ms != 3000
