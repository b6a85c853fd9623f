"""What is shown of a single match: its rounds, and the score so far with its interval."""

import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Final

import click
import msgspec

from arena.cli.forecast import Forecast
from arena.cli.progress import PlainLines, Say, progress_of
from arena.cli.shared import say_on_stderr
from arena.cli.tournament_progress import RoundLines
from arena.cli.wording import AnyEvent, Wording, duration_text, news, opening
from arena.journal.lines import TournamentLine, encoded
from arena.journal.reader import no_progress
from arena.plan.config import Config
from arena.stats.round_summary import RoundResult
from arena.tournament.tournament_events import Listener, RoundFinished, TournamentOpened

if TYPE_CHECKING:
    from arena.server.server_events import ServerListener
    from arena.stats.standings import Standings

_SHARES: Final = 10  # of a match after which the score is printed, where there is no terminal
_decode: Final = msgspec.json.Decoder(RoundResult).decode


def match_progress(config: Config) -> "AbstractContextManager[ServerListener]":
    """The listener that the terminal asks for. If there is a journal, it never raises because its output cannot be
    written."""
    return progress_of(partial(_shown, RunningScore(config)), config.journal, needed=not config.kept)


def _shown(score: "RunningScore") -> "AbstractContextManager[ServerListener]":
    rounds = RoundLines(starts=False).lines
    if sys.stdout.isatty():
        from arena.cli.live_display import LiveDisplay

        return LiveDisplay(score, opening, rounds, news, on_stderr=False, transient=True)
    wordings: dict[Wording, Say] = {opening: say_on_stderr, rounds: click.echo, news: click.echo}
    wordings |= {Forecast().lines: say_on_stderr, score.lines: click.echo}
    return nullcontext(PlainLines(wordings))


def lines_of_match(say: Say) -> "AbstractContextManager[Listener]":
    """The listener for a match in which a person plays, who knows the score: only a line for each round."""
    return nullcontext(PlainLines({opening: say_on_stderr, RoundLines(starts=False).lines: say, news: say}))


class RunningScore:
    """The score of a match while it is played, and on a terminal the time left."""

    def __init__(self, config: Config):
        self._config = config
        self._standings: Standings | None = None
        self._new: deque[RoundResult] = deque()  # not in the standings yet
        self._total = self._before = self._finished = 0
        self._began = self._finished_at = 0.0
        self._text = ""

    def heard(self, event: AnyEvent, /) -> None:
        match event:
            case TournamentOpened():
                self._total, self._before, self._finished = event.rounds, event.finished, event.finished
                self._resume()
                self._began = time.monotonic()
            case RoundFinished():
                self._new.append(_decode(encoded(event.line)))
                self._finished_at = time.monotonic()
                self._finished += 1

    def lines(self, event: AnyEvent) -> Iterator[str]:
        """The score after each tenth of the match."""
        self.heard(event)
        if isinstance(event, RoundFinished):
            before, now = (_SHARES * count // self._total for count in (self._finished - 1, self._finished))
            if now > before and self._finished < self._total and self._total >= _SHARES:
                yield self._score()

    def drawn(self) -> list[str]:
        finished = self._finished  # further rounds finish meanwhile
        rounds = f"{finished} of {self._total} rounds"
        if finished == self._before:
            return [rounds]
        left = (self._finished_at - self._began) / (finished - self._before) * (self._total - finished)
        return [self._score(), f"{rounds}, about {duration_text(left)} left"]

    def _resume(self) -> None:
        """Begin with the rounds that are in the journal."""
        if self._finished and self._config.journal is not None:
            from arena.stats.standings import Standings, fold_once

            rounds = fold_once([self._config.journal], Standings(), RoundResult, lambda *_: None, no_progress)
            self._standings, _ = rounds

    def _score(self) -> str:
        """The score so far, of at least one round."""
        from arena.journal.tournament_state import TournamentState
        from arena.stats.match_score import running_text  # loads numpy, which nothing needs before
        from arena.stats.standings import Standings

        if self._standings is None:
            self._standings = Standings()
            opening = TournamentLine(config=self._config.recorded(), started="")
            self._standings.begin(TournamentState(opening))
        if self._new:
            while self._new:
                self._standings.add(self._new.popleft())
            self._text = running_text(self._standings, self._config.bots[0].name, self._config.bots[1].name)
        return self._text
