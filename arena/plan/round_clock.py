"""The clock of a round. Pure: the caller measures how long an answer took."""

import math

from arena.plan.time_control import TimeLimits
from engine.cards import Seat
from protocol.messages import Clock

# The clock as a request shows it, and the milliseconds that the answer may take before it is late; infinite without a
# limit.
TimeLeft = tuple[Clock, float]


class RoundClock:
    """The banks of both seats. What a seat has left is computed only when its bank changes."""

    def __init__(self, limits: tuple[TimeLimits, TimeLimits]):
        self._limits = limits
        self._left = [_left(limit, limit.bank_ms) for limit in limits]

    def left(self, seat: Seat) -> TimeLeft:
        return self._left[seat]

    def spend(self, seat: Seat, ms: float) -> None:
        """Take the time of an answer from the seat's bank, and add the increment."""
        bank, limits = self._left[seat][0].bank_ms, self._limits[seat]
        if bank is not None:
            self._left[seat] = _left(limits, max(0, bank - round(ms)) + limits.increment_ms)


def limits_text(clock: Clock) -> str:
    """What a seat has left, in words."""
    parts = [f"{clock.move_ms} ms for an answer"] if clock.move_ms is not None else []
    parts += [f"{clock.bank_ms} ms left in the bank"] if clock.bank_ms is not None else []
    return " and ".join(parts)


def _left(limits: TimeLimits, bank_ms: int | None) -> TimeLeft:
    allowed = [ms for ms in (limits.move_ms, bank_ms) if ms is not None]
    return Clock(limits.move_ms, bank_ms), min(allowed) + limits.margin_ms if allowed else math.inf
