"""Fits the curves that turn the raw values of the bundled evaluator into expected results.

    python -m tests.tools.calibration [ROUNDS]

Bots of equal strength play ROUNDS rounds (1,000) by each rule set: both are counting, greedy, or one of these with some
random moves, so that positions with mistakes occur too. A part of the positions are samples: their features, and the
result of the round. Logistic regression gives the curve.
"""

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Final

import attrs
import numpy as np
import numpy.typing as npt

from arena.evaluation.calibration import Curve, Features
from arena.evaluation.counting import features
from arena.match.referee import Referee
from engine.cards import SEATS
from engine.deal import Deal
from engine.position import Position
from engine.ruleset import ClaimTime, RuleSet
from engine.scoring import Outcome
from example_bots import counting, greedy
from protocol.messages import Clock, Points, Request
from tests.helpers.paths import ROOT

WRITTEN: Final = ROOT / "arena/evaluation/curves.py"
ROUNDS: Final = 1_000
SAMPLED: Final = 0.3  # of the positions; the others of the same round would say little more
LEAST_SLOPE: Final = 0.5  # Before the first card the value says nothing about the result; below this it is noise.
Choose = Callable[[Request], str]
Matrix = npt.NDArray[np.float64]
# A bot, and the share of its moves that are random instead.
PLAYERS: Final = ((counting.choose, 0.0), (greedy.choose, 0.0), (counting.choose, 0.15), (greedy.choose, 0.3))


@attrs.frozen
class Sample:
    both_hands: bool
    at: Features
    result: float  # of the seat


def samples(rules: RuleSet, seeds: Sequence[str]) -> list[Sample]:
    """What can be learnt from one round for each seed."""
    return [each for seed in seeds for each in _samples_of_round(rules, seed)]


def _samples_of_round(rules: RuleSet, seed: str) -> Iterator[Sample]:
    rng = random.Random(seed)
    positions, outcome = _played(rules, seed, _equal_bots(rng), rng)
    for position in positions:
        for seat in SEATS:
            result = 0.5 if outcome.winner is None else float(outcome.winner == seat)
            yield Sample(False, features(position.seen_by(seat), seat), result)
            yield Sample(True, features(position, seat), result)


def _equal_bots(rng: random.Random) -> tuple[Choose, Choose]:
    choose, share = rng.choice(PLAYERS)

    def tipsy(request: Request) -> str:
        return rng.choice(request.legal) if rng.random() < share else choose(request)

    return tipsy, tipsy


def _played(
    rules: RuleSet, seed: str, bots: tuple[Choose, Choose], rng: random.Random
) -> tuple[list[Position], Outcome]:
    """Some of the positions at which a bot decided, and the end of the round."""
    referee, positions = Referee(rules, Deal.from_seed(seed, rules.tactics), rng.choice(SEATS)), []
    while ask := referee.ask():
        if rng.random() < SAMPLED:
            positions.append(referee.game.position())
        request = ask.request(1, Points(0, 0), Clock(None, None)).decoded()
        referee.answer(bots[ask.seat](request), 0)
    assert referee.outcome is not None
    assert referee.fault is None
    return positions, referee.outcome


def fitted(found: Sequence[Sample]) -> Curve:
    """The curve under which the results of the samples are most likely, if it rises everywhere."""
    raw = np.array([each.at.raw for each in found])
    later = raw * [each.at.progress for each in found]
    results = np.array([each.result for each in found])
    constant, slope, slope_later = _logistic(np.stack([np.ones_like(raw), raw, later], axis=1), results)
    if slope < LEAST_SLOPE:
        slope = LEAST_SLOPE
        constant, slope_later = _logistic(np.stack([np.ones_like(raw), later], axis=1), results, slope * raw)
    return Curve(*(round(float(weight), 3) for weight in (constant, slope, slope_later)))


def _logistic(terms: Matrix, results: Matrix, fixed: Matrix | float = 0.0) -> Matrix:
    """The weights of the terms by Newton's method; `fixed` is added to their sum."""
    weights = np.zeros(terms.shape[1])
    for _ in range(100):
        expected = 1 / (1 + np.exp(-terms @ weights - fixed))
        curvature = (terms * (expected * (1 - expected))[:, None]).T @ terms
        step = np.linalg.solve(curvature, terms.T @ (results - expected))
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return weights


HEAD: Final = '''\
"""The curves of the bundled evaluator: by tactic cards, time of claims, and whether both hands are seen.

`make calibration` writes this file; tests/tools/calibration.py says what was played for it.
"""

from typing import Final

from arena.evaluation.calibration import Curve
from engine.ruleset import ClaimTime

CURVES: Final = {
'''


def module(curves: dict[tuple[bool, ClaimTime, bool], Curve]) -> str:
    lines = [f"    ({t}, {claims}, {both}): {curve},\n" for (t, claims, both), curve in curves.items()]
    return HEAD + "".join(lines) + "}\n"


def main(rounds: int) -> None:
    curves = {}
    with ProcessPoolExecutor() as pool:
        for tactics, claims in product((False, True), ClaimTime):
            seeds = [f"calibration/{number}" for number in range(rounds)]
            parts = [seeds[at : at + 20] for at in range(0, rounds, 20)]
            rules = RuleSet(tactics=tactics, claims=claims)
            found = [each for part in pool.map(samples, [rules] * len(parts), parts) for each in part]
            for both in (False, True):
                curves[tactics, claims, both] = fitted([each for each in found if each.both_hands is both])
                print(rules.name, "both hands" if both else "one hand", curves[tactics, claims, both])
    WRITTEN.write_text(module(curves), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
