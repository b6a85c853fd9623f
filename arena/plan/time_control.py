"""Time limits: how long a bot may take to start and to answer. Pure."""

import re
from typing import Final

from msgspec import Struct

from protocol.messages import MatchClock


class ClockError(Exception):
    """A text is not a time control: what it is, and what was expected."""

    def __init__(self, problem: str, expected: str):
        super().__init__(f"{problem}; expected {expected}")
        self.expected = expected


USUAL_MS: Final = 10_000  # to start, and for each answer, unless the organiser or author says otherwise


class TimeLimits(Struct, frozen=True):
    """Limits in milliseconds; None means no limit. Journals keep them as the `clock` of a bot, in this order."""

    move_ms: int | None = USUAL_MS  # for each answer
    bank_ms: int | None = None  # for all answers of a round together
    increment_ms: int = 0  # added to the bank after each answer
    start_ms: int | None = USUAL_MS  # to start and say hello
    margin_ms: int = 50  # how late an answer may be without being a fault

    @property
    def bank(self) -> tuple[int, int] | None:
        """Bank and increment as one value; None without a bank."""
        return None if self.bank_ms is None else (self.bank_ms, self.increment_ms)

    def for_match(self) -> MatchClock:
        return MatchClock(self.move_ms, self.bank_ms, self.increment_ms)


_TC: Final = re.compile(r"(?:(\d+)/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")


def parse_tc(text: str) -> tuple[int, int]:
    """Parse a time control as chess tools write it, and return bank and increment in milliseconds: 10+0.1 means ten
    seconds for the round, plus a tenth of a second after each answer. Raises ClockError."""
    found = _TC.fullmatch(text)
    if not found:
        raise ClockError(f"{text!r} is not a time control", "seconds for a round, such as 10+0.1")
    moves, seconds, increment = found.groups()
    if moves is not None:
        raise ClockError(f"{text!r} gives time for some moves", "seconds for the whole round, such as 10+0.1")
    return round(float(seconds) * 1000), round(float(increment or 0) * 1000)
