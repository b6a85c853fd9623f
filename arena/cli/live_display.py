"""How a tournament is shown on a terminal while it runs, whatever of it is."""

from collections.abc import Iterable
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from arena.cli.progress import stamped
from arena.cli.wording import AnyEvent, Wording
from arena.tournament.tournament_events import TournamentEnded, TournamentOpened


class Figures(Protocol):
    """What is kept up to date. It is worded when the screen is drawn, by a thread of its own, and not for each round:
    so it changes while it is worded."""

    def heard(self, event: AnyEvent, /) -> None: ...

    def drawn(self) -> Iterable[RenderableType]:
        """From top to bottom; a text is one line."""
        ...


class LiveDisplay:
    """Keeps figures up to date while a tournament runs, and prints above them what the wordings have to say. When the
    tournament is over, the figures stay on the screen, unless they are `transient`."""

    def __init__(
        self,
        figures: Figures,
        *wordings: Wording,
        on_stderr: bool = True,
        transient: bool = False,
        with_time: bool = False,
    ):
        self._figures = figures
        self._wordings = wordings
        self._console = Console(stderr=on_stderr)
        self._transient = transient
        self._say = stamped(self._print) if with_time else self._print
        self._live: Live | None = None

    def __enter__(self) -> "LiveDisplay":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def heard(self, event: AnyEvent, /) -> None:
        self._figures.heard(event)
        for wording in self._wordings:
            for text in wording(event):
                self._say(text)
        match event:
            case TournamentOpened():
                self._live = Live(get_renderable=self._drawn, console=self._console, transient=self._transient)
                self._live.start()
            case TournamentEnded():
                self._stop()

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _drawn(self) -> Group:
        parts = self._figures.drawn()
        return Group(
            *(Text(part, no_wrap=True, overflow="ellipsis") if isinstance(part, str) else part for part in parts)
        )

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
