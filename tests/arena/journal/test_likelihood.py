"""The arithmetic of the sequential test: values that other tools publish, maximum likelihood, and error rates."""

import math
import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena.journal.likelihood import llr
from arena.plan.sprt import EloModel, Sprt
from tests.helpers.simulated_tests import elo_of, most_likely, ratios, simulate, strength, walds_length

NORMALIZED, LOGISTIC = EloModel.NORMALIZED, EloModel.LOGISTIC


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "model", "published"),
    [
        # fastchess, pull request 426
        ((365, 16618, 36229, 16974, 390), 0, 2, NORMALIZED, 2.25),
        ((127, 4883, 10712, 5150, 104), -1.75, 0.25, NORMALIZED, 3.01),
        ((223, 9863, 21279, 10037, 246), 0.5, 2.5, LOGISTIC, -3.07),
        ((871, 26175, 55983, 26678, 821), 0, 2, LOGISTIC, -4.98),
        # the tests of fastchess: no pair was lost, so everything depends on what an unseen outcome counts
        ((0, 0, 0, 0, 5550), 0, 5, NORMALIZED, 111.80),
        # fastchess, pull request 882: a case in which a search from equal probabilities does not converge
        ((77, 1, 0, 0, 0), -1000, -500, NORMALIZED, -2.95),
        ((72, 10, 0, 0, 0), -1000, -500, NORMALIZED, -2.97),
    ],
)
def test_ratios_are_those_that_other_tools_publish(
    pairs: tuple[int, ...], elo0: float, elo1: float, model: EloModel, published: float
) -> None:
    assert round(llr(pairs, Sprt(elo0, elo1, model=model)), 2) == published


def test_a_ratio_that_was_published_with_more_digits() -> None:
    """fastchess, pull request 783, prints 2.94598; it ends its search at probabilities that are right to 0.0001."""
    found = llr((379, 10170, 21828, 10640, 343), Sprt(0, 2))
    assert found == pytest.approx(2.946, abs=0.001)


