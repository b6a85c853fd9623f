"""The listener of a server whose log is to be short: who comes and goes and what goes wrong, but no line per round."""

import time
from collections.abc import Callable
from typing import Final

from arena.cli.progress import Say
from arena.cli.wording import fault_news, news_text, opened_text
from arena.journal.endings import ENDINGS, Fault
from arena.journal.lines import AnyRound, VoidLine
from arena.server.server_events import CycleBegins, ServerEvent
from arena.support.text import counted
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

_SECONDS: Final = 60.0  # from one line about the rounds so far to the next


class BriefLines:
    """Prints what happens at a server without its rounds, which are counted once a minute. A cycle is named only if
    other bots play in it than in the one before."""

    def __init__(self, say: Say, clock: Callable[[], float] = time.monotonic):
        self._say = say
        self._clock = clock
        self._rounds = self._absent = 0
        self._said_at = clock()
        self._bots: list[str] = []
        self._is_open = False

    def heard(self, event: ServerEvent | TournamentEvent, /) -> None:
        match event:
            case TournamentOpened():
                if not self._is_open and (text := opened_text(event)):  # each cycle of a server for ever opens one
                    self._say(text)
                self._is_open = True
            case RoundStarted() | VerdictAdvanced() | TournamentEnded() | BotIdentified(changes=()):
                pass
            case RoundVoid(VoidLine(deal_exposed=True)):
                pass  # a notice counts them
            case RoundFinished():
                self._finished(event.line)
            case CycleBegins() if event.bots == self._bots:
                pass
            case _:
                if isinstance(event, CycleBegins):
                    self._bots = event.bots
                self._say(news_text(event))

    def _finished(self, line: AnyRound) -> None:
        self._rounds += 1
        if _was_absent(line):
            self._absent += 1
        else:
            for text in fault_news(line):
                self._say(text)
        if self._clock() - self._said_at >= _SECONDS:
            absent = f", {self._absent} of them lost by bots that were not there" if self._absent else ""
            self._say(f"{counted(self._rounds, 'round')} so far{absent}")
            self._said_at = self._clock()


def _was_absent(line: AnyRound) -> bool:
    """Whether a line has said already that the bot left or is withdrawn. A bot that was started and failed has left a
    folder about its fault."""
    ending = ENDINGS[line.result.ending]
    never_came = ending is Fault.FAILED_TO_START and line.fault is not None and line.fault.bundle is None
    return never_came or ending is Fault.DISCONNECTED
