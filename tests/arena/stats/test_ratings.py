"""Elo by maximum likelihood, its intervals, and what happens where it does not exist."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest

from arena.stats.ratings import Matchup, Ratings, Scale, difference, rate

NO_PAIRS = (0, 0, 0, 0, 0)


def singles(a: int, b: int, wins: int, draws: int, losses: int) -> Matchup:
    return Matchup(a, b, NO_PAIRS, (losses, draws, wins))


def elo_of(score: float) -> float:
    return 400 * math.log10(score / (1 - score))


def fixed_point(bots: int, matchups: list[Matchup]) -> list[float]:
    """The textbook iteration for Bradley–Terry (Zermelo 1929): slow, simple, and nothing like the code under test."""
    worth = [1.0] * bots
    for _ in range(20_000):
        won, weight = [0.0] * bots, [0.0] * bots
        for each in matchups:
            won[each.a] += each.score
            won[each.b] += each.rounds - each.score
            for bot in (each.a, each.b):
                weight[bot] += each.rounds / (worth[each.a] + worth[each.b])
        worth = [w / v for w, v in zip(won, weight, strict=True)]
        mean = math.exp(sum(map(math.log, worth)) / bots)
        worth = [each / mean for each in worth]
    return [400 * math.log10(each) for each in worth]


@pytest.mark.parametrize(("wins", "draws", "losses"), [(15, 0, 5), (3, 10, 7), (1, 0, 999), (10, 0, 10), (0, 1, 5)])
def test_two_bots_get_the_closed_formula(wins: int, draws: int, losses: int) -> None:
    rounds = wins + draws + losses
    elo = rate(2, [singles(0, 1, wins, draws, losses)]).elo
    assert elo[0] - elo[1] == pytest.approx(elo_of((wins + draws / 2) / rounds), abs=1e-6)
    assert elo[0] + elo[1] == pytest.approx(0, abs=1e-9)


def test_pairs_and_single_rounds_make_one_score() -> None:
    together = rate(2, [Matchup(0, 1, (1, 2, 3, 4, 5), (6, 7, 8))])
    score = (1 + 3 + 6 + 10 + 3.5 + 8) / (30 + 21)
    assert together.elo[0] - together.elo[1] == pytest.approx(elo_of(score), abs=1e-6)


def test_a_cycle_makes_all_equal() -> None:
    cycle = [singles(0, 1, 10, 0, 0), singles(1, 2, 10, 0, 0), singles(2, 0, 10, 0, 0)]
    found = rate(3, cycle)
    assert found.elo == pytest.approx((0, 0, 0), abs=1e-9)
    assert found.bounds == (False, False, False)


UNEVEN = [singles(0, 1, 30, 4, 6), singles(1, 2, 5, 0, 3), singles(0, 2, 1, 1, 0), singles(2, 3, 100, 50, 20)]


def test_unequal_numbers_of_rounds_agree_with_the_textbook_iteration() -> None:
    assert rate(4, UNEVEN).elo == pytest.approx(fixed_point(4, UNEVEN), abs=1e-4)


def residuals(bots: int, matchups: list[Matchup], elo: tuple[float, ...]) -> list[float]:
    """By how much each bot scored more than its rating says."""
    found = [0.0] * bots
    for each in matchups:
        more = each.score - each.rounds / (1 + 10 ** ((elo[each.b] - elo[each.a]) / 400))
        found[each.a] += more
        found[each.b] -= more
    return found


def test_at_the_maximum_everybody_scores_what_is_expected() -> None:
    assert residuals(4, UNEVEN, rate(4, UNEVEN).elo) == pytest.approx([0] * 4, abs=1e-6)


def anything(rng: np.random.Generator, bots: int) -> list[Matchup]:
    """Sparse, one-sided and uneven results: one round here, a hundred thousand there."""

    def counts(size: int) -> tuple[int, ...]:
        some = rng.integers(0, rng.choice([2, 4, 50, 100_000]), size) * (rng.random(size) < 0.4)
        return tuple(some.tolist())

    met = [pair for pair in combinations(range(bots), 2) if rng.random() < 0.5]
    found = [Matchup(a, b, counts(5), counts(3)) for a, b in met]
    return [each for each in found if each.rounds]


def test_whatever_the_results_ratings_are_finite_and_where_nothing_is_a_bound_most_likely() -> None:
    rng = np.random.default_rng(3)
    unmarked = 0
    for _ in range(400):
        bots = int(rng.integers(2, 12))
        matchups = anything(rng, bots)
        found = rate(bots, matchups)
        played = {bot for each in matchups for bot in (each.a, each.b)}
        assert all(math.isfinite(found.elo[bot]) and found.margins[bot] > 0 for bot in played)
        if not any(found.bounds) and played:
            unmarked += 1
            most = max(each.rounds for each in matchups)
            elo = tuple(0.0 if math.isnan(each) else each for each in found.elo)
            assert residuals(bots, matchups, elo) == pytest.approx([0] * bots, abs=1e-8 * most + 1e-8)
    assert unmarked > 50


def test_far_apart_but_linked_bots_are_found_without_help() -> None:
    ladder = [singles(0, 1, 9999, 0, 1), singles(1, 2, 99_999, 0, 1), singles(2, 3, 999, 1, 0)]
    elo = rate(4, ladder).elo
    assert elo[0] - elo[1] == pytest.approx(elo_of(0.9999), abs=1e-3)
    assert elo[2] - elo[3] == pytest.approx(elo_of(999.5 / 1000), abs=1e-3)


@pytest.mark.parametrize("order", list(permutations(range(4)))[1::5])
def test_ratings_do_not_depend_on_the_numbering(order: tuple[int, ...]) -> None:
    renamed = [Matchup(order[each.a], order[each.b], each.pairs, each.singles) for each in reversed(UNEVEN)]
    plain, other = rate(4, UNEVEN), rate(4, renamed)
    for bot in range(4):
        assert other.elo[order[bot]] == pytest.approx(plain.elo[bot], abs=1e-6)
        assert other.margins[order[bot]] == pytest.approx(plain.margins[bot], abs=1e-6)


def test_it_does_not_matter_who_is_named_first() -> None:
    turned = [Matchup(each.b, each.a, each.pairs[::-1], each.singles[::-1]) for each in UNEVEN]
    assert rate(4, turned).elo == pytest.approx(rate(4, UNEVEN).elo, abs=1e-6)
    assert rate(4, turned).margins == pytest.approx(rate(4, UNEVEN).margins, abs=1e-6)


def test_only_wins_give_a_finite_number_marked_as_a_bound() -> None:
    found = difference(NO_PAIRS, (0, 0, 10))
    assert found is not None
    assert found.bound
    assert found.elo == pytest.approx(elo_of(11 / 12), abs=1e-6)  # Laplace's rule of succession
    assert 0.95 < found.superiority < 1
    more = difference(NO_PAIRS, (0, 0, 100))
    assert more is not None
    assert more.elo > found.elo


def test_the_interval_of_a_clean_sweep_reaches_down_to_what_it_proves() -> None:
    """Ten wins of ten are not unlikely (1 in 20) for a bot that wins three of four."""
    found = difference(NO_PAIRS, (0, 0, 10))
    assert found is not None
    assert found.elo - found.margin < elo_of(0.05 ** (1 / 10))


def test_a_bot_that_always_wins_leaves_the_others_as_they_are() -> None:
    others = [singles(1, 2, 6, 0, 4), singles(2, 3, 7, 0, 3), singles(1, 3, 5, 2, 3)]
    unbeaten = [singles(0, bot, 20, 0, 0) for bot in (1, 2, 3)]
    alone = rate(4, others)
    found = rate(4, others + unbeaten)
    assert found.bounds == (True, False, False, False)
    assert found.elo[0] > max(found.elo[1:])
    for one, other in combinations((1, 2, 3), 2):
        ours, theirs = found.difference(one, other), alone.difference(one, other)
        assert ours is not None
        assert theirs is not None
        assert (ours.elo, ours.margin) == pytest.approx((theirs.elo, theirs.margin), abs=1e-6)


def test_sets_of_bots_that_beat_all_others_are_ordered_and_marked() -> None:
    strong, weak = [singles(0, 1, 5, 0, 5)], [singles(2, 3, 8, 0, 2)]
    across = [singles(a, b, 10, 0, 0) for a in (0, 1) for b in (2, 3)]
    found = rate(4, strong + weak + across)
    assert found.bounds == (True,) * 4  # neither set is the one to measure by
    assert min(found.elo[:2]) > max(found.elo[2:])
    assert found.elo[0] == pytest.approx(found.elo[1], abs=1e-6)
    assert found.elo[2] - found.elo[3] == pytest.approx(elo_of(0.8), abs=1e-6)


def test_a_ladder_of_clean_sweeps_is_in_order() -> None:
    found = rate(4, [singles(a, b, 6, 0, 0) for a, b in combinations(range(4), 2)])
    assert list(found.elo) == sorted(found.elo, reverse=True)
    assert all(map(math.isfinite, found.elo + found.margins))
    assert found.elo[0] == pytest.approx(-found.elo[3], abs=1e-6)


def test_groups_that_never_met_are_rated_apart() -> None:
    found = rate(5, [singles(0, 3, 15, 0, 5), singles(1, 4, 5, 0, 15)])
    assert found.groups == (0, 1, 2, 0, 1)
    assert found.elo[0] + found.elo[3] == pytest.approx(0, abs=1e-9)
    assert found.elo[1] + found.elo[4] == pytest.approx(0, abs=1e-9)
    assert found.elo[0] - found.elo[3] == pytest.approx(elo_of(0.75), abs=1e-6)
    assert math.isnan(found.elo[2])
    assert found.difference(0, 1) is None


def test_an_average_and_an_anchor_only_shift() -> None:
    plain = rate(4, UNEVEN)
    average = rate(4, UNEVEN, Scale(average=1500))
    assert average.elo == pytest.approx([each + 1500 for each in plain.elo], abs=1e-6)
    assert average.margins == plain.margins
    anchored = rate(4, UNEVEN, Scale(anchor=(2, 1000)))
    assert anchored.elo[2] == pytest.approx(1000, abs=1e-9)
    assert anchored.elo[0] - anchored.elo[2] == pytest.approx(plain.elo[0] - plain.elo[2], abs=1e-6)
    assert anchored.margins[2] == pytest.approx(0, abs=1e-6)
    to_anchor = plain.difference(0, 2)
    assert to_anchor is not None
    assert anchored.margins[0] == pytest.approx(to_anchor.margin, abs=1e-6)


def test_an_anchor_holds_its_own_group_only() -> None:
    found = rate(4, [singles(0, 1, 3, 0, 1), singles(2, 3, 3, 0, 1)], Scale(average=100, anchor=(1, 2000)))
    assert found.elo[1] == pytest.approx(2000)
    assert found.elo[2] + found.elo[3] == pytest.approx(200)


def test_many_single_rounds_have_the_interval_of_the_published_formula() -> None:
    """As cutechess and fastchess: the deviation of the mean score, brought to Elo by the slope of the curve."""
    wins, draws, losses = 4500, 3000, 2500
    rounds = wins + draws + losses
    score = (wins + draws / 2) / rounds
    deviation = math.sqrt((wins * (1 - score) ** 2 + draws * (0.5 - score) ** 2 + losses * score**2) / rounds / rounds)
    slope = 400 / math.log(10) / score / (1 - score)
    found = difference(NO_PAIRS, (losses, draws, wins))
    assert found is not None
    assert found.margin == pytest.approx(1.959964 * deviation * slope, rel=1e-3)


def test_pairs_that_cancel_out_make_the_interval_smaller_and_pairs_that_agree_make_it_wider() -> None:
    apart = difference(NO_PAIRS, (100, 0, 100))
    cancelling = difference((0, 0, 100, 0, 0), (0, 0, 0))
    agreeing = difference((50, 0, 0, 0, 50), (0, 0, 0))
    assert apart is not None
    assert cancelling is not None
    assert agreeing is not None
    assert 0 < cancelling.margin < apart.margin / 3
    assert agreeing.margin == pytest.approx(apart.margin * math.sqrt(2), rel=0.01)


def simulated(rng: np.random.Generator, true: list[float], units: int, alike: float) -> list[Matchup]:
    """Pairs whose second round goes by the luck of the first with the probability `alike`."""
    matchups = []
    for a, b in combinations(range(len(true)), 2):
        expected = 1 / (1 + 10 ** ((true[b] - true[a]) / 400))
        luck = rng.random(units)
        again = np.where(rng.random(units) < alike, luck, rng.random(units))
        won = (luck < expected).astype(int) + (again < expected)
        matchups.append(Matchup(a, b, tuple(np.bincount(2 * won, minlength=5).tolist())))
    return matchups


@pytest.mark.parametrize("alike", [0.0, 0.8])
@pytest.mark.parametrize(("true", "units"), [([60.0, -60.0], 60), ([150.0, 0.0, -20.0, -130.0], 20)])
def test_intervals_hold_the_truth_as_often_as_they_say(true: list[float], units: int, alike: float) -> None:
    rng = np.random.default_rng(7)
    held = []
    for _ in range(300):
        found = rate(len(true), simulated(rng, true, units, alike))
        held += [abs(e - t) <= m for e, t, m in zip(found.elo, true, found.margins, strict=True)]
    assert 0.92 < np.mean(held) < 0.985


def superiority(found: Ratings, one: int, other: int) -> float:
    difference = found.difference(one, other)
    assert difference is not None
    return difference.superiority


def test_superiority_is_sane() -> None:
    found = rate(4, UNEVEN)
    assert superiority(found, 0, 1) + superiority(found, 1, 0) == pytest.approx(1)
    assert superiority(found, 0, 1) > 0.999
    assert superiority(rate(2, [singles(0, 1, 5, 3, 5)]), 0, 1) == pytest.approx(0.5)
    few, many = (superiority(rate(2, [singles(0, 1, 6 * n, 0, 4 * n)]), 0, 1) for n in (1, 20))
    assert 0.5 < few < many < 1


def test_superiority_agrees_with_the_usual_formula() -> None:
    """LOS = Φ((wins - losses) / √(wins + losses)) for single rounds that are about even."""
    expected = 0.5 * (1 + math.erf((520 - 480) / math.sqrt(2 * 1000)))
    assert superiority(rate(2, [singles(0, 1, 520, 100, 480)]), 0, 1) == pytest.approx(expected, abs=2e-3)


def test_nobody_and_one_bot_are_no_error() -> None:
    assert rate(0, []).elo == ()
    assert math.isnan(rate(1, []).elo[0])
    assert difference(NO_PAIRS, (0, 0, 0)) is None
