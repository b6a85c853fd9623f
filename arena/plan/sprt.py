"""A sequential test of two bots, as it is planned and recorded; journal/likelihood.py has the arithmetic. Pure."""

import enum
import math
from typing import Final

from msgspec import Struct

MOST_ROUNDS: Final = 100_000  # of a test, by default: about ten times the usual length with the default bounds
LARGEST_ELO: Final = 1000
_LEAST_GAIN: Final = 0.01  # Elo between the bounds: nobody can play the rounds that less would take
_LEAST_RISK: Final = 1e-9


class EloModel(enum.Enum):
    """What the bounds of a test are measured in."""

    NORMALIZED = "normalized"
    LOGISTIC = "logistic"


class Sprt(Struct, frozen=True):
    """Is the first bot better than the second by `elo1` (H1), or only by `elo0` (H0)?"""

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05  # the likelihood of accepting H1 although H0 holds
    beta: float = 0.05  # the likelihood of accepting H0 although H1 holds
    model: EloModel = EloModel.NORMALIZED

    def __post_init__(self) -> None:
        """Refuse bounds that make no test, whether a user gives them or a journal was edited."""
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name):g}, but expected a number between 0 and 1")
            if getattr(self, name) < _LEAST_RISK:
                raise ValueError(f"{name} = {getattr(self, name):g}, but expected at least {_LEAST_RISK:g}")
        if self.alpha + self.beta >= 1:
            raise ValueError(f"alpha + beta = {self.alpha + self.beta:g}, but expected a sum below 1")
        for name in ("elo0", "elo1"):
            if not abs(getattr(self, name)) <= LARGEST_ELO:
                raise ValueError(f"{name} = {getattr(self, name):g}, but expected a number from -1000 to 1000")
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 = {self.elo0:g} and elo1 = {self.elo1:g}, but expected elo0 below elo1")
        if self.elo1 - self.elo0 < _LEAST_GAIN:
            raise ValueError(
                f"elo0 and elo1 differ by {self.elo1 - self.elo0:g}, but expected at least {_LEAST_GAIN:g}"
            )

    @property
    def lower(self) -> float:
        """The log likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)
