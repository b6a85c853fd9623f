"""Enforce deadlines, and notice when the arena itself stood still: a bot is not blamed for what the machine did.

One task looks at the clock every few milliseconds, a beat. It cancels what waits beyond its deadline, and when it is
woken late, it knows that all other tasks were too. A round only sets a number for each question; to move a trio
deadline for each would cost a tenth of the time that the arena needs for a decision.

Only a stall at the very moment of a deadline matters: then no task looked whether the answer came in time. Any other
delay leaves the bot its time, so it excuses nothing.
"""

import contextlib
import math
from collections import deque
from collections.abc import Iterator
from typing import Final

import attrs
import trio

_BEAT: Final = 0.005  # seconds between two looks at the clock; a deadline is noticed that much late at most
_NOTABLE: Final = 0.002  # seconds; a beat that is late by less than this is ordinary
_KEPT: Final = 2000  # stalls; at one a beat that is the last fifteen seconds


@attrs.define(eq=False)
class Deadline:
    """When to stop waiting; `scope` is cancelled once the deadline has passed."""

    scope: trio.CancelScope
    at: float = math.inf  # in trio's time


@attrs.frozen
class Stall:
    """A period, in trio's time, in which the arena stood still."""

    since: float
    until: float


class Watchdog:
    """Cancels what waits beyond its deadline, and remembers the latest stalls."""

    def __init__(self) -> None:
        self._deadlines: set[Deadline] = set()
        self._last_beat = math.inf  # in trio's time
        self._stalls: deque[Stall] = deque(maxlen=_KEPT)

    async def run(self) -> None:
        """Look at the clock at every beat, until cancelled."""
        self._last_beat = trio.current_time()
        while True:
            await trio.sleep(_BEAT)
            if self._beat():
                # Answers that came in the meantime are read first: this beat may have been due before the stall, and
                # then trio has not looked at any descriptor since. Only once: a busy arena is late at every beat.
                await trio.lowlevel.checkpoint()
                self._beat()
            for deadline in self._deadlines:
                if deadline.at <= self._last_beat:
                    deadline.scope.cancel()

    def _beat(self) -> bool:
        """Note the time and return whether there was a stall since the last beat. No stall is missed between beats."""
        now = trio.current_time()
        stall = self._stall_until(now)
        if stall is not None:
            self._stalls.append(stall)
        self._last_beat = now
        return stall is not None

    @contextlib.contextmanager
    def deadline(self) -> Iterator[Deadline]:
        """Enforce a deadline while the block runs; the block sets its `at`."""
        with trio.CancelScope() as scope:
            deadline = Deadline(scope)
            self._deadlines.add(deadline)
            try:
                yield deadline
            finally:
                self._deadlines.remove(deadline)

    def stall_at(self, moment: float) -> Stall | None:
        """The stall that covers this moment, in trio's time, if any. After a stall another task may run before the beat
        that was due, so a beat that is overdue right now counts as a stall as well."""
        overdue = self._stall_until(trio.current_time())
        stalls = [*self._stalls, overdue] if overdue else self._stalls
        return next((stall for stall in reversed(stalls) if stall.since <= moment <= stall.until), None)

    def _stall_until(self, now: float) -> Stall | None:
        if now - self._last_beat <= _BEAT + _NOTABLE:
            return None
        return Stall(self._last_beat, now)
