"""Listeners that print the events of a tournament: a live display on a terminal, plain lines or JSON elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.forecast import Forecast
from arena.cli.guarded_output import guarded_output, json_event
from arena.cli.shared import say_on_stderr
from arena.cli.wording import (
    ending_text,
    fault_lines,
    news_text,
    opened_text,
    pairing,
    score_text,
)
from arena.journal.lines import AnyRound, VoidLine, is_forfeit
from arena.support.timestamps import log_time
from arena.tournament.tournament_events import (
    BotIdentified,
    RoundFinished,
    RoundStarted,
    RoundVoid,
    TournamentEnded,
    TournamentEvent,
    TournamentOpened,
    VerdictAdvanced,
)

if TYPE_CHECKING:
    from arena.server.server_events import ServerEvent, ServerListener

Say = Callable[[str], None]


@contextmanager
def progress_of(
    events: bool, quiet: bool, journal: Path | None, *, brief: bool = False, with_time: bool = False
) -> "Iterator[ServerListener]":
    """The listener that the options and the terminal ask for. It never raises because its output cannot be written."""
    with guarded_output(journal, events=events), _listening(events, quiet, brief, with_time) as listener:
        yield listener


def _listening(events: bool, quiet: bool, brief: bool, with_time: bool) -> "AbstractContextManager[ServerListener]":
    if events:
        return nullcontext(JsonEvents(click.echo))
    if quiet:
        return nullcontext(Quiet())
    say = stamped(say_on_stderr) if with_time else say_on_stderr
    if brief:
        from arena.cli.brief_lines import BriefLines

        return nullcontext(BriefLines(say))
    if sys.stderr.isatty():
        from arena.cli.live_display import LiveDisplay

        return LiveDisplay(with_time=with_time)
    return nullcontext(PlainLines(say, forecast=not with_time))


def stamped(say: Say) -> Say:
    """`say` with the local date and time before each line."""

    def say_with_time(text: str) -> None:
        now = log_time()
        for line in text.split("\n"):
            say(f"{now} {line}")

    return say_with_time


class Quiet:
    """Prints nothing."""

    def heard(self, event: "ServerEvent | TournamentEvent", /) -> None:
        pass


class PlainLines:
    """Prints a line for each round, worded as chess tools do. The line about rounds that were played before goes to
    `remark`, if it is given, and so does, with `forecast`, the one about how long it will take."""

    def __init__(self, say: Say, *, starts: bool = True, remark: Say | None = None, forecast: bool = False):
        self._say, self._starts = say, starts
        self._foretells = forecast
        self._forecast = Forecast(0)
        self._remark = remark or say
        self._total = 0
        self._numbers: dict[str, int] = {}
        self._next = 1

    def heard(self, event: "ServerEvent | TournamentEvent", /) -> None:
        match event:
            case TournamentOpened():
                self._total, self._next = event.rounds, event.finished + 1
                self._numbers.clear()
                self._forecast = Forecast(event.rounds - event.finished)
                if text := opened_text(event):
                    self._remark(text)
            case BotIdentified(changes=()):
                pass  # no news: it is the first of its name
            case RoundStarted():
                self._started(event)
            case RoundFinished():
                self._finished(event.line)
            case TournamentEnded() | VerdictAdvanced():
                pass
            case RoundVoid(VoidLine(deal_exposed=True)):
                pass  # a notice counts them
            case _:
                self._say(news_text(event))

    def _started(self, event: RoundStarted) -> None:
        self._forecast.started()
        if event.planned.id not in self._numbers:
            self._numbers[event.planned.id] = self._next
            self._next += 1
        if self._starts:
            number = self._numbers[event.planned.id]
            self._say(f"Started round {number} of {self._total} ({pairing(event.bots)})")

    def _finished(self, line: AnyRound) -> None:
        number = self._numbers.pop(line.id, None)
        if number is None:  # forfeited without being started
            number, self._next = self._next, self._next + 1
        if is_forfeit(line):
            return  # the withdrawal was printed already
        self._say(f"Finished round {number} ({pairing(line.bots)}): {score_text(line)} {{{ending_text(line)}}}")
        for text in fault_lines(line):
            self._say(f"  round {line.id}: {text}")
        if (forecast := self._forecast.finished()) and self._foretells:
            self._remark(forecast)


class JsonEvents:
    """Prints each event as a JSON object on a line of its own, for programs."""

    def __init__(self, say: Say):
        self._say = say

    def heard(self, event: "ServerEvent | TournamentEvent", /) -> None:
        text = {} if isinstance(event, TournamentEvent) else {"text": news_text(event)}
        self._say(json_event(event.kind, text | event.facts()))
