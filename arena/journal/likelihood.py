"""The generalised sequential probability ratio test on pairs of rounds (GSPRT). Pure.

Theory of operation. A pair of rounds has five outcomes: the first bot scores 0, ½, 1, 1½ or 2. Nothing is assumed about
how likely they are, except for what a hypothesis says. The logarithm of the likelihood ratio compares the best that H1
can do with the best that H0 can do: for each hypothesis, the distribution of outcomes that makes the observed counts
most likely among those that satisfy it. With the model `logistic` a hypothesis fixes the expected score of a round,
with `normalized` the expected score above one half, in standard deviations of a pair (t).

Let x be the score of a pair, scaled to -½ … ½, and p its observed distribution. A hypothesis E f(x) = 0 is satisfied
best by q = p / (1 + θ f), with the one θ for which E_q f = 0. For `logistic`, f is x minus a constant. The hypothesis
of `normalized`, E x = t σ, is the same as E x = s √(E x²) with s = t / √(1 + t²). That is not linear in q; but it is
E f = 0 with f = x - s/2 (x²/r + r), if r = √(E_q x²). Take s > 0. For any other r, E f is less than E x - s √(E x²).

So, if the observed mean is too high, E f <= 0 must hold for every r, and the r that makes the counts least likely
decides; there is only one such place. If the mean is too low, the best r is the one that makes them most likely.
Replacing r by what it should be never makes them less likely and takes a few steps, but there may be several tops where
the hypothesis is far from what was observed. The others are near the distributions that have as little above one half
as the hypothesis allows, all of it in one outcome: r = s/4 and r = s/2.

The ratio depends on the counts alone, to the last digit: all who compute it must agree on whether it passes a bound. So
this is plain arithmetic on five numbers, not numpy, whose sums depend on how much is computed at once.

An outcome that was not observed counts as a thousandth of a pair, as it does in other tools, because a likelihood of
zero has no logarithm.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from arena.plan.sprt import EloModel, Sprt

NORMALIZED_ELO: Final = 800 / math.log(10)  # normalized Elo per standard deviation of a round
_X: Final = (-0.5, -0.25, 0.0, 0.25, 0.5)
_UNSEEN: Final = 1e-3  # pairs
_CLOSE: Final = 1e-7  # to r; the likelihood is flat there, so that its error is the square of this
_MOST_STEPS: Final = 100  # a few are usual
_NEAR: Final = -0.02  # log likelihood per pair: so near to what was observed there is only one best distribution
_SAME: Final = 1e-13  # log likelihood per pair


def llr(pairs: Iterable[int], sprt: Sprt) -> float:
    """The log likelihood ratio of H1 to H0 for five counts: pairs by the score of the first bot."""
    seen = [count or _UNSEEN for count in pairs]
    total = sum(seen)
    observed = [count / total for count in seen]
    match sprt.model:
        case EloModel.LOGISTIC:
            h0, h1 = (_with_score(observed, expected_score(elo)) for elo in (sprt.elo0, sprt.elo1))
        case EloModel.NORMALIZED:
            h0, h1 = (_with_t(observed, t_value(elo)) for elo in (sprt.elo0, sprt.elo1))
    return total * (h1 - h0)


def expected_score(elo: float) -> float:
    """Of a round, with this difference in logistic Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


def t_value(elo: float) -> float:
    """Normalized Elo in standard deviations of a pair."""
    return math.sqrt(2) * elo / NORMALIZED_ELO


def _with_score(observed: Sequence[float], score: float) -> float:
    """The log likelihood, per pair and relative to what was observed, of the best distribution with this score."""
    f = [x + 0.5 - score for x in _X]
    return _log_likelihood(observed, f, _theta(observed, f, 0.0))


