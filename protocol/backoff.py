"""When to connect again after a connection failed or was lost. Pure: the caller passes the time and a random number."""

from typing import Final

FIRST_WAIT: Final = 0.2  # seconds before the first attempt to reconnect; doubled for each further one ...
LONGEST_WAIT: Final = 10.0  # ... up to this


class Backoff:
    """The waits of one bot. It gives up after `patience` seconds without a welcome."""

    def __init__(self, patience: float, now: float):
        self._patience = patience
        self.welcomed(now)

    def welcomed(self, now: float) -> None:
        """Note that the server welcomed the bot: the next failure starts with a short wait and full patience."""
        self._wait = FIRST_WAIT
        self._until = now + self._patience

    def next_wait(self, now: float, dice: float) -> float | None:
        """Seconds to wait before the next attempt; None to give up.

        `dice` is a random number from 0 to 1, so that bots that lost the same server do not all reconnect at once.
        """
        if now + self._wait > self._until:
            return None
        wait = self._wait * (0.5 + dice / 2)
        self._wait = min(2 * self._wait, LONGEST_WAIT)
        return wait
