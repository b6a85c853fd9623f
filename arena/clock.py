"""Time limits and the clock of a round. Pure: whoever waited says how long it took."""

import math
import re
from typing import Final

import attrs

from engine.cards import SEATS, Seat
from protocol.messages import Clock, MatchClock


class ClockError(Exception):
    """What somebody wrote is no time limit."""


@attrs.frozen
class Limits:
    """Milliseconds; None is no limit."""

    move_ms: int | None = 10_000  # for each answer
    bank_ms: int | None = None  # for all answers of a round together
    increment_ms: int = 0  # added to the bank after each answer
    start_ms: int | None = 10_000  # to start and say hello
    margin_ms: int = 50  # what an answer may be late without being a fault

    def for_match(self) -> MatchClock:
        return MatchClock(self.move_ms, self.bank_ms, self.increment_ms)


_TC: Final = re.compile(r"(?:(\d+)/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")


def parse_tc(text: str) -> tuple[int, int]:
    """Bank and increment in milliseconds of a time control as chess tools write it: 10+0.1 is ten seconds for the
    round and a tenth of a second more after each answer."""
    found = _TC.fullmatch(text)
    if not found:
        raise ClockError(f"{text!r} is no time control; expected seconds for a round, such as 10+0.1")
    moves, seconds, increment = found.groups()
    if moves is not None:
        raise ClockError(f"{text!r} gives time for some moves; expected seconds for the whole round, such as 10+0.1")
    return round(float(seconds) * 1000), round(float(increment or 0) * 1000)


class RoundClock:
    """The banks of both seats. What a seat is told, and how long it has, change only when its bank does."""

    def __init__(self, limits: tuple[Limits, Limits]):
        self._limits = limits
        self._shown = [Clock(limit.move_ms, limit.bank_ms) for limit in limits]
        self._budgets = [self._budget(seat) for seat in SEATS]

    def shown(self, seat: Seat) -> Clock:
        """As the bot is told."""
        return self._shown[seat]

    def budget_ms(self, seat: Seat) -> float:
        """How long an answer may take before it is late; infinite without a limit."""
        return self._budgets[seat]

    def spend(self, seat: Seat, ms: float) -> None:
        bank, limits = self._shown[seat].bank_ms, self._limits[seat]
        if bank is not None:
            self._shown[seat] = Clock(limits.move_ms, max(0, bank - round(ms)) + limits.increment_ms)
            self._budgets[seat] = self._budget(seat)

    def _budget(self, seat: Seat) -> float:
        shown = self._shown[seat]
        allowed = [ms for ms in (shown.move_ms, shown.bank_ms) if ms is not None]
        return min(allowed) + self._limits[seat].margin_ms if allowed else math.inf