def _with_t(observed: Sequence[float], t: float) -> float:
    """The same for the best distribution whose mean is this many standard deviations above one half."""
    if t == 0:
        return _with_score(observed, 0.5)
    if t < 0:
        observed, t = observed[::-1], -t  # the same, as the other bot sees it
    s, mean = t / math.sqrt(1 + t * t), _mean(observed, _X)
    r = math.sqrt(_mean(observed, [x * x for x in _X]))
    if mean > s * r:
        return _lowest(observed, s, r, mean / s)
    found = _top(observed, s, r)
    if found > _NEAR * (1 - max(observed)):
        return found
    return max(found, _top(observed, s, s / 4), _top(observed, s, s / 2))


def _top(observed: Sequence[float], s: float, r: float) -> float:
    """Replace r by what it should be while this makes the counts more likely; -∞ if no distribution fits this r."""
    best, theta = -math.inf, 0.0
    for _ in range(_MOST_STEPS):
        f = _linear(s, r)
        if max(f) <= 0:
            break
        theta, r = _better(observed, f, theta)
        found = _log_likelihood(observed, f, theta)
        if found <= best + _SAME:
            break
        best = found
    return best


def _lowest(observed: Sequence[float], s: float, r: float, middle: float) -> float:
    """Find the r that makes the counts least likely, by secants, and by halves where one leaves the range. What should
    replace r is more than r below that place, and less above it. Only in this range is E f > 0 for what was observed.
    """
    half = math.sqrt(max(0.0, middle * middle - r * r))
    low, high = r * r / (middle + half), middle + half
    theta, before = 0.0, None
    for _ in range(_MOST_STEPS):
        f = _linear(s, r)
        theta, better = _better(observed, f, theta)
        if min(abs(better - r), high - low) <= _CLOSE * r:
            break
        low, high = (r, high) if better > r else (low, r)
        slope = (better - before[1]) / (r - before[0]) if before else 0.0
        before = r, better
        r += (better - r) / (1 - slope) if slope < 1 else 0.0
        if not low < r < high:
            r = (low + high) / 2
    return _log_likelihood(observed, f, theta)


def _better(observed: Sequence[float], f: Sequence[float], start: float) -> tuple[float, float]:
    """The θ for this f, searched for from `start`, and the r of the distribution that it leads to."""
    theta = _theta(observed, f, start)
    return theta, math.sqrt(sum(p * x * x / (1 + theta * y) for p, x, y in zip(observed, _X, f, strict=True)))


def _linear(s: float, r: float) -> list[float]:
    """The f of the hypothesis E x = s √(E x²), linear around √(E x²) = r."""
    return [x - s / 2 * (x * x / r + r) for x in _X]


def _mean(observed: Sequence[float], values: Sequence[float]) -> float:
    return sum(p * value for p, value in zip(observed, values, strict=True))


def _theta(observed: Sequence[float], f: Sequence[float], start: float) -> float:
    """The θ with E f / (1 + θ f) = 0, which falls as θ grows. Newton's method, by halves where it leaves the range: no
    outcome has a probability above 1, so that 1 + θ f is at least what was observed of it."""
    low = max((p - 1) / y for p, y in zip(observed, f, strict=True) if y > 0)
    high = min((p - 1) / y for p, y in zip(observed, f, strict=True) if y < 0)
    theta = start if low < start < high else 0.0
    for _ in range(_MOST_STEPS):
        value = slope = 0.0
        for p, y in zip(observed, f, strict=True):
            part = y / (1 + theta * y)
            value += p * part
            slope += p * part * part
        low, high = (theta, high) if value > 0 else (low, theta)
        better = theta + value / slope
        if not low < better < high:
            better = (low + high) / 2
        if abs(better - theta) <= 1e-12 * (1 + abs(better)):
            return better
        theta = better
    return theta


def _log_likelihood(observed: Sequence[float], f: Sequence[float], theta: float) -> float:
    """E log (q / p) for q = p / (1 + θ f)."""
    return -sum(p * math.log1p(theta * y) for p, y in zip(observed, f, strict=True))
