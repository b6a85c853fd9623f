"""Elo by maximum likelihood over all rounds (Bradley–Terry; a draw is half a win for each), with its error. Pure.

Ratings are defined only among bots that are linked by results in both directions: from each bot a chain of "scored
something against" leads to every other. Such a set is called a cluster here. Inside a cluster the ratings maximise the
likelihood of the rounds inside it, with nothing added. A bot that always wins is a cluster of its own, infinitely far
above the others. The distance between clusters is therefore estimated with a few virtual draws, and the bots that are
placed by them are marked: their rating is only a bound. Bots that are not connected by any chain of rounds are in
different groups, and ratings of different groups cannot be compared.

The two rounds of a pair are not independent: each player begins once. So the unit of all statistics is the pair, or
the single round where there are no pairs. Intervals are computed from the spread of
whole units around what the ratings predict (the "sandwich" estimate), so they hold whatever the dependence inside one.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

_ELO: Final = 400 / math.log(10)  # Elo per unit of log odds
Z95: Final = 1.959964  # standard deviations to either side that contain 95 % of a normal distribution
_PAIR: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
_SINGLE: Final = (0.0, 0.5, 1.0)
_MOST_STEPS: Final = 200  # Newton's method needs about ten; the limit only prevents an endless loop if there is a bug
_LONGEST_STEP: Final = 2.0  # in log odds: far from the maximum the likelihood is flat, and Newton's step would overflow
_CLOSE_ENOUGH: Final = 1e-10  # in log odds: far below the precision of any output


@attrs.frozen
class Matchup:
    """The results of two bots against each other: how many units ended with each possible score of bot `a`."""

    a: int
    b: int
    pairs: Sequence[int] = (0, 0, 0, 0, 0)  # pairs of rounds in which a scored 0, ½, 1, 1½, 2
    singles: Sequence[int] = (0, 0, 0)  # single rounds in which a scored 0, ½, 1

    @property
    def rounds(self) -> int:
        return 2 * sum(self.pairs) + sum(self.singles)

    @property
    def score(self) -> float:
        """The score of bot `a`: 1 per win, ½ per draw."""
        return float(np.dot(self.pairs, _PAIR) + np.dot(self.singles, _SINGLE))

    @property
    def unit(self) -> int:
        """The number of rounds in a unit, that is, of rounds that may depend on each other."""
        return 2 if any(self.pairs) else 1

    def spread(self, expected: float) -> float:
        """The sum of the squared differences between the units' scores and the expectation, where `expected` is the
        expected score of bot `a` in a round. One typical unit is added, because a sample without variation does not
        prove that there is none."""
        pairs = sum(count * (scored - 2 * expected) ** 2 for count, scored in zip(self.pairs, _PAIR, strict=True))
        singles = sum(count * (scored - expected) ** 2 for count, scored in zip(self.singles, _SINGLE, strict=True))
        return pairs + singles + self.unit * expected * (1 - expected)


@attrs.frozen
class Scale:
    """The zero point of the ratings, because Elo defines only differences: the average of each group, or the rating of
    one bot, which takes precedence in its group."""

    average: float = 0.0
    anchor: tuple[int, float] | None = None  # a bot and its rating


_ABOUT_ZERO: Final = Scale()


@attrs.frozen
class Difference:
    """The difference in strength between two bots."""

    elo: float
    margin: float  # the 95 % interval is elo ± margin
    superiority: float  # the likelihood that the first bot is stronger, 0 to 1
    bound: bool


@attrs.frozen(eq=False)
class Ratings:
    """The ratings of all bots, indexed by bot. The rating of a bot without rounds is nan."""

    elo: tuple[float, ...]
    margins: tuple[float, ...]  # 95 %, relative to the average of the group or to the anchor
    bounds: tuple[bool, ...]  # True if the bot is outside the main cluster of its group: its rating is a bound
    groups: tuple[int, ...]  # from 0; ratings of different groups cannot be compared
    clusters: tuple[int, ...]  # from 0; the distance between clusters is not known
    covariance: Floats  # in Elo²

    def difference(self, one: int, other: int) -> Difference | None:
        """The difference between two bots; None if no chain of rounds connects them, or if they are the same bot."""
        if self.groups[one] != self.groups[other] or one == other:
            return None
        cov = self.covariance
        deviation = math.sqrt(max(0.0, cov[one, one] + cov[other, other] - 2 * cov[one, other]))
        elo = self.elo[one] - self.elo[other]
        return Difference(elo, Z95 * deviation, _superiority(elo, deviation), self.bounds[one] or self.bounds[other])


def _superiority(elo: float, deviation: float) -> float:
    if deviation == 0:
        return 0.5 if elo == 0 else float(elo > 0)
    return 0.5 * math.erfc(-elo / deviation / math.sqrt(2))


def difference(pairs: Sequence[int], singles: Sequence[int]) -> Difference | None:
    """The difference between two bots that have met only each other, from their units (see Matchup); None if there are
    no rounds."""
    return rate(2, [Matchup(0, 1, pairs, singles)]).difference(0, 1)


def rate(bots: int, matchups: Iterable[Matchup], scale: Scale = _ABOUT_ZERO) -> Ratings:
    """The ratings of bots 0 to `bots` - 1. Any two bots have at most one matchup, in either order."""
    played = [matchup for matchup in matchups if matchup.rounds]
    score = np.zeros((bots, bots))
    for matchup in played:
        score[matchup.a, matchup.b] = matchup.score
        score[matchup.b, matchup.a] = matchup.rounds - matchup.score
    rounds = score + score.T
    groups, clusters = _linked(rounds > 0), _linked(score > 0)
    bounds = _outside_the_main_cluster(groups, clusters)
    inside = clusters[:, None] == clusters[None, :]
    across = np.where(inside, 0, score + _virtual_draws(rounds * ~inside, bounds) / 2)

    # First the bots of each cluster relative to each other, then each cluster as a whole, by the rounds between
    # clusters and the virtual draws.
    strength = _most_likely(np.zeros(bots), score * inside, np.arange(bots), clusters)
    strength = _most_likely(strength, across, clusters, groups[np.unique(clusters, return_index=True)[1]])
    covariance = _covariance(strength, score * inside, across, played, groups, clusters)
    # From log odds to Elo, with the zero point that is wanted; a bot without rounds has no rating.
    shift = _to_scale(groups, scale)
    elo = shift @ (strength * _ELO) + _zero_points(groups, scale)
    covariance = _ELO**2 * shift @ covariance @ shift.T
    margins = Z95 * np.sqrt(np.maximum(0, np.diag(covariance)))
    alone = rounds.sum(axis=1) == 0
    elo[alone] = margins[alone] = np.nan
    return Ratings(
        tuple(elo.tolist()),
        tuple(margins.tolist()),
        tuple(bounds.tolist()),
        tuple(groups.tolist()),
        tuple(clusters.tolist()),
        covariance,
    )


def _linked(arrows: NDArray[np.bool_]) -> Labels:
    """Label each bot with the number of its strongly connected component: the bots that reach each other along the
    arrows. Components are numbered in the order of their first members."""
    count = len(arrows)
    reach = arrows | np.eye(count, dtype=np.bool_)
    for _ in range(count.bit_length()):  # each step doubles the length of the chains
        reach = reach.astype(np.float32) @ reach.astype(np.float32) > 0
    mutual = reach & reach.T
    first = mutual.argmax(axis=1) if count else np.zeros(0, dtype=np.intp)
    return np.unique(first, return_inverse=True)[1].astype(np.intp)


def _outside_the_main_cluster(groups: Labels, clusters: Labels) -> NDArray[np.bool_]:
    """Mark all bots outside the largest cluster of their group. If two clusters are equally large, neither can serve as
    the reference, and both are marked."""
    outside = np.zeros(len(groups), dtype=np.bool_)
    for group in range(groups.max(initial=-1) + 1):
        members = groups == group
        names, sizes = np.unique(clusters[members], return_counts=True)
        main = names[sizes == sizes.max()]
        outside |= members & ~(clusters == main[0] if len(main) == 1 else np.zeros_like(members))
    return outside


def _virtual_draws(across: Floats, bounds: NDArray[np.bool_]) -> Floats:
    """One draw for each bot that needs it, spread over its rounds against other clusters. Between two bots this is
    Laplace's rule of succession: one more win and one more loss than there were."""
    totals = across.sum(axis=1, keepdims=True)
    share: Floats = np.divide(across, totals, out=np.zeros_like(across), where=totals > 0) * bounds[:, None]
    return share + share.T


