"""When a bot is stopped because it is not its turn. Pure: the caller stops it.

Theory of operation. While a bot thinks, the processes of its opponent could take the processor from it. So they are
stopped, and go on when the opponent is sent something. To stop and continue a bot takes about as long as a decision of
a bot that answers at once. So the opponent of such a bot goes on, and is stopped only when an answer has not come
`AT_ONCE`, at the next beat of the driver; that is late, and later still where the opponent keeps the core of the arena
busy. So it is stopped early, before the bot is even asked, if the answer before did not come at once, and for a long
time if it was seen to be busy when it was stopped late.
"""

from typing import Final

AT_ONCE: Final = 0.001  # seconds
_AT_ONCE_MS: Final = AT_ONCE * 1000
_LONG: Final = 1024  # answers


class Turns:
    """What one bot has let its opponents do."""

    def __init__(self) -> None:
        self.stops_early = True  # whether to stop the bot before its opponent is asked
        self._needed = 1
        self._quick = 0  # answers of opponents in a row that came at once

    def opponent_took(self, ms: float) -> None:
        """Its opponent answered after `ms` milliseconds."""
        self._quick = self._quick + 1 if ms < _AT_ONCE_MS else 0
        self.stops_early = self._quick < self._needed

    def was_stopped_late(self, *, busy: bool) -> None:
        """It was stopped when its opponent had been asked for a while, and used the processor then or not."""
        self._needed = _LONG if busy else 1
        self.stops_early = self._quick < self._needed
