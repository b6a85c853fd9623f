"""What is shown of a tournament: a line for each round, or what goes wrong and a bar with the leaders on a terminal."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from arena.cli.forecast import Forecast
from arena.cli.progress import PlainLines, Say, stamped
from arena.cli.shared import say_on_stderr
from arena.cli.wording import AnyEvent, Wording, ending_text, fault_lines, faults, news, opening, pairing, score_text
from arena.journal.lines import AnyRound, is_forfeit
from arena.tournament.tournament_events import RoundFinished, RoundStarted, TournamentOpened

if TYPE_CHECKING:
    from rich.console import RenderableType

    from arena.server.server_events import ServerListener


def tournament_progress(*, brief: bool = False, with_time: bool = False) -> "AbstractContextManager[ServerListener]":
    """The listener that the terminal asks for; `brief` is without lines of rounds, `with_time` for a log."""
    say = stamped(say_on_stderr) if with_time else say_on_stderr
    if brief:
        from arena.cli.brief_lines import BriefLines

        return nullcontext(PlainLines({BriefLines().lines: say}))
    if sys.stderr.isatty():
        from arena.cli.live_display import LiveDisplay

        return LiveDisplay(BarAndLeaders(), opening, faults, news, with_time=with_time)
    return nullcontext(lines_of_rounds(say, *([] if with_time else [Forecast().lines])))


def lines_of_rounds(say: Say, *others: Wording) -> PlainLines:
    """The listener that has a line for each round that begins or is finished, and what the others have to say."""
    return PlainLines(dict.fromkeys([opening, RoundLines().lines, news, *others], say))


class RoundLines:
    """A line for each round that is finished, worded as chess tools do, and with `starts` one for its start."""

    def __init__(self, *, starts: bool = True):
        self._starts = starts
        self._total = 0
        self._numbers: dict[str, int] = {}
        self._next = 1

    def lines(self, event: AnyEvent) -> Iterator[str]:
        match event:
            case TournamentOpened():
                self._total, self._next = event.rounds, event.finished + 1
                self._numbers.clear()
            case RoundStarted():
                number = self._numbers.get(event.planned.id) or self._new_number()
                self._numbers[event.planned.id] = number
                if self._starts:
                    yield f"Started round {number} of {self._total} ({pairing(event.bots)})"
            case RoundFinished(line):
                number = self._numbers.pop(line.id, 0) or self._new_number()  # a forfeit may not have started
                if not is_forfeit(line):  # the withdrawal was printed already
                    yield f"Finished round {number} ({pairing(line.bots)}): {score_text(line)} {{{ending_text(line)}}}"
                    yield from (f"  round {line.id}: {text}" for text in fault_lines(line))

    def _new_number(self) -> int:
        self._next += 1
        return self._next - 1


class BarAndLeaders:
    """How much of a tournament is played, and which bots lead."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            MofNCompleteColumn(),
            TextColumn("rounds"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
        )
        self._task = self._bar.add_task("", rate="")
        self._began, self._before, self._count = 0.0, 0, 0
        self._points: Counter[str] = Counter()
        self._rounds: Counter[str] = Counter()

    def heard(self, event: AnyEvent, /) -> None:
        match event:
            case TournamentOpened():  # a server may play one after the other
                self._bar.reset(self._task, total=event.rounds, completed=event.finished, rate="")
                self._began, self._before, self._count = time.monotonic(), event.finished, 0
                self._points.clear()
                self._rounds.clear()
            case RoundFinished():
                self._finished(event.line)

    def _finished(self, line: AnyRound) -> None:
        self._count += 1
        for name, points in zip(line.bots, line.result.points, strict=True):
            self._points[name] += points
            self._rounds[name] += 1

    def drawn(self) -> "Iterator[RenderableType]":
        if self._count:
            rate = self._count / max(time.monotonic() - self._began, 1e-9)
            self._bar.update(self._task, completed=self._before + self._count, rate=f"{rate:.1f} rounds/s")
        yield self._bar
        points = self._points.copy()  # rounds are counted meanwhile
        averages = {name: total / self._rounds[name] for name, total in points.items() if self._rounds[name]}
        best = sorted(averages, key=lambda name: -averages[name])[:3]
        leaders = ", ".join(f"{name} {averages[name]:.2f}" for name in best)
        yield f"points per round: {leaders}" if leaders else ""
