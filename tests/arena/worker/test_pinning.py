"""When a worker wants a core, from what it has seen."""

import pytest

from arena.worker.pinning import Pinning

AT_ONCE, THOUGHT = (0, 0, None, 7), (0, 3, 3, None)
QUIET, BUSY = 0.15, 0.3  # the part of the core that others took


class Seen:
    """A worker with a clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pinning = Pinning()

    def play(self, *rounds: tuple[int | None, ...], seconds: float = 0.01, match: str = "m1") -> list[bool]:
        """After each round, whether the worker wants a core."""
        wanted = []
        for thinking in rounds:
            self.pinning.began(match, self.now)
            self.now += seconds
            self.pinning.played(match, thinking, self.now)
            wanted.append(self.wants_core)
        return wanted

    def share(self, others: float) -> bool:
        self.pinning.shared(others, self.now)
        return self.wants_core

    @property
    def wants_core(self) -> bool:
        return self.pinning.wants_core(self.now)

    def seconds_away(self) -> float:
        """How long quick rounds go on until the worker wants a core."""
        since = self.now
        while not all(self.play(AT_ONCE)):
            pass
        return self.now - since


@pytest.fixture
def seen() -> Seen:
    return Seen()


def test_it_is_wanted_after_quick_rounds_in_a_row_until_one_in_which_bots_thought(seen: Seen) -> None:
    rounds = (AT_ONCE, AT_ONCE, THOUGHT, AT_ONCE, AT_ONCE, AT_ONCE, AT_ONCE, THOUGHT, AT_ONCE)
    assert seen.play(*rounds) == [False] * 5 + [True] * 2 + [False] * 2


def test_a_round_that_nobody_played_is_not_quick(seen: Seen) -> None:
    assert seen.play(AT_ONCE, AT_ONCE, AT_ONCE, ()) == [False, False, True, False]


def test_a_round_that_took_long_is_not_quick_whatever_the_answers_took(seen: Seen) -> None:
    assert not any(seen.play(*[AT_ONCE] * 9, seconds=0.2))


def test_a_bot_that_begins_to_think_has_all_cores_before_it_answers(seen: Seen) -> None:
    seen.play(*[AT_ONCE] * 3)
    seen.pinning.began("m1", seen.now)
    seen.now += 0.09
    assert seen.wants_core
    seen.now += 0.02
    assert not seen.wants_core
    assert seen.play(AT_ONCE, AT_ONCE, AT_ONCE) == [False, False, True]


def test_a_bot_that_thinks_is_not_hidden_by_quick_rounds_of_other_matches(seen: Seen) -> None:
    seen.pinning.began("slow", seen.now)
    wanted = seen.play(*[AT_ONCE] * 20, seconds=0.015)
    assert wanted == [False] * 2 + [True] * 4 + [False] * 14


def test_a_worker_without_matches_wants_none(seen: Seen) -> None:
    seen.play(*[AT_ONCE] * 3)
    seen.now += 0.2
    assert not seen.wants_core


def test_others_that_need_little_do_not_matter(seen: Seen) -> None:
    seen.play(*[AT_ONCE] * 3)
    assert all(seen.share(QUIET) for _ in range(99))


def test_others_that_need_the_core_drive_it_away_for_longer_each_time(seen: Seen) -> None:
    seen.play(*[AT_ONCE] * 3)
    away = []
    for _ in range(10):
        assert not seen.share(BUSY)
        away.append(seen.seconds_away())
    assert away == pytest.approx([0.5, 1, 2, 4, 8, 16, 32, 64, 64, 64], abs=0.05)


def test_after_quiet_times_a_disturbance_drives_it_away_for_a_moment_only(seen: Seen) -> None:
    seen.play(*[AT_ONCE] * 3)
    for _ in range(9):
        seen.share(BUSY)
        seen.seconds_away()
    assert all(seen.share(QUIET) for _ in range(9))
    seen.share(BUSY)
    assert seen.seconds_away() == pytest.approx(0.5, abs=0.05)
