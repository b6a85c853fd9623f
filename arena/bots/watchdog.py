"""Enforce deadlines in trio, and notice stalls (support/timekeeping.py).

One task looks at the clock once in a beat. It cancels what waits beyond its deadline, and when it is woken late, it
knows that all other tasks were too. A question only sets a number; to move a trio deadline for each would cost a tenth
of the time that the arena needs for a decision.
"""

import contextlib
import math
from collections.abc import Callable, Iterator

import attrs
import trio

from arena.support.timekeeping import BEAT, Stalls


@attrs.define(eq=False)
class Deadline:
    """When to stop waiting; `scope` is cancelled once the deadline has passed."""

    scope: trio.CancelScope
    at: float = math.inf  # in trio's time
    meanwhile_at: float = math.inf  # from then on, at each beat
    meanwhile: Callable[[], None] = attrs.field(default=lambda: None)

    def enforce(self, now: float) -> None:
        if self.at <= now:
            self.scope.cancel()
        elif self.meanwhile_at <= now:
            self.meanwhile()


class Watchdog(Stalls):
    """Cancels what waits beyond its deadline, and remembers the latest stalls, in trio's time."""

    def __init__(self) -> None:
        super().__init__(trio.current_time)
        self._deadlines: set[Deadline] = set()

    async def run(self) -> None:
        """Look at the clock at every beat, until cancelled."""
        self.begin()
        while True:
            await trio.sleep(BEAT)
            if self.look():
                # Answers that came in the meantime are read first: this beat may have been due before the stall, and
                # then trio has not looked at any descriptor since. Only once: a busy arena is late at every beat.
                await trio.lowlevel.checkpoint()
                self.look()
            for deadline in self._deadlines:
                deadline.enforce(self.last_look)

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
