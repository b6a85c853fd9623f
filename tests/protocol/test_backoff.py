"""When bots connect again: the SDK and `arena connect` ask the same `Backoff`."""

import pytest

from protocol.backoff import FIRST_WAIT, LONGEST_WAIT, Backoff


def waits(backoff: Backoff, dice: float) -> list[float]:
    """All waits until it gives up, when every attempt fails at once."""
    found: list[float] = []
    while (wait := backoff.next_wait(sum(found), dice)) is not None:
        found.append(wait)
    return found


def test_waits_double_up_to_the_longest_one() -> None:
    assert waits(Backoff(60, now=0), dice=1)[:8] == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10])


def test_chance_takes_away_up_to_half_of_a_wait() -> None:
    shortest, longest = (waits(Backoff(60, now=0), dice)[:8] for dice in (0, 1))
    assert shortest == pytest.approx([wait / 2 for wait in longest])


def test_it_gives_up_before_a_wait_that_would_end_too_late() -> None:
    backoff = Backoff(1, now=100)
    assert backoff.next_wait(100.8, 1) == FIRST_WAIT
    assert backoff.next_wait(100.8, 1) is None


def test_without_patience_there_is_no_second_attempt() -> None:
    assert Backoff(0, now=5).next_wait(5, 0.5) is None


def test_a_welcome_starts_over() -> None:
    backoff = Backoff(30, now=0)
    assert max(waits(backoff, dice=1)) == LONGEST_WAIT
    backoff.welcomed(1000)
    assert backoff.next_wait(1000, 1) == FIRST_WAIT
    assert backoff.next_wait(1030, 1) is None
