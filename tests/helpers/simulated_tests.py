"""Sequential tests of bots whose strength is known, played by lot, many at once."""

import math

import attrs
import numpy as np
from numpy.typing import NDArray

from arena.journal.likelihood import NORMALIZED_ELO, expected_score, llr, t_value
from arena.plan.sprt import EloModel, Sprt

Floats = NDArray[np.float64]

# Pairs of rounds by score, as two bots of equal strength play them in tactics: draws are rare.
EQUAL: Floats = np.array([0.24, 0.015, 0.49, 0.015, 0.24])
SCORES: Floats = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


@attrs.frozen(eq=False)
class Simulated:
    better: float  # the share of tests that accepted H1
    pairs: float  # the mean length


def strength(elo: float, model: EloModel, start: Floats = EQUAL) -> Floats:
    """A distribution of scores with this difference in Elo: outcomes weighted more, the more the first bot scores."""
    low, high = -60.0, 60.0
    for _ in range(80):
        tilt = (low + high) / 2
        found = start * np.exp(tilt * SCORES)
        found /= found.sum()
        low, high = (tilt, high) if elo_of(found, model) < elo else (low, tilt)
    return found


def elo_of(distribution: Floats, model: EloModel) -> float:
    mean = float(distribution @ SCORES)
    if model is EloModel.LOGISTIC:
        return -400 * math.log10(1 / mean - 1)
    return (mean - 0.5) / _deviation(distribution) * NORMALIZED_ELO / math.sqrt(2)


def _deviation(distribution: Floats) -> float:
    mean = float(distribution @ SCORES)
    return math.sqrt(float(distribution @ (SCORES - mean) ** 2))


def simulate(sprt: Sprt, distribution: Floats, tests: int, seed: int) -> Simulated:
    rng, edges = np.random.default_rng(seed), np.cumsum(distribution)[:-1]
    counts = np.zeros((tests, 5))
    better = length = 0
    while len(counts):
        outcomes = np.searchsorted(edges, rng.random(len(counts)))
        counts[np.arange(len(counts)), outcomes] += 1
        found = ratios(counts, sprt)
        over = (found >= sprt.upper) | (found <= sprt.lower)
        for row, outcome in zip(counts[over], outcomes[over], strict=True):
            _check(sprt, row, outcome)
        better += int((found[over] >= sprt.upper).sum())
        length += int(counts[over].sum())
        counts = counts[~over]
    return Simulated(better / tests, length / tests)


def _check(sprt: Sprt, counts: Floats, last: int) -> None:
    """The arena decides such a test at the same pair."""
    assert not sprt.lower < llr(map(int, counts), sprt) < sprt.upper
    before = counts.copy()
    before[last] -= 1
    assert sprt.lower < llr(map(int, before), sprt) < sprt.upper


def ratios(counts: Floats, sprt: Sprt) -> Floats:
    """What `llr` computes, for a row of counts each, with numpy: the same search, in all rows at once."""
    seen = np.where(counts > 0, counts, 1e-3)
    observed = (seen / seen.sum(axis=1, keepdims=True)).T
    best = _with_score if sprt.model is EloModel.LOGISTIC else _with_t
    h0, h1 = (best(observed, elo) for elo in (sprt.elo0, sprt.elo1))
    found: Floats = seen.sum(axis=1) * (h1 - h0)
    return found


def _with_score(observed: Floats, elo: float) -> Floats:
    f = np.repeat((SCORES - expected_score(elo))[:, None], observed.shape[1], axis=1)
    return _log_likelihood(observed, f, _theta(observed, f))


def _with_t(observed: Floats, elo: float) -> Floats:
    t = t_value(elo)
    s, x = t / math.sqrt(1 + t * t), (SCORES - 0.5)[:, None]
    r = np.sqrt((observed * x * x).sum(axis=0))
    for _ in range(60):
        f = x - s / 2 * (x * x / r + r)
        r = np.where((f.min(axis=0) < 0) & (f.max(axis=0) > 0), r, 0.5)
        f = x - s / 2 * (x * x / r + r)
        theta = _theta(observed, f)
        better = np.sqrt((observed * x * x / (1 + theta * f)).sum(axis=0))
        if np.abs(better - r).max() < 1e-6:
            break
        r = better
    return _log_likelihood(observed, f, theta)


def _theta(observed: Floats, f: Floats) -> Floats:
    ends = (observed - 1) / np.where(abs(f) < 1e-200, 1e-200, f)
    low, high = np.where(f > 0, ends, -np.inf).max(axis=0), np.where(f < 0, ends, np.inf).min(axis=0)
    theta = np.zeros(f.shape[1])
    for _ in range(60):
        part = f / (1 + theta * f)
        value, slope = (observed * part).sum(axis=0), (observed * part * part).sum(axis=0)
        low, high = np.where(value > 0, theta, low), np.where(value > 0, high, theta)
        better = theta + value / slope
        better = np.where((low < better) & (better < high), better, (low + high) / 2)
        if np.abs(better - theta).max() < 1e-10:
            break
        theta = better
    found: Floats = better
    return found


def _log_likelihood(observed: Floats, f: Floats, theta: Floats) -> Floats:
    found: Floats = -(observed * np.log1p(theta * f)).sum(axis=0)
    return found


def most_likely(counts: Floats, elo: float) -> float:
    """The log likelihood, relative to what was observed, of the best distribution with this normalized Elo. A mean of
    s√(E x²) is, for s > 0, at most s/2 (E x²/r + r) for each r, and equal for one: so it tries every r."""
    observed, t = counts / counts.sum(), t_value(elo)
    if t < 0:
        observed, t = observed[::-1], -t
    x, s = (SCORES - 0.5)[:, None], t / math.sqrt(1 + t * t)
    now = math.sqrt(float(observed @ (SCORES - 0.5) ** 2))
    r = np.concatenate([np.geomspace(now / 10, 0.5, 2000), np.linspace(0.15, 0.5, 1000)])
    f = x - s / 2 * (x * x / r + r)
    is_above = float(observed @ (SCORES - 0.5)) > s * now
    f = f[:, observed @ f > 0] if is_above else f[:, f.max(axis=0) > 0]
    rows = np.repeat(observed[:, None], f.shape[1], axis=1)
    found = _log_likelihood(rows, f, _theta(rows, f))
    return float(counts.sum() * (found.min() if is_above else found.max()))


def walds_length(sprt: Sprt, *, under_h1: bool) -> float:
    """The mean number of pairs by Wald's approximation, which neglects that the last pair passes the bound."""
    low, high = (strength(elo, sprt.model) for elo in (sprt.elo0, sprt.elo1))
    deviation = _deviation(high if under_h1 else low)
    drift = (float((high - low) @ SCORES) / deviation) ** 2 / 2
    if under_h1:
        return ((1 - sprt.beta) * sprt.upper + sprt.beta * sprt.lower) / drift
    return -((1 - sprt.alpha) * sprt.lower + sprt.alpha * sprt.upper) / drift
