"""Error rates and lengths of sequential tests with the default bounds: `make sprt`.

Each of 2,000 tests is played by lot, at H0 and at H1, in both models. The promise is that at most 6 % of them err, and
that their mean length is within a tenth of Wald's. The suite holds the same promise for bounds that are decided sooner.
"""

import sys
import time

from arena.plan.sprt import EloModel, Sprt
from tests.helpers.simulated_tests import simulate, strength, walds_length

_TESTS = 2000
_MOST_ERRORS = 0.06
_MOST_AWAY = 0.1


def main() -> int:
    broken = 0
    print(f"{_TESTS} tests each; errors at most {_MOST_ERRORS:.0%}, length within {_MOST_AWAY:.0%} of Wald's")
    for model in EloModel:
        for under_h1 in (False, True):
            broken += not _holds(Sprt(model=model), under_h1)
    return 1 if broken else 0


def _holds(sprt: Sprt, under_h1: bool) -> bool:
    began = time.monotonic()
    found = simulate(sprt, strength(sprt.elo1 if under_h1 else sprt.elo0, sprt.model), _TESTS, seed=2)
    errors = 1 - found.better if under_h1 else found.better
    ratio = found.pairs / walds_length(sprt, under_h1=under_h1)
    holds = errors <= _MOST_ERRORS and abs(ratio - 1) <= _MOST_AWAY
    print(
        f"{sprt.model.value:10}  [{sprt.elo0:g}, {sprt.elo1:g}] at {'H1' if under_h1 else 'H0'}  "
        f"errors {errors:.4f}  pairs {found.pairs:7.1f}  of Wald's length {ratio:.3f}  "
        f"{'ok' if holds else 'BROKEN'}  ({time.monotonic() - began:.0f} s)",
        flush=True,
    )
    return holds


if __name__ == "__main__":
    sys.exit(main())
