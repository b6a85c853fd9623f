"""Who meets whom with which deal."""

from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.plan.schedule import Format, PlannedMatch, pairing_count, schedule
from engine.cards import SEATS
from engine.ruleset import PRESETS

BASE = PRESETS["base"]


def planned(bots: int = 4, cycles: int = 1, rounds: int = 6) -> tuple[PlannedMatch, ...]:
    return schedule(bots, Format.ROUND_ROBIN, cycles, rounds, BASE)


@given(st.integers(2, 12), st.integers(1, 4))
def test_in_a_round_robin_everybody_meets_everybody_once_a_cycle(bots: int, cycles: int) -> None:
    meetings = Counter(match.bots for match in planned(bots, cycles))
    assert meetings == dict.fromkeys(combinations(range(bots), 2), cycles)


@given(st.integers(3, 12))
def test_whoever_stops_early_stops_fairly(bots: int) -> None:
    """At any moment no bot has met two opponents more than another, one more if the number of bots is odd."""
    met: Counter[int] = Counter(dict.fromkeys(range(bots), 0))
    for match in planned(bots):
        met.update(match.bots)
        assert max(met.values()) - min(met.values()) <= 1 + bots % 2


def test_in_a_gauntlet_the_first_bot_meets_all_others() -> None:
    matches = schedule(4, Format.GAUNTLET, 2, 2, BASE)
    assert [match.bots for match in matches] == [(0, 1), (0, 2), (0, 3)] * 2


def test_ids_are_unique_and_stable() -> None:
    rounds = [each.id for match in planned(cycles=3) for each in match.rounds]
    assert len(set(rounds)) == len(rounds) == 3 * 6 * 6
    assert planned()[0].id == "1.1-4"
    assert planned()[0].rounds[0].id == "1.1-4.1"


@pytest.mark.parametrize("rounds", [2, 4, 6, 10])
def test_the_players_alternate_in_beginning(rounds: int) -> None:
    for match in planned(rounds=rounds):
        begins = [each.first for each in match.rounds]
        assert all(a != b for a, b in pairwise(begins))


def test_over_the_cycles_each_begins_as_often_as_the_other() -> None:
    begins = Counter((match.bots, match.rounds[0].first) for match in planned(cycles=4, rounds=1))
    assert set(begins.values()) == {2}


def test_with_winner_begins_only_the_first_round_is_fixed() -> None:
    match = schedule(2, Format.ROUND_ROBIN, 1, 4, PRESETS["classic"])[0]
    assert [each.first for each in match.rounds] == [SEATS[1], None, None, None]
    assert [each.pair for each in match.rounds] == [each.id for each in match.rounds]  # nobody is sure to begin once


def test_two_rounds_in_which_each_begins_once_are_a_pair() -> None:
    match = planned(rounds=5)[0]
    assert [each.pair.rpartition(".")[2] for each in match.rounds] == ["1", "1", "3", "3", "5"]
    for one, two in zip(match.rounds[0:4:2], match.rounds[1:4:2], strict=True):
        assert one.first != two.first


@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("bots", [2, 3, 4, 7])
def test_pairings_are_counted_without_planning_them(bots: int, form: Format) -> None:
    assert pairing_count(bots, form) == len(schedule(bots, form, 1, 2, BASE))
