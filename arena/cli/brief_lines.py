"""What the short log of a server says: who comes and goes and what goes wrong, but no line per round."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from arena.cli.wording import AnyEvent, fault_news, news, opening
from arena.journal.endings import ENDINGS, Fault
from arena.journal.lines import AnyRound
from arena.server.server_events import CycleBegins
from arena.support.text import counted
from arena.tournament.tournament_events import RoundFinished, TournamentOpened

_SECONDS: Final = 60.0  # from one line about the rounds so far to the next


class BriefLines:
    """What happens at a server without its rounds, which are counted once a minute. A cycle is named only if other bots
    play in it than in the one before."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._rounds = self._absent = 0
        self._said_at = clock()
        self._bots: list[str] = []
        self._is_open = False

    def lines(self, event: AnyEvent) -> Iterator[str]:
        match event:
            case TournamentOpened():
                if not self._is_open:  # each cycle of a server for ever opens one
                    yield from opening(event)
                self._is_open = True
            case RoundFinished():
                yield from self._finished(event.line)
            case CycleBegins():
                if event.bots != self._bots:
                    yield from news(event)
                self._bots = event.bots
            case _:
                yield from news(event)

    def _finished(self, line: AnyRound) -> Iterator[str]:
        self._rounds += 1
        if _was_absent(line):
            self._absent += 1
        else:
            yield from fault_news(line)
        if self._clock() - self._said_at >= _SECONDS:
            absent = f", {self._absent} of them lost by bots that were not there" if self._absent else ""
            yield f"{counted(self._rounds, 'round')} so far{absent}"
            self._said_at = self._clock()


def _was_absent(line: AnyRound) -> bool:
    """Whether a line has said already that the bot left or is withdrawn. A bot that was started and failed has left a
    folder about its fault."""
    ending = ENDINGS[line.result.ending]
    never_came = ending is Fault.FAILED_TO_START and line.fault is not None and line.fault.bundle is None
    return never_came or ending is Fault.DISCONNECTED
