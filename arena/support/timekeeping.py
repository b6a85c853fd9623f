"""Deadlines, and what excuses who missed one: that this program itself stood still. Pure: the caller has the clock.

The rule. The program looks at its clock again and again, at least once in a beat. If it looks later than that, it stood
still in between: it was stopped, or busy, or the machine was. Only a stall at the very moment of a deadline matters:
then nobody looked whether the answer came in time. Any other delay leaves the bot its time, so it excuses nothing.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec import Struct

BEAT: Final = 0.005  # seconds between two looks at the clock, at most
_NOTABLE: Final = 0.002  # seconds; a look that is late by less than this is ordinary
_LATE: Final = BEAT + _NOTABLE
_KEPT: Final = 2000  # stalls; at one a beat that is the last fifteen seconds


class TimeIsUpError(Exception):
    """What was waited for did not happen in time. `at` is the moment at which this was noticed."""

    def __init__(self, at: float):
        super().__init__()
        self.at = at


class Stall(Struct, frozen=True):
    """A period, by the caller's clock, in which the program stood still."""

    since: float
    until: float


class Stalls:
    """Remembers the latest stalls."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.last_look = math.inf
        self.lost = 0.0  # seconds in all stalls
        self._stalls: deque[Stall] = deque(maxlen=_KEPT)

    def begin(self) -> None:
        """Take the first look, or the first one after a rest in which nobody waited for anything."""
        self.last_look = self._now()

    def look(self) -> bool:
        """Look at the clock and return whether there was a stall since the last look. No stall between two looks is
        missed."""
        now = self._now()
        late = now - self.last_look > _LATE
        if late:
            self._stalls.append(Stall(self.last_look, now))
            self.lost += now - self.last_look
        self.last_look = now
        return late

    def stall_at(self, moment: float) -> Stall | None:
        """The stall that covers this moment, if any. After a stall something else may run before the look that was due,
        so a look that is overdue right now counts as a stall as well."""
        now = self._now()
        if now - self.last_look > _LATE and self.last_look <= moment <= now:
            return Stall(self.last_look, now)
        return next((stall for stall in reversed(self._stalls) if stall.since <= moment <= stall.until), None)
