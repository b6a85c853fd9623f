"""The clock of a round. Pure: the caller measures how long an answer took."""

import math

from arena.plan.time_control import TimeLimits
from engine.cards import SEATS, Seat
from protocol.messages import Clock


class RoundClock:
    """The banks of both seats. The message and the budget of a seat are computed only when its bank changes."""

    def __init__(self, limits: tuple[TimeLimits, TimeLimits]):
        self._limits = limits
        self._shown = [Clock(limit.move_ms, limit.bank_ms) for limit in limits]
        self._budgets = [self._budget(seat) for seat in SEATS]

    def as_message(self, seat: Seat) -> Clock:
        """The clock as requests to the bot show it."""
        return self._shown[seat]

    def budget_ms(self, seat: Seat) -> float:
        """How long an answer may take before it is late; infinite without a limit."""
        return self._budgets[seat]

    def spend(self, seat: Seat, ms: float) -> None:
        """Take the time of an answer from the seat's bank, and add the increment."""
        bank, limits = self._shown[seat].bank_ms, self._limits[seat]
        if bank is not None:
            self._shown[seat] = Clock(limits.move_ms, max(0, bank - round(ms)) + limits.increment_ms)
            self._budgets[seat] = self._budget(seat)

    def _budget(self, seat: Seat) -> float:
        shown = self._shown[seat]
        allowed = [ms for ms in (shown.move_ms, shown.bank_ms) if ms is not None]
        return min(allowed) + self._limits[seat].margin_ms if allowed else math.inf
