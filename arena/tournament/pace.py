"""How fast a tournament plays, and so how fast a bot that is away loses its matches. Pure."""

import statistics
from collections import deque
from typing import Final

# A match among fast bots takes milliseconds; a bot that is back within a second shall not have lost a dozen of them.
_QUICKEST: Final = 1.0
_KEPT: Final = 99  # matches; enough for a median that follows the tournament, and few enough to sort for each forfeit


class Pace:
    def __init__(self, grace: float):
        self._grace = grace
        self._took: deque[float] = deque(maxlen=_KEPT)

    def played(self, seconds: float) -> None:
        """A match took this long that both bots were there for."""
        self._took.append(seconds)

    @property
    def forfeit_seconds(self) -> float:
        """How long after one match that an absent bot forfeits its next one is due.

        It is the time of an ordinary match, or the grace time if none was played yet. It is never longer than the grace
        time, so that a tournament ends whose bot never comes back, however long its matches are.
        """
        usual = statistics.median(self._took) if self._took else self._grace
        return min(max(usual, _QUICKEST), self._grace)
