"""The listeners of a single match: its rounds, and the score so far with its interval."""

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

import click
import msgspec

from arena.cli.guarded_output import guarded_output
from arena.cli.progress import PlainLines, Say
from arena.cli.shared import say_on_stderr
from arena.cli.wording import duration_text
from arena.journal.lines import AnyRound, TournamentLine, encoded
from arena.journal.reader import no_progress
from arena.plan.config import Config
from arena.stats.round_summary import RoundResult
from arena.tournament.tournament_events import (
    Listener,
    RoundFinished,
    TournamentEnded,
    TournamentEvent,
    TournamentOpened,
)

if TYPE_CHECKING:
    from arena.server.server_events import ServerEvent
    from arena.stats.standings import Standings

_SHARES: Final = 10  # of a match after which the score is printed, where there is no terminal
_REDRAWN: Final = 0.25  # seconds from one score on a terminal to the next
_decode: Final = msgspec.json.Decoder(RoundResult).decode


@contextmanager
def match_progress(config: Config) -> "Iterator[Listener]":
    """The listener that the terminal asks for. If there is a journal, it never raises because its output cannot be
    written."""
    with guarded_output(config.journal, needed=not config.kept), _match_progress(RunningScore(config)) as listener:
        yield listener


def _match_progress(score: "RunningScore") -> "AbstractContextManager[Listener]":
    if sys.stdout.isatty():
        return LiveMatch(score)
    lines = PlainLines(click.echo, starts=False, remark=say_on_stderr, forecast=True)
    return nullcontext(MatchLines(lines, click.echo, score))


def lines_of_match(say: Say) -> "AbstractContextManager[Listener]":
    """The listener for a match in which a person plays, who knows the score: only a line for each round."""
    return nullcontext(PlainLines(say, starts=False, remark=say_on_stderr))


class RunningScore:
    """The score of a match while it is played."""

    def __init__(self, config: Config):
        self._config = config
        self._standings: Standings | None = None
        self._new: list[RoundResult] = []  # not in the standings yet

    def opened(self, finished: int) -> None:
        """Take note that the match begins, or resumes after this number of rounds, which are in the journal."""
        if finished and self._config.journal is not None:
            from arena.stats.standings import Standings, fold_once

            rounds = fold_once([self._config.journal], Standings(), RoundResult, lambda *_: None, no_progress)
            self._standings, _ = rounds

    def add(self, line: AnyRound) -> None:
        self._new.append(_decode(encoded(line)))

    def text(self) -> str:
        """The score so far, of at least one round."""
        from arena.journal.tournament_state import TournamentState
        from arena.stats.match_score import running_text  # loads numpy, which nothing needs before
        from arena.stats.standings import Standings

        if self._standings is None:
            self._standings = Standings()
            opening = TournamentLine(config=self._config.recorded(), started="")
            self._standings.begin(TournamentState(opening))
        for line in self._new:
            self._standings.add(line)
        self._new.clear()
        return running_text(self._standings, self._config.bots[0].name, self._config.bots[1].name)


class MatchLines:
    """Prints the lines of rounds, and the score after each tenth of the match."""

    def __init__(self, lines: PlainLines, say: Say, score: RunningScore):
        self._lines = lines
        self._say = say
        self._score = score
        self._total = self._finished = 0

    def heard(self, event: "ServerEvent | TournamentEvent", /) -> None:
        self._lines.heard(event)
        match event:
            case TournamentOpened():
                self._total, self._finished = event.rounds, event.finished
                self._score.opened(event.finished)
            case RoundFinished():
                self._score.add(event.line)
                self._finished += 1
                before, now = (_SHARES * count // self._total for count in (self._finished - 1, self._finished))
                if now > before and self._finished < self._total and self._total >= _SHARES:
                    self._say(self._score.text())


class LiveMatch:
    """Prints the lines of rounds on a terminal, and keeps the score so far and the time left up to date below them."""

    def __init__(self, score: RunningScore):
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self._console = Console()
        self._lines = PlainLines(self._print, starts=False)
        self._score = score
        self._live = Live(console=self._console, transient=True, auto_refresh=False)
        self._worded = Text
        self._total = self._finished = self._before = 0
        self._began = self._drawn = time.monotonic()

    def __enter__(self) -> "LiveMatch":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def heard(self, event: "ServerEvent | TournamentEvent", /) -> None:
        self._lines.heard(event)
        match event:
            case TournamentOpened():
                self._total, self._finished, self._before = event.rounds, event.finished, event.finished
                self._score.opened(event.finished)
                self._began = time.monotonic()
                self._live.update(f"{event.finished} of {event.rounds} rounds", refresh=True)
            case RoundFinished():
                self._score.add(event.line)
                self._finished += 1
                if time.monotonic() - self._drawn > _REDRAWN:
                    self._draw()
            case TournamentEnded():
                self._live.update("", refresh=True)

    def _draw(self) -> None:
        now = self._drawn = time.monotonic()
        left = (now - self._began) / (self._finished - self._before) * (self._total - self._finished)
        text = f"{self._score.text()}\n{self._finished} of {self._total} rounds, about {duration_text(left)} left"
        self._live.update(self._worded(text, no_wrap=True, overflow="ellipsis"), refresh=True)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
