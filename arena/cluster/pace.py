"""How fast matches are played on a cluster, from the latest of them."""

import math
import time
from collections import deque
from typing import Final

_FEWEST: Final = 2  # deals that a shift has ahead
_MOST: Final = 64
_AHEAD: Final = 1.0  # seconds of play for which a shift has deals
_QUICK: Final = 2.0  # seconds of a match; on a busy machine the way there and back takes a good part of one


class Pace:
    def __init__(self) -> None:
        self._rounds: deque[float] = deque(maxlen=_MOST)  # when the latest ended, in all shifts
        self._matches: deque[float] = deque(maxlen=9)  # how long the latest took

    def round_over(self) -> None:
        self._rounds.append(time.monotonic())

    def match_took(self, seconds: float) -> None:
        self._matches.append(seconds)

    @property
    def match_seconds(self) -> float:
        """The usual duration of a match; long, until one is over."""
        return sorted(self._matches)[len(self._matches) // 2] if self._matches else math.inf

    @property
    def is_quick(self) -> bool:
        """Whether the way to a machine and back takes long in comparison with a match."""
        return self.match_seconds < _QUICK

    @property
    def deals(self) -> int:
        """How many deals a shift should have ahead."""
        recent = sum(time.monotonic() - ended < _AHEAD for ended in self._rounds)
        return max(_FEWEST, min(recent, _MOST))
