"""What is shown of a sequential test: how far it is, on a terminal all the time and in a pipe now and then."""

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

from arena.cli.progress import PlainLines
from arena.cli.shared import say_on_stderr
from arena.cli.wording import AnyEvent, duration_text, faults, news, opening
from arena.journal.sequential_test import SprtState
from arena.stats.sprt_report import counts_text, elo_text, faults_text, pairs_to_come, ratio_text
from arena.support.text import counted
from arena.tournament.tournament_events import TournamentOpened, VerdictAdvanced

if TYPE_CHECKING:
    from arena.server.server_events import ServerListener

_SHOWN_FAULTS: Final = 10  # one by one; further ones are only counted
_GROWTH: Final = 1.5  # from one line to the next, so that a long test does not print thousands


def sprt_progress() -> "AbstractContextManager[ServerListener]":
    """The listener that the terminal asks for."""
    test, wordings = RunningTest(), (_opening, FirstFaults().lines, news)
    if sys.stderr.isatty():
        from arena.cli.live_display import LiveDisplay

        return LiveDisplay(test, *wordings)
    return nullcontext(PlainLines(dict.fromkeys([*wordings, test.lines], say_on_stderr)))


def _opening(event: AnyEvent) -> Iterator[str]:
    if isinstance(event, TournamentOpened) and event.finished:  # without a total: most of a test is never played
        yield f"{counted(event.finished, 'round is', 'rounds are')} in the journal already."
    else:
        yield from opening(event)


class FirstFaults:
    """What went wrong in the first rounds with a fault."""

    def __init__(self) -> None:
        self._rounds = 0

    def lines(self, event: AnyEvent) -> Iterator[str]:
        if texts := faults(event):
            self._rounds += 1
            if self._rounds <= _SHOWN_FAULTS:
                yield from texts
            elif self._rounds == _SHOWN_FAULTS + 1:
                yield "Further faults are only counted."


class RunningTest:
    """How far a sequential test is, and how fast this run plays pairs."""

    def __init__(self) -> None:
        self._state: SprtState | None = None
        self._began = time.monotonic()
        self._before = 0  # pairs that were played before this run
        self._next = 1.0  # the number of pairs at which there is a line in a pipe

    def heard(self, event: AnyEvent, /) -> None:
        match event:
            case VerdictAdvanced(SprtState() as state):
                if self._state is None:
                    self._before = state.counted
                self._state = state

    def lines(self, event: AnyEvent) -> Iterator[str]:
        """A line each time that there are half as many pairs again."""
        self.heard(event)
        state = self._state
        if state is not None and state.counted >= self._next and state.end is None:
            self._next = max(state.counted + 1, state.counted * _GROWTH)
            parts = ratio_text(state), counts_text(state), elo_text(state), faults_text(state)
            yield "  ".join([*parts, self._to_come(state)])

    def drawn(self) -> list[str]:
        state = self._state  # it changes meanwhile
        if state is None or not state.counted:
            return ["The first pair is being played."]
        counts = f"{ratio_text(state)}  {counts_text(state)}"
        return [counts, elo_text(state), f"{self._to_come(state)}  {faults_text(state)}"]

    def _to_come(self, state: SprtState) -> str:
        pairs, left, played = counted(state.counted, "pair"), pairs_to_come(state), state.counted - self._before
        if left is None:
            return pairs
        took = time.monotonic() - self._began
        time_left = f", {duration_text(left * (took / played))}" if played else ""
        return f"{pairs}, about {left} to come{time_left}"