def _most_likely(start: Floats, score: Floats, labels: Labels, gauge: Labels) -> Floats:
    """Maximise the likelihood by Newton's method, halving steps that lower it. Bots with the same label move together.
    `gauge` assigns each label to a set; the likelihood does not depend on the sum of the moves in a set, which is kept
    at zero."""
    together = (labels[:, None] == np.arange(len(gauge))[None, :]).astype(np.float64)
    held = _averaging(gauge)
    rounds = score + score.T
    strength, height = start, _log_likelihood(start, score)
    for _ in range(_MOST_STEPS):
        expected = _expected(strength)
        slope = together.T @ (score - rounds * expected).sum(axis=1)
        bend = together.T @ _laplacian(rounds * expected * expected.T) @ together
        step = together @ np.linalg.solve(bend + held, slope)
        step = step / max(1.0, np.abs(step).max(initial=0) / _LONGEST_STEP)
        while (higher := _log_likelihood(strength + step, score)) < height - 1e-12 * abs(height):
            step = step / 2
        strength, height = strength + step, higher
        if np.abs(step).max(initial=0) < _CLOSE_ENOUGH:
            break
    return strength


def _expected(strength: Floats) -> Floats:
    """A matrix whose entry [i, j] is the expected score of i in a round against j."""
    return np.exp(-np.logaddexp(0, strength[None, :] - strength[:, None]))


