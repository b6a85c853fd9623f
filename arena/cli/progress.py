"""How the events of a tournament are shown, whatever of them is: as lines, as JSON, or not at all. On a terminal there
is a display, too (live_display.py)."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.guarded_output import guarded_output, json_event
from arena.cli.wording import AnyEvent, Wording, news_text
from arena.support.timestamps import log_time
from arena.tournament.tournament_events import TournamentEvent

if TYPE_CHECKING:
    from arena.server.server_events import ServerListener

Say = Callable[[str], None]
# Makes the listener for people, once nothing that it prints can raise.
MakeListener = Callable[[], "AbstractContextManager[ServerListener]"]


@contextmanager
def progress_of(
    shown: MakeListener, journal: Path | None, *, events: bool = False, quiet: bool = False, needed: bool = False
) -> "Iterator[ServerListener]":
    """The listener that the options ask for, which is `shown` if they ask for no other. It never raises because its
    output cannot be written, unless stdout is `needed` because nothing else keeps what is played."""
    with guarded_output(journal, events=events, needed=needed):
        if events:
            yield JsonEvents(click.echo)
        elif quiet:
            yield Quiet()
        else:
            with shown() as listener:
                yield listener


def stamped(say: Say) -> Say:
    """`say` with the local date and time before each line."""

    def say_with_time(text: str) -> None:
        now = log_time()
        for line in text.split("\n"):
            say(f"{now} {line}")

    return say_with_time


class Quiet:
    """Prints nothing."""

    def heard(self, event: AnyEvent, /) -> None:
        pass


class PlainLines:
    """Prints what each of the wordings has to say of an event, in the way that it is given with."""

    def __init__(self, wordings: Mapping[Wording, Say]):
        self._wordings = wordings

    def heard(self, event: AnyEvent, /) -> None:
        for wording, say in self._wordings.items():
            for text in wording(event):
                say(text)


class JsonEvents:
    """Prints each event as a JSON object on a line of its own, for programs."""

    def __init__(self, say: Say):
        self._say = say

    def heard(self, event: AnyEvent, /) -> None:
        text = {} if isinstance(event, TournamentEvent) else {"text": news_text(event)}
        self._say(json_event(event.kind, text | event.facts()))
