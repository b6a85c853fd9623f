"""Measure how fast a tournament plays, which determines how fast an absent bot loses its matches. Pure."""

from collections import deque
from typing import Final

# Seconds. A match among fast bots takes milliseconds; a bot that is back within a second should not lose a dozen.
_QUICKEST: Final = 1.0
_KEPT: Final = 99  # matches; enough for a median that follows the tournament, and few enough to sort for each forfeit


class ForfeitPace:
    def __init__(self, grace: float):
        self._grace = grace
        self._took: deque[float] = deque(maxlen=_KEPT)

    def played(self, seconds: float) -> None:
        """Add the time of a match that both bots played."""
        self._took.append(seconds)

    @property
    def forfeit_seconds(self) -> float:
        """The seconds between two matches that an absent bot forfeits.

        It is the time of an ordinary match, or the grace time if none was played yet. It is never longer than the grace
        time, so that the tournament ends even if the bot never comes back and matches take long.
        """
        import statistics  # only absent bots need it

        usual = statistics.median(self._took) if self._took else self._grace
        return min(max(usual, _QUICKEST), self._grace)
