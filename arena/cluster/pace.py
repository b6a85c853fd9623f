"""How fast matches are played on a cluster, from the latest of them."""

import math
import time
from collections import deque
from typing import Final

_FEWEST: Final = 2  # deals that a worker has ahead
_MOST: Final = 64
_AHEAD: Final = 1.0  # seconds of play for which a worker has deals
_QUICK: Final = 2.0  # seconds of a match; on a busy machine the way there and back takes a good part of one
_WAY: Final = 0.3  # seconds for the way there and back, at least: reports and orders are sent together
_MOST_MATCHES: Final = 8


class Pace:
    def __init__(self) -> None:
        self._rounds: deque[float] = deque(maxlen=_MOST)  # when the latest ended, in all workers
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
    def matches(self) -> int:
        """How many matches a worker should have, so that it has one to play while its reports and orders are on their
        way."""
        if self.match_seconds >= _QUICK:
            return 1
        return min(1 + math.ceil(_WAY / self.match_seconds), _MOST_MATCHES)

    def is_ahead(self, free_since: float) -> bool:
        """Whether a worker that ended a match at this moment probably has ended others since, of which nothing is heard
        yet. A worker that is in a long match is not ahead, however short the others are."""
        return self.match_seconds < _WAY and time.monotonic() - free_since < _WAY

    @property
    def deals(self) -> int:
        """How many deals a worker should have ahead."""
        recent = sum(time.monotonic() - ended < _AHEAD for ended in self._rounds)
        return max(_FEWEST, min(recent, _MOST))
