"""How it goes: a live line on a terminal, plain lines or JSON events elsewhere."""

import json
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from arena.journal.lines import RoundLine, VoidLine, is_forfeit
from arena.plan.schedule import PlannedRound
from arena.support.text import printable, printable_lines

Say = Callable[[str], None]

_REASONS = {
    "five-stones": "five stones",
    "three-adjacent": "three adjacent stones",
    "blocked": "blocked",
    "illegal-move": "makes an illegal move",
    "malformed": "sends a malformed line",
    "timeout": "loses on time",
    "crashed": "crashed",
    "failed-to-start": "did not start",
    "disconnected": "disconnects",
    "out-of-memory": "uses too much memory",
    "out-of-cpu": "uses too much processor time",
    "out-of-processes": "has too many processes",
}


def score_text(winner: int | None, nobody: bool = False) -> str:
    if winner is None:
        return "0-0" if nobody else "1/2-1/2"
    return "1-0" if winner == 0 else "0-1"


def ending_text(line: RoundLine) -> str:
    reason = _REASONS.get(line.result.ending, line.result.ending)
    if line.fault and line.result.winner is None:
        return "neither bot started"
    return f"{line.bots[line.fault.seat]} {reason}" if line.fault else reason


def details(line: RoundLine) -> list[str]:
    """What happened, for each bot at fault, fit for a terminal: it may hold what the bot wrote."""
    fault = line.fault
    if fault is None:
        return []
    if fault.other_detail is None:
        return [printable(fault.detail)]
    both = (f"{line.bots[fault.seat]}: {fault.detail}", f"{line.bots[1 - fault.seat]}: {fault.other_detail}")
    return [printable(detail) for detail in both]


class Quiet:
    """Says nothing; the others say what they know better."""

    def started(self, planned: PlannedRound, names: tuple[str, str]) -> None: ...
    def finished(self, line: RoundLine) -> None: ...
    def void(self, line: VoidLine) -> None: ...
    def withdrawn(self, name: str, faults: int) -> None: ...
    def news(self, kind: str, text: str, **facts: Any) -> None: ...
    def ended(self, finished: int, total: int) -> None: ...


class PlainLines(Quiet):
    """A line for each round, in the words that chess tools use."""

    def __init__(self, say: Say, total: int = 0, done: int = 0, starts: bool = True):
        self._say, self._total, self._starts = say, total, starts
        self._numbers: dict[str, int] = {}
        self._next = done + 1

    def started(self, planned: PlannedRound, names: tuple[str, str]) -> None:
        if planned.id not in self._numbers:
            self._numbers[planned.id] = self._next
            self._next += 1
        if self._starts:
            self._say(f"Started round {self._numbers[planned.id]} of {self._total} ({names[0]} vs {names[1]})")

    def finished(self, line: RoundLine) -> None:
        number = self._numbers.pop(line.id, None)
        if number is None:  # forfeited, never started
            number, self._next = self._next, self._next + 1
        if is_forfeit(line):
            return  # said once, when the bot was withdrawn
        score = score_text(line.result.winner, nobody=line.fault is not None)
        self._say(f"Finished round {number} ({line.bots[0]} vs {line.bots[1]}): {score} {{{ending_text(line)}}}")
        *others, last = details(line) or [""]
        for detail in others:
            self._say(f"  {detail}")
        if line.fault:
            self._say(f"  {last}" + (f"; see {line.fault.bundle}" if line.fault.bundle else ""))

    def void(self, line: VoidLine) -> None:
        reason = printable_lines(line.reason)
        self._say(f"Void round {line.id} ({line.bots[0]} vs {line.bots[1]}), will be played again: {reason}")

    def withdrawn(self, name: str, faults: int) -> None:
        self._say(f"{name} is withdrawn after {faults} faults in a row; its remaining rounds are forfeited")

    def news(self, kind: str, text: str, **facts: Any) -> None:  # noqa: ARG002
        self._say(printable(text))


class JsonEvents(Quiet):
    """A JSON object a line, for programs."""

    def __init__(self, say: Say, total: int | None = None, done: int = 0):
        self._say = say
        if total is not None:
            self._event("tournament", rounds=total, finished=done)

    def _event(self, kind: str, **facts: Any) -> None:
        self._say(json.dumps({"event": kind, **facts}))

    def started(self, planned: PlannedRound, names: tuple[str, str]) -> None:
        self._event("started", id=planned.id, round=planned.number, bots=names)

    def finished(self, line: RoundLine) -> None:
        result = {"winner": line.result.winner, "ending": line.result.ending, "points": line.result.points}
        fault = msgspec.to_builtins(line.fault) if line.fault else None
        self._event("finished", id=line.id, match=line.match, round=line.round, bots=line.bots, **result, fault=fault)

    def void(self, line: VoidLine) -> None:
        self._event("void", id=line.id, match=line.match, round=line.round, bots=line.bots, reason=line.reason)

    def withdrawn(self, name: str, faults: int) -> None:
        self._event("withdrawn", bot=name, faults=faults)

    def news(self, kind: str, text: str, **facts: Any) -> None:
        self._event(kind, text=text, **facts)

    def ended(self, finished: int, total: int) -> None:
        self._event("ended", finished=finished, rounds=total)


class LiveLine(Quiet):
    """One line that is drawn anew: rounds done, rate, time left, who leads. Faults are told above it."""

    def __init__(self, total: int, done: int):
        self._console = Console(stderr=True)
        self._progress = Progress(
            MofNCompleteColumn(),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[leaders]}", markup=False),
            console=self._console,
        )
        self._task: TaskID = self._progress.add_task("", total=total, completed=done, rate="", leaders="")
        self._began, self._count = time.monotonic(), 0
        self._points: Counter[str] = Counter()
        self._rounds: Counter[str] = Counter()

    def __enter__(self) -> "LiveLine":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def finished(self, line: RoundLine) -> None:
        self._count += 1
        for name, points in zip(line.bots, line.result.points, strict=True):
            self._points[name] += points
            self._rounds[name] += 1
        rate = self._count / max(time.monotonic() - self._began, 1e-9)
        best = sorted(self._rounds, key=lambda name: -self._points[name] / self._rounds[name])[:3]
        leaders = "  ".join(f"{name} {self._points[name] / self._rounds[name]:.2f}" for name in best)
        self._progress.update(self._task, advance=1, rate=f"{rate:.1f}/s", leaders=leaders)
        if line.fault and not is_forfeit(line):
            for detail in details(line):
                self._tell(f"{line.bots[0]} vs {line.bots[1]}: {ending_text(line)}: {detail}")

    def void(self, line: VoidLine) -> None:
        self._tell(f"void: round {line.id} will be played again: {line.reason}")

    def withdrawn(self, name: str, faults: int) -> None:
        self._tell(f"{name} is withdrawn after {faults} faults in a row; its remaining rounds are forfeited")

    def news(self, kind: str, text: str, **facts: Any) -> None:  # noqa: ARG002
        self._tell(text)

    def _tell(self, text: str) -> None:
        self._console.print(printable_lines(text), markup=False, highlight=False)
