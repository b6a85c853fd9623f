"""Time limits and the clock of a round. Pure: whoever waited says how long it took."""

import re
from typing import Final

import attrs

from engine.cards import Seat
from protocol.messages import Clock, MatchClock


class ClockError(Exception):
    """What somebody wrote is no time limit."""


@attrs.frozen
class Limits:
    """Milliseconds; None is no limit."""

    move_ms: int | None = 10_000  # for each answer
    bank_ms: int | None = None  # for all answers of a round together
    increment_ms: int = 0  # added to the bank after each answer
    start_ms: int = 10_000  # to start and say hello
    margin_ms: int = 50  # what an answer may be late without being a fault

    def for_match(self) -> MatchClock:
        return MatchClock(self.move_ms, self.bank_ms, self.increment_ms)


_TC: Final = re.compile(r"(?:(\d+)/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")


def parse_tc(text: str) -> tuple[int, int]:
    """Bank and increment in milliseconds of a time control as chess tools write it: 10+0.1 is ten seconds for the
    round and a tenth of a second more after each answer."""
    found = _TC.fullmatch(text)
    if not found:
        raise ClockError(f"{text!r} is no time control; 10+0.1 is ten seconds a round and 0.1 more for each answer")
    moves, seconds, increment = found.groups()
    if moves is not None:
        raise ClockError(f"{text!r} gives time for a number of moves; here it is for the round, like 10+0.1")
    return round(float(seconds) * 1000), round(float(increment or 0) * 1000)


class RoundClock:
    """The banks of both seats."""

    def __init__(self, limits: tuple[Limits, Limits]):
        self._limits = limits
        self._banks = [limit.bank_ms for limit in limits]

    def shown(self, seat: Seat) -> Clock:
        """As the bot is told."""
        return Clock(self._limits[seat].move_ms, self._banks[seat])

    def budget_ms(self, seat: Seat) -> int | None:
        """How long an answer may take before it is late."""
        allowed = [ms for ms in (self._limits[seat].move_ms, self._banks[seat]) if ms is not None]
        return min(allowed) + self._limits[seat].margin_ms if allowed else None

    def spend(self, seat: Seat, ms: float) -> None:
        bank = self._banks[seat]
        if bank is not None:
            self._banks[seat] = max(0, bank - round(ms)) + self._limits[seat].increment_ms
