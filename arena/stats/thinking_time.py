"""Statistics of a bot's thinking time, in memory that does not grow with the number of moves. Pure."""

import math
from typing import Final

import attrs

_FINE: Final = 6  # bits: steps are exact below 64 ms; above there are 32 per doubling, so a step is about 3 % wide


def _step(ms: int) -> int:
    coarse = max(0, ms.bit_length() - _FINE)
    return (coarse << _FINE) + (ms >> coarse)


def _highest(step: int) -> int:
    coarse, fine = step >> _FINE, step & ((1 << _FINE) - 1)
    return ((fine + 1) << coarse) - 1


_KNOWN_STEPS: Final = tuple(_step(ms) for ms in range(1 << 12))  # for speed: a journal may have 100 million moves


@attrs.define
class ThinkingTime:
    """A histogram of thinking times, whose steps become wider as times become longer."""

    total: int = 0
    longest: int = 0
    steps: dict[int, int] = attrs.field(factory=dict)

    def add(self, times: list[int]) -> None:
        self.total += sum(times)
        self.longest = max(self.longest, max(times, default=0))
        steps = self.steps
        for ms in times:
            step = _KNOWN_STEPS[ms] if ms < 1 << 12 else _step(ms)
            steps[step] = steps.get(step, 0) + 1

    @property
    def moves(self) -> int:
        return sum(self.steps.values())

    @property
    def mean(self) -> float | None:
        return self.total / self.moves if self.steps else None

    def percentile(self, percent: int) -> int | None:
        """The time in milliseconds that `percent` of 100 moves did not exceed, rounded up to the end of its step; None
        without moves."""
        left = math.ceil(self.moves * percent / 100)
        for step in sorted(self.steps):
            left -= self.steps[step]
            if left <= 0:
                return min(_highest(step), self.longest)
        return None
