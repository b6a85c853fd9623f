"""What a fault means for the record of its round."""

import attrs
import pytest

from arena.journal.endings import ENDINGS, Fault, verify
from engine.cards import SEATS, Seat
from engine.errors import RecordError
from engine.record import GameRecord, replay
from engine.ruleset import PRESETS
from engine.scoring import Ending, Outcome
from tests.helpers.walks import played


def record() -> GameRecord:
    return played(PRESETS["tactics"], 7)[1]


def problem(broken: GameRecord) -> str:
    with pytest.raises(RecordError) as caught:
        verify(broken)
    return str(caught.value)


def test_every_ending_is_of_the_rules_or_a_fault_and_has_its_own_name() -> None:
    assert list(ENDINGS.values()) == [*Ending, *Fault]
    assert all(ending.value == name for name, ending in ENDINGS.items())


def test_a_round_that_ended_by_the_rules_is_verified_too() -> None:
    verify(record())
    assert problem(attrs.evolve(record(), outcome=None)) == "the record has no result"


def test_a_round_lost_by_a_fault_is_verified_up_to_where_it_stopped() -> None:
    sound = record()
    moves = sound.moves[: len(sound.moves) // 2]
    game = replay(attrs.evolve(sound, moves=moves))
    lost = attrs.evolve(sound, moves=moves, outcome=Outcome.of(SEATS[1 - game.to_move], Fault.TIMEOUT, game.owners))
    verify(lost)
    assert lost.outcome is not None
    assert problem(attrs.evolve(lost, outcome=attrs.evolve(lost.outcome, winner=None, points=(0, 0)))) == (
        "the record says timeout, but names no seat as the winner"
    )
    assert problem(attrs.evolve(lost, outcome=attrs.evolve(lost.outcome, points=(9, 9)))).startswith(
        "the record says points [9, 9], but the moves give ["
    )
    assert "but the moves end the round by" in problem(attrs.evolve(sound, outcome=lost.outcome))


def test_a_bot_that_failed_to_start_made_no_moves() -> None:
    sound = record()
    lost = Outcome.of(SEATS[1], Fault.FAILED_TO_START, [None] * 9)
    verify(attrs.evolve(sound, moves=(), outcome=lost))
    assert problem(attrs.evolve(sound, moves=sound.moves[:3], outcome=lost)) == (
        "the record says failed-to-start, but has 3 moves"
    )


def test_nobody_wins_only_where_neither_bot_started() -> None:
    bare = attrs.evolve(record(), moves=())
    for fault in Fault:
        nobody = attrs.evolve(bare, outcome=Outcome.of(None, fault, [None] * 9))
        if fault is Fault.FAILED_TO_START:
            verify(nobody)
        else:
            assert problem(nobody) == f"the record says {fault.value}, but names no seat as the winner"


def test_an_illegal_move_cannot_be_won_by_who_made_it() -> None:
    sound = attrs.evolve(record(), moves=record().moves[:10])
    game = replay(sound)
    lost = Outcome.of(SEATS[1 - game.to_move], Fault.ILLEGAL_MOVE, game.owners)
    verify(attrs.evolve(sound, outcome=lost))
    won = Outcome.of(game.to_move, Fault.ILLEGAL_MOVE, game.owners)
    assert problem(attrs.evolve(sound, outcome=won)) == (
        f"the record says illegal-move, but seat {game.to_move}, who won, was the one to move"
    )
    nobody = Outcome.of(Seat(5), Fault.TIMEOUT, game.owners)
    assert problem(attrs.evolve(sound, outcome=nobody)) == "the record says timeout, but names no seat as the winner"


@pytest.mark.parametrize("fault", [Fault.OUT_OF_MEMORY, Fault.OUT_OF_CPU, Fault.OUT_OF_PROCESSES])
def test_a_bot_that_uses_too_much_loses_whichever_seat_was_to_move(fault: Fault) -> None:
    sound = attrs.evolve(record(), moves=record().moves[:10])
    game = replay(sound)
    for winner in SEATS:
        verify(attrs.evolve(sound, outcome=Outcome.of(winner, fault, game.owners)))
