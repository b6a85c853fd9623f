"""What a clean sweep proves: every round between two bots was won by the same one. Pure.

There is then no estimate of the distance, and no interval around one, but there is a bound. A bot that scores p on
average wins both rounds of a pair with a likelihood of at most p, whatever one round has to do with the other, and all
of n pairs with at most pⁿ. If that is less than 2.5 %, p is larger. The bound may be looked at after every pair: it
grows with n, so if it is too high for one n, it is too high from then on, and only the first such n has to be unlikely.
"""

import math
from collections.abc import Sequence
from typing import Final

import attrs

ONE_SIDE: Final = 0.025  # of the 5 % that a 95 % interval leaves, because either bot may be the one that wins


@attrs.frozen
class Sweep:
    winner: int  # the first bot (0) or the second (1)
    units: int  # that are independent: pairs of rounds, or single rounds

    @property
    def elo(self) -> float | None:
        """The bound of the difference in Elo between the first bot and the second, with 95 %: it is more than this, or
        less if the second bot won. None if there are too few wins to tell."""
        if not self.proves():
            return None
        ratio = math.log(ONE_SIDE) / self.units
        least = 400 * math.log10(math.exp(ratio) / -math.expm1(ratio))
        return least if self.winner == 0 else -least

    def elo_text(self) -> str | None:
        if self.elo is None:
            return None
        words = "more than" if self.winner == 0 else "less than"
        return f"{words} {math.trunc(self.elo):+d}"

    def proves(self, luck: float = ONE_SIDE) -> bool:
        """Whether the winner is better: a bot that is not would win everything with a likelihood below `luck`."""
        return 0.5**self.units < luck


def swept(pairs: Sequence[int], singles: Sequence[int] = (0, 0, 0)) -> Sweep | None:
    """The clean sweep in the results of two bots (see Matchup); None if there is none. Single rounds do not add to
    pairs: they may be those in which the winner began."""
    units = max(sum(pairs), sum(singles))
    if not units or any(pairs[1:-1]) or singles[1]:
        return None
    won, lost = pairs[-1] + singles[-1], pairs[0] + singles[0]
    return None if won and lost else Sweep(0 if won else 1, units)
