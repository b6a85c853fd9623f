"""A worker moves to its core only while its bots answer at once."""

import os
from collections.abc import Iterator

import msgspec
import pytest

from arena.journal.lines import RoundLine
from arena.worker.pinning import Pinning
from tests.helpers.journals import rounds

ALL = os.sched_getaffinity(0)
CORE = max(ALL)


@pytest.fixture(autouse=True)
def _moves_back() -> Iterator[None]:
    yield
    os.sched_setaffinity(0, ALL)


def with_times(*times: int | None) -> RoundLine:
    return msgspec.structs.replace(next(rounds(1)), moves=tuple((0, "x", ms) for ms in times))


INSTANT, SLOW = with_times(0, 0, None, 7), with_times(0, 3, 3, None)


def test_a_pinned_worker_has_its_core_from_the_start_and_keeps_it() -> None:
    pinning = Pinning(CORE, always=True)
    assert os.sched_getaffinity(0) == {CORE}
    pinning.played(SLOW)
    assert os.sched_getaffinity(0) == {CORE}


def test_by_default_it_moves_after_instant_rounds_in_a_row_and_back_after_another() -> None:
    pinning = Pinning(CORE, always=False)
    where = []
    for line in (INSTANT, INSTANT, SLOW, INSTANT, INSTANT, INSTANT, INSTANT, SLOW, with_times()):
        pinning.played(line)
        where.append(os.sched_getaffinity(0))
    assert where == [ALL] * 5 + [{CORE}] * 2 + [ALL] * 2


def test_without_a_core_it_stays_where_it_is() -> None:
    pinning = Pinning(None, always=False)
    for _ in range(5):
        pinning.played(INSTANT)
    assert os.sched_getaffinity(0) == ALL
