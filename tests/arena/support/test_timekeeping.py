"""Stalls by a clock that the test moves."""

import pytest

from arena.support.timekeeping import BEAT, Stall, Stalls


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


def begun(clock: Clock) -> Stalls:
    stalls = Stalls(clock)
    stalls.begin()
    return stalls


def test_looks_that_are_in_time_or_a_little_late_are_no_stall(clock: Clock) -> None:
    stalls = begun(clock)
    for late in (0, 0.001, 0.0019):
        clock.time += BEAT + late
        assert not stalls.look()
    assert stalls.stall_at(100.003) is None


def test_a_late_look_is_a_stall_that_covers_the_time_since_the_last_one(clock: Clock) -> None:
    stalls = begun(clock)
    clock.time = 100.5
    assert stalls.look()
    for moment in (100.0, 100.3, 100.5):
        assert stalls.stall_at(moment) == Stall(100.0, 100.5)
    assert stalls.stall_at(99.9) is None
    clock.time = 100.504
    assert stalls.stall_at(100.502) is None


def test_a_look_that_is_overdue_right_now_is_a_stall_as_well(clock: Clock) -> None:
    stalls = begun(clock)
    clock.time = 100.006
    assert stalls.stall_at(100.003) is None
    clock.time = 100.5
    assert stalls.stall_at(100.003) == Stall(100.0, 100.5)
    assert stalls.stall_at(100.6) is None


def test_a_rest_in_which_nobody_waited_is_no_stall(clock: Clock) -> None:
    stalls = begun(clock)
    clock.time = 200.0
    stalls.begin()
    assert stalls.stall_at(150.0) is None
