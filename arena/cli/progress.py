"""Listeners that print the events of a tournament: a live display on a terminal, plain lines or JSON elsewhere."""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime

import click
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from arena.cli.shared import say_on_stderr
from arena.cli.wording import (
    ending_text,
    fault_lines,
    news_text,
    pairing,
    resumed_text,
    score_text,
    server_text,
)
from arena.journal.lines import RoundLine, is_forfeit
from arena.server.events import ServerEvent, ServerListener
from arena.tournament.events import RoundFinished, RoundStarted, TournamentEnded, TournamentEvent, TournamentOpened

Say = Callable[[str], None]
AnyEvent = ServerEvent | TournamentEvent


def progress_of(events: bool, quiet: bool, with_time: bool = False) -> AbstractContextManager[ServerListener]:
    """The listener that the options and the terminal ask for."""
    if events:
        return nullcontext(JsonEvents(click.echo))
    if quiet:
        return nullcontext(Quiet())
    if sys.stderr.isatty():
        return LiveDisplay(with_time=with_time)
    return nullcontext(PlainLines(stamped(say_on_stderr) if with_time else say_on_stderr))


def stamped(say: Say) -> Say:
    """`say` with the local time before each line."""

    def say_with_time(text: str) -> None:
        now = f"{datetime.now():%H:%M:%S}"
        for line in text.split("\n"):
            say(f"{now} {line}")

    return say_with_time


class Quiet:
    """Prints nothing."""

    def heard(self, event: AnyEvent, /) -> None:
        pass


class PlainLines:
    """Prints a line for each round, worded as chess tools do. The line about rounds that were played before goes to
    `remark`, if it is given."""

    def __init__(self, say: Say, *, starts: bool = True, remark: Say | None = None):
        self._say, self._starts = say, starts
        self._remark = remark or say
        self._total = 0
        self._numbers: dict[str, int] = {}
        self._next = 1

    def heard(self, event: AnyEvent, /) -> None:
        match event:
            case TournamentOpened():
                self._total, self._next = event.rounds, event.finished + 1
                self._numbers.clear()
                if text := resumed_text(event):
                    self._remark(text)
            case RoundStarted():
                self._started(event)
            case RoundFinished():
                self._finished(event.line)
            case TournamentEnded():
                pass
            case _:
                self._say(news_text(event))

    def _started(self, event: RoundStarted) -> None:
        if event.planned.id not in self._numbers:
            self._numbers[event.planned.id] = self._next
            self._next += 1
        if self._starts:
            number = self._numbers[event.planned.id]
            self._say(f"Started round {number} of {self._total} ({pairing(event.bots)})")

    def _finished(self, line: RoundLine) -> None:
        number = self._numbers.pop(line.id, None)
        if number is None:  # forfeited without being started
            number, self._next = self._next, self._next + 1
        if is_forfeit(line):
            return  # the withdrawal was printed already
        self._say(f"Finished round {number} ({pairing(line.bots)}): {score_text(line)} {{{ending_text(line)}}}")
        for text in fault_lines(line):
            self._say(f"  round {line.id}: {text}")


class JsonEvents:
    """Prints each event as a JSON object on a line of its own, for programs."""

    def __init__(self, say: Say):
        self._say = say

    def heard(self, event: AnyEvent, /) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        text = {"text": server_text(event)} if isinstance(event, ServerEvent) else {}
        self._say(json.dumps({"event": event.kind, "time": now} | text | event.facts()))


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

    def heard(self, event: AnyEvent, /) -> None:
        match event:
            case TournamentOpened():
                if text := resumed_text(event):
                    self._say(text)
                self._figures = _Figures(self._console, event.rounds, event.finished)
            case RoundStarted():
                pass
            case RoundFinished():
                self._finished(event.line)
            case TournamentEnded():
                self._stop()
            case _:
                self._say(news_text(event))

    def _finished(self, line: RoundLine) -> None:
        if self._figures is not None:
            self._figures.count(line)
        if line.fault and not is_forfeit(line):
            for text in fault_lines(line):
                self._say(f"Round {line.id} ({pairing(line.bots)}): {ending_text(line)}: {text}")

    def _stop(self) -> None:
        if self._figures is not None:
            self._figures.stop()
            self._figures = None

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class _Figures:
    """The two lines, on the screen from construction until `stop`."""

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
        self._leaders = Text(no_wrap=True, overflow="ellipsis")
        self._began, self._count = time.monotonic(), 0
        self._points: Counter[str] = Counter()
        self._rounds: Counter[str] = Counter()
        self._live = Live(Group(self._progress, self._leaders), console=console, refresh_per_second=10)
        self._live.start()

    def count(self, line: RoundLine) -> None:
        self._count += 1
        for name, points in zip(line.bots, line.result.points, strict=True):
            self._points[name] += points
            self._rounds[name] += 1
        rate = self._count / max(time.monotonic() - self._began, 1e-9)
        self._progress.update(self._task, advance=1, rate=f"{rate:.1f} rounds/s")
        averages = {name: self._points[name] / rounds for name, rounds in self._rounds.items()}
        best = sorted(averages, key=lambda name: -averages[name])[:3]
        self._leaders.plain = "points per round: " + ", ".join(f"{name} {averages[name]:.2f}" for name in best)

    def stop(self) -> None:
        self._live.stop()
