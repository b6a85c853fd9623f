"""Deadlines, and how late the arena itself is: a bot is not blamed for what the host did.

One task looks at the clock every few milliseconds. It ends the rounds whose deadline has passed, and when it is woken
late it knows that everybody else was, too. Rounds only set a number for each question; moving a trio deadline for each
would cost a tenth of the time that the arena needs for a decision.
"""

import contextlib
import math
from collections import deque
from collections.abc import Iterator
from typing import Final

import attrs
import trio

_BEAT: Final = 0.005  # seconds between two looks at the clock; a deadline is noticed that much late at most
_NOTABLE: Final = 0.002  # seconds; a delay below this is ordinary
_KEPT: Final = 2000  # notable delays; at one a beat that is the last ten seconds


@attrs.define(eq=False)
class Deadline:
    """Of whatever is waited for in a round; `scope` is cancelled once it has passed."""

    scope: trio.CancelScope
    at: float = math.inf  # in trio's time


class Watch:
    def __init__(self) -> None:
        self._deadlines: set[Deadline] = set()
        self._delays: deque[tuple[float, float]] = deque(maxlen=_KEPT)

    async def run(self) -> None:
        while True:
            before = trio.current_time()
            await trio.sleep(_BEAT)
            now = trio.current_time()
            if now - before - _BEAT > _NOTABLE:
                self._delays.append((now, now - before - _BEAT))
            for deadline in self._deadlines:
                if deadline.at <= now:
                    deadline.scope.cancel()

    @contextlib.contextmanager
    def deadline(self) -> Iterator[Deadline]:
        with trio.CancelScope() as scope:
            deadline = Deadline(scope)
            self._deadlines.add(deadline)
            try:
                yield deadline
            finally:
                self._deadlines.remove(deadline)

    def worst_delay_since(self, moment: float) -> float:
        """Seconds; `moment` is in trio's time."""
        return max((delay for when, delay in self._delays if when >= moment), default=0.0)
