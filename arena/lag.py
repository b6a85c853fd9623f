"""How late the arena itself is: a bot is not blamed for what the host did."""

import time
from collections import deque
from typing import Final

import trio

_BEAT: Final = 0.005  # seconds between two looks at the clock
_NOTABLE: Final = 0.002  # seconds; less than this is ordinary
_KEPT: Final = 2000  # notable lags; at one a beat that is the last ten seconds


class LagMeter:
    """Sleeps for a moment again and again, and notes when it was woken late: so was everybody else."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=_KEPT)

    async def run(self) -> None:
        while True:
            before = time.perf_counter()
            await trio.sleep(_BEAT)
            now = time.perf_counter()
            if now - before - _BEAT > _NOTABLE:
                self._late.append((now, now - before - _BEAT))

    def worst_since(self, moment: float) -> float:
        """Seconds; `moment` is of time.perf_counter()."""
        return max((lag for when, lag in self._late if when >= moment), default=0.0)
