"""Ranges of ranks: what they contain, and when they are narrow."""

from itertools import combinations

import numpy as np
import pytest

from arena.stats.ranks import rank_ranges
from arena.stats.ratings import Matchup, Scale, rate
from tests.arena.stats.test_ratings import UNEVEN, anything, simulated, singles


def ranges(bots: int, matchups: list[Matchup]) -> list[tuple[int, int]]:
    return rank_ranges(rate(bots, matchups), matchups)


def sweeps(bots: int, units: int) -> list[Matchup]:
    """Every bot wins every pair against all that come after it."""
    return [Matchup(a, b, (0, 0, 0, 0, units)) for a, b in combinations(range(bots), 2)]


def test_whatever_the_results_a_range_contains_the_rank_by_elo() -> None:
    rng = np.random.default_rng(4)
    for _ in range(300):
        bots = int(rng.integers(2, 12))
        matchups = anything(rng, bots)
        ratings = rate(bots, matchups)
        for bot, (best, worst) in enumerate(rank_ranges(ratings, matchups)):
            rivals = [other for other in range(bots) if ratings.groups[other] == ratings.groups[bot] and other != bot]
            ahead = sum(ratings.elo[other] > ratings.elo[bot] for other in rivals)
            level = sum(ratings.elo[other] == ratings.elo[bot] for other in rivals)
            assert 1 <= best <= ahead + 1
            assert ahead + level + 1 <= worst <= bots


def test_more_rounds_make_ranges_narrower_until_every_rank_is_certain() -> None:
    def after(times: int) -> list[tuple[int, int]]:
        return ranges(3, [singles(a, b, 6 * times, 0, 4 * times) for a, b in combinations(range(3), 2)])

    widths = [sum(worst - best for best, worst in after(times)) for times in (1, 10, 100)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[1] > widths[2] == 0
    assert after(1) == [(1, 3)] * 3
    assert after(100) == [(1, 1), (2, 2), (3, 3)]


def test_equal_bots_have_all_ranks_open() -> None:
    assert ranges(4, [singles(a, b, 50, 0, 50) for a, b in combinations(range(4), 2)]) == [(1, 4)] * 4


def test_nothing_is_known_about_the_ranks_of_groups_that_never_met() -> None:
    assert ranges(4, [singles(0, 1, 5, 0, 5), singles(2, 3, 5, 0, 5)]) == [(1, 4)] * 4
    assert ranges(4, [singles(0, 1, 90, 0, 10), singles(2, 3, 5, 0, 5)]) == [(1, 3), (2, 4), (1, 4), (1, 4)]


def test_a_bot_without_rounds_may_have_any_rank_and_one_alone_has_one() -> None:
    assert ranges(3, [singles(0, 1, 90, 0, 10)]) == [(1, 2), (2, 3), (1, 3)]
    assert ranges(1, []) == [(1, 1)]
    assert ranges(0, []) == []


@pytest.mark.parametrize(("bots", "enough"), [(2, 6), (3, 7), (10, 9)])
def test_a_clean_sweep_decides_ranks_by_the_number_of_wins(bots: int, enough: int) -> None:
    """With two bots as soon as `arena play` says which is better; the more bots, the later."""
    assert ranges(bots, sweeps(bots, enough)) == [(rank, rank) for rank in range(1, bots + 1)]
    assert ranges(bots, sweeps(bots, enough - 1))[0] != (1, 1)


def test_wins_against_one_bot_do_not_decide_where_ratings_do() -> None:
    """Bot 0 always beats 1, but over the whole table it is hardly better."""
    cycle = [singles(0, 1, 30, 0, 0), singles(1, 2, 30, 0, 0), singles(2, 0, 29, 0, 1)]
    assert rate(3, cycle).elo[0] > rate(3, cycle).elo[1]
    assert ranges(3, cycle) == [(1, 3)] * 3


def test_wins_against_a_bot_that_is_rated_higher_do_not_decide() -> None:
    """A bot always won, but its group is rated far below the best one, to which the group of the loser is near."""
    best, middle, winner, partner = range(16), range(16, 31), 31, 32
    even = [singles(group[0], bot, 5, 0, 5) for group in (best, middle) for bot in group[1:]]
    near = [singles(a, b, 1, 0, 0) for a, b in zip(best[1:], middle[1:], strict=False)]
    far = [singles(partner, winner, 99, 0, 1), *(singles(bot, partner, 2000, 0, 0) for bot in best)]
    matchups = [*even, *near, *far, singles(winner, middle[0], 11, 0, 0)]
    elo = rate(33, matchups).elo
    assert elo[winner] < elo[middle[0]]
    assert ranges(33, matchups)[winner][1] == 33


def test_neither_numbering_nor_an_anchor_changes_a_range() -> None:
    plain = ranges(4, UNEVEN)
    anchored = rate(4, UNEVEN, Scale(anchor=(2, 1000)))
    assert rank_ranges(anchored, UNEVEN) == plain
    turned = [Matchup(3 - each.b, 3 - each.a, each.pairs[::-1], each.singles[::-1]) for each in UNEVEN]
    assert ranges(4, turned) == plain[::-1]


@pytest.mark.parametrize("alike", [0.0, 1.0])
@pytest.mark.parametrize(("true", "units"), [([1.0, 0.0], 8), ([3.0, 2.0, 1.0, 0.0], 20), ([300.0, 150.0, 0.0], 6)])
def test_ranges_hold_the_true_rank_at_least_as_often_as_they_say(true: list[float], units: int, alike: float) -> None:
    """`true` is in the order of ranks."""
    rng = np.random.default_rng(11)
    held = []
    for _ in range(200):
        found = ranges(len(true), simulated(rng, true, units, alike))
        held += [best <= rank <= worst for rank, (best, worst) in enumerate(found, 1)]
    assert np.mean(held) > 0.95
