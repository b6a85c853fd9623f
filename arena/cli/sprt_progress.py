"""Listeners that print how a sequential test goes: a live display on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Final

from arena.cli.shared import say_on_stderr
from arena.cli.wording import duration_text, fault_news, news_text, opened_text
from arena.journal.lines import AnyRound, VoidLine
from arena.journal.sequential_test import SprtState
from arena.stats.sprt_report import counts_text, elo_text, faults_text, pairs_to_come, ratio_text
from arena.support.text import counted
from arena.tournament.tournament_events import (
    BotIdentified,
    BotReadmitted,
    BotWithdrawn,
    Listener,
    Noticed,
    RoundFinished,
    RoundStarted,
    RoundVoid,
    TournamentEnded,
    TournamentEvent,
    TournamentOpened,
    VerdictAdvanced,
)

if TYPE_CHECKING:
    from rich.console import Group

_SHOWN_FAULTS: Final = 10  # one by one; further ones are only counted
_GROWTH: Final = 1.5  # from one line to the next, so that a long test does not print thousands


def sprt_progress() -> "AbstractContextManager[Listener]":
    return LiveSprt() if sys.stderr.isatty() else nullcontext(SprtLines(say_on_stderr))


class _Pace:
    """How fast this run plays pairs."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._before: int | None = None

    def seconds(self, state: SprtState, pairs: int) -> float | None:
        """About how long this number of pairs takes; None if it is not known yet."""
        if self._before is None:
            self._before = state.counted
        played = state.counted - self._before
        return pairs * (time.monotonic() - self._began) / played if played else None


def _to_come(state: SprtState, pace: _Pace) -> str:
    took, left = pace.seconds(state, 1), pairs_to_come(state)
    if left is None:
        return counted(state.counted, "pair")
    time_left = "" if took is None else f", {duration_text(left * took)}"
    return f"{counted(state.counted, 'pair')}, about {left} to come{time_left}"


class _Incidents:
    """Prints what happens besides results: faults, and rounds that are played again."""

    def __init__(self, say: Callable[[str], None]):
        self._say = say
        self._faults = 0

    def heard(self, event: RoundFinished | RoundVoid | BotWithdrawn | BotReadmitted | BotIdentified | Noticed) -> None:
        match event:
            case RoundFinished():
                if event.line.fault:
                    self._fault(event.line)
            case BotIdentified(changes=()):
                pass
            case RoundVoid(VoidLine(deal_exposed=True)):
                pass  # a notice counts them
            case _:
                self._say(news_text(event))

    def _fault(self, line: AnyRound) -> None:
        self._faults += 1
        if self._faults <= _SHOWN_FAULTS:
            for text in fault_news(line):
                self._say(text)
        elif self._faults == _SHOWN_FAULTS + 1:
            self._say("Further faults are only counted.")


class SprtLines:
    """Prints a line each time that a test has half as many pairs again."""

    __test__ = False

    def __init__(self, say: Callable[[str], None]):
        self._say = say
        self._incidents = _Incidents(say)
        self._pace = _Pace()
        self._next = 1.0

    def heard(self, event: TournamentEvent, /) -> None:
        match event:
            case VerdictAdvanced(SprtState() as state):
                self._advanced(state)
            case RoundFinished() | RoundVoid() | BotWithdrawn() | BotReadmitted() | BotIdentified() | Noticed():
                self._incidents.heard(event)
            case TournamentOpened():
                if text := _opened_text(event):
                    self._say(text)
            case RoundStarted() | TournamentEnded() | VerdictAdvanced():
                pass

    def _advanced(self, state: SprtState) -> None:
        self._pace.seconds(state, 1)
        if state.counted >= self._next and state.end is None:
            self._next = max(state.counted + 1, state.counted * _GROWTH)
            parts = ratio_text(state), counts_text(state), elo_text(state), faults_text(state)
            self._say("  ".join([*parts, _to_come(state, self._pace)]))


class LiveSprt:
    """Keeps three lines up to date while a test runs, and prints faults above them."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True)
        self._incidents = _Incidents(self._print)
        self._pace = _Pace()
        self._state: SprtState | None = None
        self._live = Live(get_renderable=self._drawn, console=self._console, refresh_per_second=4)

    def __enter__(self) -> "LiveSprt":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def heard(self, event: TournamentEvent, /) -> None:
        match event:
            case VerdictAdvanced(SprtState() as state):
                self._pace.seconds(state, 1)
                self._state = state
            case RoundFinished() | RoundVoid() | BotWithdrawn() | BotReadmitted() | BotIdentified() | Noticed():
                self._incidents.heard(event)
            case TournamentOpened():
                if text := _opened_text(event):
                    self._print(text)
            case RoundStarted() | TournamentEnded() | VerdictAdvanced():
                pass

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _drawn(self) -> "Group":
        from rich.console import Group
        from rich.text import Text

        state = self._state  # rich draws in a thread of its own, and the state changes meanwhile
        if state is None or not state.counted:
            lines = ["The first pair is being played."]
        else:
            lines = [
                f"{ratio_text(state)}  {counts_text(state)}",
                elo_text(state),
                f"{_to_come(state, self._pace)}  {faults_text(state)}",
            ]
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in lines))


def _opened_text(event: TournamentOpened) -> str | None:
    if not event.finished:
        return opened_text(event)
    return f"{counted(event.finished, 'round is', 'rounds are')} in the journal already."