@pytest.mark.parametrize(
    ("pairs", "elo0", "elo1", "found"),
    [
        ((365, 16618, 36229, 16974, 390), 0, 2, 2.2504),
        ((379, 10170, 21828, 10640, 343), 0, 2, 2.9455),
        ((77, 1, 0, 0, 0), -1000, -500, -2.9524),
        # The likelihood has two tops here, and the steps that are usual lead to the lower one.
        ((0, 169689, 7, 5805, 0), 0, 224.1, -158_638.44),
        ((1, 0, 8, 0, 3), 0, 812.1, -16.6653),
        # Here they lead nowhere.
        ((0, 0, 0, 0, 1_000_000), -1000, -500, 1_266_700.54),
        ((0, 0, 1_000_000, 0, 0), 500, 1000, -1_228_640.54),
    ],
)
def test_ratios_at_extreme_counts_and_bounds(pairs: tuple[int, ...], elo0: float, elo1: float, found: float) -> None:
    assert llr(pairs, Sprt(elo0, elo1)) == pytest.approx(found, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("model", EloModel)
def test_without_pairs_nothing_is_known(model: EloModel) -> None:
    found = llr((0, 0, 0, 0, 0), Sprt(-5, 5, model=model))
    assert found == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("elo1", [5, 10, 100])
@pytest.mark.parametrize(
    "pairs",
    [
        (77, 1, 0, 0, 0),  # the new bot is much worse than both hypotheses say
        (20, 25, 40, 10, 5),
        (5, 10, 20, 3, 2),
        (1, 1, 257, 1, 0),
        (0, 0, 0, 0, 1000),  # it is much better
        (27, 0, 66, 0, 39),
    ],
)
def test_an_update_takes_few_steps_however_far_the_bots_are_from_the_bounds(
    pairs: tuple[int, ...], elo1: float
) -> None:
    executed, tracer = 0, sys.gettrace()  # that of a measured coverage, or none

    def count(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal executed
        executed += event == "line"
        return count

    sys.settrace(count)
    try:
        llr(pairs, Sprt(0, elo1))
    finally:
        sys.settrace(tracer)
    assert 0 < executed < 20_000  # lines: about a millisecond, which a busy machine cannot change


counts = st.tuples(*[st.integers(0, 400)] * 5).filter(any)
elos = st.floats(-1000, 999).map(lambda elo: round(elo, 2))
extreme = st.tuples(*[st.just(0) | st.integers(0, 400) | st.integers(0, 10**7)] * 5).filter(any)


@pytest.mark.fuzz
@given(extreme, st.floats(-1000, 999), st.floats(0.1, 300), st.sampled_from(EloModel))
def test_any_counts_and_bounds_have_a_finite_ratio(
    pairs: tuple[int, ...], elo0: float, width: float, model: EloModel
) -> None:
    assert math.isfinite(llr(pairs, Sprt(elo0, min(elo0 + width, 1000), model=model)))


@pytest.mark.fuzz
@given(extreme, elos)
def test_the_ratio_is_that_of_the_most_likely_distributions(pairs: tuple[int, ...], elo: float) -> None:
    """With one bound at what was observed, it is what the other one costs, here found by trying every r."""
    seen = np.array(pairs) + 1e-3 * (np.array(pairs) == 0)
    now = elo_of(seen / seen.sum(), NORMALIZED)
    assume(abs(now) < 1000 and abs(elo - now) > 0.01)
    found = llr(pairs, Sprt(min(elo, now), max(elo, now)))
    expected = most_likely(seen, elo) * math.copysign(1, elo - now)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-3)


@pytest.mark.fuzz
@given(extreme, st.floats(-100, 99), st.floats(1, 100), st.sampled_from(EloModel))
def test_exchanging_the_bots_and_the_hypotheses_changes_the_sign(
    pairs: tuple[int, ...], elo0: float, width: float, model: EloModel
) -> None:
    elo1 = elo0 + width
    found = llr(pairs, Sprt(elo0, elo1, model=model))
    exchanged = llr(pairs[::-1], Sprt(-elo1, -elo0, model=model))
    assert exchanged == pytest.approx(-found, rel=1e-6, abs=1e-6)


@pytest.mark.fuzz
@given(st.tuples(*[st.integers(1, 400)] * 5), st.floats(-60, 60), st.sampled_from(EloModel), st.integers(0, 2**32))
def test_no_distribution_that_satisfies_a_hypothesis_makes_the_pairs_more_likely(
    pairs: tuple[int, ...], away: float, model: EloModel, seed: int
) -> None:
    """If one hypothesis is what was observed, the ratio is all the likelihood that the other costs at least."""
    observed = np.array(pairs) / sum(pairs)
    elo = elo_of(observed, model)
    assume(abs(away) > 0.1 and abs(elo) < 300)
    found = llr(pairs, Sprt(min(elo, elo + away), max(elo, elo + away), model=model))
    cost = -found if away > 0 else found
    assert cost > -1e-9
    rng = np.random.default_rng(seed)
    for _ in range(10):
        other = strength(elo + away, model, rng.dirichlet(observed * 100 + 0.1) + 1e-12)
        if elo_of(other, model) == pytest.approx(elo + away, abs=1e-6):
            assert -sum(pairs) * float(observed @ np.log(other / observed)) >= cost - 1e-6


@pytest.mark.fuzz
@given(st.lists(counts, min_size=1, max_size=5), st.integers(-50, 50), st.floats(1, 50), st.sampled_from(EloModel))
def test_numpy_finds_the_same_ratios(rows: list[tuple[int, ...]], elo0: int, width: float, model: EloModel) -> None:
    """Simulations use it, because it computes many at once."""
    sprt = Sprt(elo0, elo0 + width, model=model)
    assert ratios(np.array(rows, float), sprt) == pytest.approx([llr(row, sprt) for row in rows], rel=1e-6, abs=1e-6)


@pytest.mark.extended
@pytest.mark.parametrize("model", EloModel)
@pytest.mark.parametrize("under_h1", [False, True])
def test_2000_tests_of_bots_of_known_strength_err_as_rarely_and_take_as_long_as_wald_says(
    model: EloModel, under_h1: bool
) -> None:
    sprt = Sprt(0, 40, model=model)
    found = simulate(sprt, strength(sprt.elo1 if under_h1 else sprt.elo0, model), 2000, seed=1)
    assert (1 - found.better if under_h1 else found.better) <= 0.06
    assert found.pairs == pytest.approx(walds_length(sprt, under_h1=under_h1), rel=0.1)