def _log_likelihood(strength: Floats, score: Floats) -> float:
    return float(-(score * np.logaddexp(0, strength[None, :] - strength[:, None])).sum())


def _laplacian(weights: Floats) -> Floats:
    """The sum of weight · (eᵢ - eⱼ)(eᵢ - eⱼ)ᵀ over all i < j."""
    return np.diag(weights.sum(axis=1)) - weights


def _averaging(labels: Labels) -> Floats:
    """The matrix that replaces each value with the average of its set."""
    same: Floats = (labels[:, None] == labels[None, :]).astype(np.float64)
    sizes: Floats = same.sum(axis=1, keepdims=True)
    return same / sizes


def _covariance(
    strength: Floats, inside: Floats, across: Floats, played: Iterable[Matchup], groups: Labels, clusters: Labels
) -> Floats:
    """The covariance of the strengths, each relative to the average of its group.

    Both maximisations together solve one system of equations: residuals(inside) + averaging · residuals(across) = 0,
    where the averaging is over clusters. With J the derivative of the left side and M its covariance, the result is
    J⁺ M J⁺ᵀ.
    """
    expected = _expected(strength)
    variance = expected * expected.T
    spread_inside, spread_across = np.zeros_like(inside), np.zeros_like(across)
    rounds_across = across + across.T
    for matchup in played:
        for a, b in ((matchup.a, matchup.b), (matchup.b, matchup.a)):
            if clusters[a] == clusters[b]:
                spread_inside[a, b] = matchup.spread(float(expected[matchup.a, matchup.b]))
            else:
                # One-sided results have hardly any spread, which says nothing about their certainty. So use the spread
                # that results of this expectation would have if the rounds of a unit always ended the same way.
                spread_across[a, b] = matchup.unit * rounds_across[a, b] * variance[a, b]
    averaging = _averaging(clusters)
    derivative = _laplacian((inside + inside.T) * variance) + averaging @ _laplacian(rounds_across * variance)
    spread = _laplacian(spread_inside) + averaging @ _laplacian(spread_across) @ averaging
    inverse = np.linalg.inv(derivative + _averaging(groups))
    return inverse @ spread @ inverse.T


def _to_scale(groups: Labels, scale: Scale) -> Floats:
    """The matrix that makes ratings relative to the average of their group, or to the anchor if the group has one."""
    reference = _averaging(groups)
    if scale.anchor is not None:
        bot = scale.anchor[0]
        reference[groups == groups[bot]] = np.eye(len(groups))[bot]
    return np.eye(len(groups)) - reference


def _zero_points(groups: Labels, scale: Scale) -> Floats:
    zero = np.full(len(groups), scale.average)
    if scale.anchor is not None:
        bot, value = scale.anchor
        zero[groups == groups[bot]] = value
    return zero
