"""The listener that shows a tournament on a terminal while it runs."""

import time
from collections import Counter

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from arena.cli.progress import stamped
from arena.cli.wording import fault_news, news_text, opened_text
from arena.journal.lines import AnyRound, VoidLine
from arena.server.server_events import ServerEvent
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


class LiveDisplay:
    """Keeps two lines up to date while a tournament runs: how much of it is played, and which bots lead. Prints faults
    and the events of a server above them."""

    def __init__(self, *, with_time: bool = False):
        self._console = Console(stderr=True)
        self._say = stamped(self._print) if with_time else self._print
        self._figures: _Figures | None = None

    def __enter__(self) -> "LiveDisplay":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def heard(self, event: ServerEvent | TournamentEvent, /) -> None:
        match event:
            case TournamentOpened():
                if text := opened_text(event):
                    self._say(text)
                self._figures = _Figures(self._console, event.rounds, event.finished)
            case RoundStarted() | VerdictAdvanced() | BotIdentified(changes=()):
                pass
            case RoundVoid(VoidLine(deal_exposed=True)):
                pass  # a notice counts them
            case RoundFinished():
                self._finished(event.line)
            case TournamentEnded():
                self._stop()
            case _:
                self._say(news_text(event))

    def _finished(self, line: AnyRound) -> None:
        if self._figures is not None:
            self._figures.count(line)
        for text in fault_news(line):
            self._say(text)

    def _stop(self) -> None:
        if self._figures is not None:
            self._figures.stop()
            self._figures = None

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class _Figures:
    """The two lines, on the screen from construction until `stop`. They are worded when the screen is drawn, not for
    each round."""

    def __init__(self, console: Console, total: int, done: int):
        self._progress = Progress(
            MofNCompleteColumn(),
            TextColumn("rounds"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._task = self._progress.add_task("", total=total, completed=done, rate="")
        self._began, self._before, self._count = time.monotonic(), done, 0
        self._points: Counter[str] = Counter()
        self._rounds: Counter[str] = Counter()
        self._live = Live(get_renderable=self._drawn, console=console, refresh_per_second=10)
        self._live.start()

    def count(self, line: AnyRound) -> None:
        self._count += 1
        for name, points in zip(line.bots, line.result.points, strict=True):
            self._points[name] += points
            self._rounds[name] += 1

    def _drawn(self) -> Group:
        if self._count:
            rate = self._count / max(time.monotonic() - self._began, 1e-9)
            self._progress.update(self._task, completed=self._before + self._count, rate=f"{rate:.1f} rounds/s")
        return Group(self._progress, Text(self._leaders(), no_wrap=True, overflow="ellipsis"))

    def _leaders(self) -> str:
        points = self._points.copy()  # rich draws in a thread of its own, and rounds are counted meanwhile
        if not points:
            return ""
        averages = {name: total / self._rounds[name] for name, total in points.items() if self._rounds[name]}
        best = sorted(averages, key=lambda name: -averages[name])[:3]
        return "points per round: " + ", ".join(f"{name} {averages[name]:.2f}" for name in best)

    def stop(self) -> None:
        self._live.stop()
