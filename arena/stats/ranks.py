"""Which ranks are possible for each bot, as ranges. Pure.

A bot is behind all bots that are certainly better than it, and ahead of all that are certainly worse; between these
every rank is possible. The range of a bot contains its true rank with 95 %. It misses it only if a comparison with
another bot is wrong, so the comparisons share the 5 %: the more bots there are, the more certain each has to be.
"""

from collections.abc import Iterable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.stats.ratings import Matchup, Ratings
from arena.stats.sweep import ONE_SIDE, swept


def rank_ranges(ratings: Ratings, matchups: Iterable[Matchup]) -> list[tuple[int, int]]:
    """The best and the worst rank that each bot may have among all. `matchups` are those that were rated."""
    better = _certainly_better(ratings, matchups)
    best, worst = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
    return list(zip(best.tolist(), worst.tolist(), strict=True))


def _certainly_better(ratings: Ratings, matchups: Iterable[Matchup]) -> NDArray[np.bool_]:
    """A matrix whose entry [i, j] says whether i is certainly better than j. Nothing is certain between groups."""
    elo, groups, variance = np.array(ratings.elo), np.array(ratings.groups), np.diag(ratings.covariance)
    luck = [ONE_SIDE / max(1, ratings.groups.count(group) - 1) for group in ratings.groups]
    deviations = np.array([NormalDist().inv_cdf(1 - each) for each in luck])
    lead = elo[:, None] - elo[None, :]  # nan, which is never more, if one of the two has no rounds
    spread = np.sqrt(np.maximum(0, variance[:, None] + variance[None, :] - 2 * ratings.covariance))
    certain: NDArray[np.bool_] = (groups[:, None] == groups[None, :]) & (lead > deviations[:, None] * spread)
    for matchup in matchups:
        # Between clusters the ratings only say who is ahead; how certain that is, the wins say.
        if ratings.clusters[matchup.a] != ratings.clusters[matchup.b]:
            sweep = swept(matchup.pairs, matchup.singles)
            if sweep is not None and sweep.proves(luck[matchup.a]):
                winner, loser = (matchup.a, matchup.b) if sweep.winner == 0 else (matchup.b, matchup.a)
                certain[winner, loser] = lead[winner, loser] > 0
    return certain
