"""When a worker and its bots stay on one core. Pure: the caller has the clock and the core (core.py).

Bots that answer at once spend most of their time waking each other up, which is much quicker on one core. Bots that
think may use several cores, and lose by it, and another program on the same core slows everybody there. Both are known
only while bots play. So a worker takes a core after some quick rounds in a row, which risks little, and leaves it when
a round takes longer, or when others took a good part of the core.
"""

import math
from collections.abc import Iterable
from typing import Final

_QUICK_ROUNDS: Final = 3  # in a row
_LONG: Final = 0.1  # seconds for a round; bots that answer at once need a tenth of it
# The part of the core that others may take. The owner of the tournament takes less, a program that is always busy more.
_MOST: Final = 0.25
_SHORTEST, _LONGEST = 0.5, 64.0  # seconds for which a worker stays away from cores after others needed one


class Pinning:
    """What one worker has seen. All times are by the same clock, in seconds."""

    def __init__(self) -> None:
        self._under_way: dict[str, float] = {}  # by match: when its round began
        self._last = -math.inf  # when a round ended
        self._quick = 0  # rounds in a row
        self._pause = _SHORTEST
        self._away_until = -math.inf

    def began(self, match: str, now: float) -> None:
        """A round of this match begins."""
        self._under_way[match] = now

    def played(self, match: str, thinking: Iterable[int | None], now: float) -> None:
        """A round is over, with these milliseconds for each answer."""
        times = [ms for ms in thinking if ms is not None]
        took = now - self._under_way.pop(match, now)
        self._last = now
        self._quick = self._quick + 1 if took <= _LONG and 2 * times.count(0) > len(times) else 0

    def shared(self, others: float, now: float) -> None:
        """The worker had a core for some time, and others took this part of it. The more often it was too much, the
        longer the worker stays away."""
        if others > _MOST:
            self._away_until = now + self._pause
            self._pause = min(2 * self._pause, _LONGEST)
        else:
            self._pause = max(self._pause / 2, _SHORTEST)

    def wants_core(self, now: float) -> bool:
        if now - min(self._under_way.values(), default=self._last) > _LONG:
            self._quick = 0
        return self._quick >= _QUICK_ROUNDS and now >= self._away_until
