"""How long a bot thought, in memory that does not grow with the number of moves. Pure."""

import math
from typing import Final

import attrs

_FINE: Final = 6  # bits: exact below 64 ms, then 32 steps for each doubling, so about 3 % wide


def _step(ms: int) -> int:
    coarse = max(0, ms.bit_length() - _FINE)
    return (coarse << _FINE) + (ms >> coarse)


def _highest(step: int) -> int:
    coarse, fine = step >> _FINE, step & ((1 << _FINE) - 1)
    return ((fine + 1) << coarse) - 1


_KNOWN_STEPS: Final = tuple(_step(ms) for ms in range(1 << 12))  # a journal has a hundred million moves: look it up


@attrs.define
class ThinkingTime:
    """A histogram with steps that widen with the time."""

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
        """So many of a hundred moves took at most this long (the upper end of the step in which it lies)."""
        left = math.ceil(self.moves * percent / 100)
        for step in sorted(self.steps):
            left -= self.steps[step]
            if left <= 0:
                return min(_highest(step), self.longest)
        return None
