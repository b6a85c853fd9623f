"""Say how long a run will take, once its first rounds show it."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from arena.cli.wording import AnyEvent, duration_text
from arena.journal.lines import is_forfeit
from arena.tournament.tournament_events import RoundFinished, RoundStarted, TournamentOpened

_LONG: Final = 60.0  # seconds; a shorter run is over before anybody would plan by its forecast
_LEFT: Final = 30.0  # seconds that remain at least; with fewer, it is too late for a forecast
_ENOUGH_ROUNDS: Final = 10
_ENOUGH_SECONDS: Final = 5.0  # or so much time, if rounds are slow


class Forecast:
    """Knows when a run began and how many rounds it has; `now` is a clock in seconds."""

    def __init__(self, rounds: int = 0, now: Callable[[], float] = time.monotonic):
        self._rounds = rounds
        self._now = now
        self._began: float | None = None
        self._finished = 0
        self._is_said = False

    def lines(self, event: AnyEvent) -> Iterator[str]:
        match event:
            case TournamentOpened():
                self._rounds = event.rounds - event.finished
            case RoundStarted():
                self.started()
            case RoundFinished() if not is_forfeit(event.line) and (text := self.finished()):
                yield text

    def started(self) -> None:
        """A round begins; the first one begins the run."""
        if self._began is None:
            self._began = self._now()

    def finished(self) -> str | None:
        """A round is finished. Returns the forecast, once, if the run will take long."""
        self._finished += 1
        if self._is_said or self._began is None:
            return None
        took = self._now() - self._began
        if self._finished < _ENOUGH_ROUNDS and took < _ENOUGH_SECONDS:
            return None
        whole = took / self._finished * self._rounds
        if whole <= _LONG or whole - took < _LEFT:
            return None  # perhaps later: the first rounds may be quicker than the others
        self._is_said = True
        return (
            f"This will take about {duration_text(whole)}: {self._finished} of {self._rounds} rounds took {took:.1f} s."
        )
