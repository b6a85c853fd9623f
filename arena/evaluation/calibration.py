"""How a raw value of the bundled evaluator becomes an expected result: by a logistic curve. Pure.

The curves (curves.py) were fitted to rounds between bots of equal strength. So "60 %" means: of many such positions,
bots of equal strength won about 60 %.
"""

import math

import attrs


@attrs.frozen
class Features:
    """What a curve makes an expected result of."""

    raw: float  # the bot's value of the position to the seat, from -1 to 1
    progress: float  # how many of the cards lie on stones, about 0 to 1


@attrs.frozen
class Curve:
    """A logistic curve; the fields are the weights of its terms."""

    constant: float
    raw: float
    raw_later: float  # in addition, times the progress

    def expected(self, at: Features) -> float:
        slope = self.raw + self.raw_later * at.progress
        return 1 / (1 + math.exp(-(self.constant + slope * at.raw)))
