"""Deadlines, and when the arena itself stood still: a bot is not blamed for what the host did.

One task looks at the clock every few milliseconds, a beat. It ends the rounds whose deadline has passed, and when it is
woken late it knows that everybody else was, too. Rounds only set a number for each question; moving a trio deadline for
each would cost a tenth of the time that the arena needs for a decision.

Only a stall over the very moment of a deadline matters: then nobody looked whether the answer was there in time. Any
other delay leaves the bot its time, so it excuses nothing.
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
    """Of whatever is waited for in a round; `scope` is cancelled once it has passed."""

    scope: trio.CancelScope
    at: float = math.inf  # in trio's time


@attrs.frozen
class Stall:
    """The arena gave no sign of life between these moments, in trio's time."""

    since: float
    until: float


class Watchdog:
    def __init__(self) -> None:
        self._deadlines: set[Deadline] = set()
        self._last_beat = math.inf  # in trio's time
        self._stalls: deque[Stall] = deque(maxlen=_KEPT)

    async def run(self) -> None:
        self._last_beat = trio.current_time()
        while True:
            await trio.sleep(_BEAT)
            if self._beat():
                # The answers that came in the meantime are read first: this beat may have been due before the stall,
                # and then trio has not looked at any descriptor since. Once, for a busy arena is late at every beat.
                await trio.lowlevel.checkpoint()
                self._beat()
            for deadline in self._deadlines:
                if deadline.at <= self._last_beat:
                    deadline.scope.cancel()

    def _beat(self) -> bool:
        """Whether there was a stall before it. Every moment lies between two beats, so no stall is missed."""
        now = trio.current_time()
        stall = self._stall_until(now)
        if stall is not None:
            self._stalls.append(stall)
        self._last_beat = now
        return stall is not None

    @contextlib.contextmanager
    def deadline(self) -> Iterator[Deadline]:
        with trio.CancelScope() as scope:
            deadline = Deadline(scope)
            self._deadlines.add(deadline)
            try:
                yield deadline
            finally:
                self._deadlines.remove(deadline)

    def stall_at(self, moment: float) -> Stall | None:
        """The stall that lay over this moment, in trio's time, if there was one. After a stall any task may run before
        the beat that was due, so a beat that is overdue right now counts as well."""
        overdue = self._stall_until(trio.current_time())
        stalls = [*self._stalls, overdue] if overdue else self._stalls
        return next((stall for stall in reversed(stalls) if stall.since <= moment <= stall.until), None)

    def _stall_until(self, now: float) -> Stall | None:
        if now - self._last_beat <= _BEAT + _NOTABLE:
            return None
        return Stall(self._last_beat, now)
