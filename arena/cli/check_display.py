"""What `arena check` shows while it works: findings as they are made, and on a terminal a bar for each bot."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from arena.cli.reading import shown
from arena.cli.shared import say_on_stderr
from arena.devtools.check import CHECKS
from arena.devtools.check_report import finding_text
from arena.devtools.examination import Check, CheckFinding, Examination, Observer

if TYPE_CHECKING:
    from rich.progress import Progress

_TYPICAL_DECISIONS: Final = 30  # of a bot in a round
_LEAST_DECISIONS: Final = 11  # those of the situations after the first one, however small the budget is
_LONG: Final = 10.0  # seconds; a check that takes longer is announced


def duration_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


class FindingLines(Observer):
    """Prints the findings of one bot as they are made. Says after the first answers how long the rest will take, if
    that is long."""

    def __init__(self, say: Callable[[str], None], remark: Callable[[str], None]) -> None:
        self._say, self._remark = say, remark
        self._findings: list[CheckFinding] = []
        self._is_announced = False

    def begins(self, check: Check, exam: Examination) -> None:
        if check.plays and exam.answer_ms and not self._is_announced:
            self._is_announced = True
            answer = sum(exam.answer_ms) / len(exam.answer_ms) / 1000
            rounds = 25 + exam.memory_rounds  # the other checks play about 25
            needed = max(min(exam.budget, answer * _TYPICAL_DECISIONS * rounds), answer * _LEAST_DECISIONS)
            if needed >= _LONG:
                rest = duration_words(needed)
                self._remark(f"It takes about {answer * 1000:.0f} ms for an answer; the rest takes about {rest}.")

    def found(self, finding: CheckFinding) -> None:
        self._say(finding_text(finding, self._findings))
        self._findings.append(finding)


@contextmanager
def display(names: Sequence[str], quiet: bool) -> Iterator[list[Observer]]:
    """An observer for each bot. On a terminal, a bar for each shows which check is being made."""
    tells = not quiet and len(names) == 1
    if not sys.stderr.isatty():
        yield [FindingLines(click.echo, say_on_stderr) if tells else Observer() for _ in names]
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    shares_terminal = sys.stdout.isatty()  # asked before rich replaces stdout: until rich 15 its own denies it
    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(bar_width=18), MofNCompleteColumn()
    progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
    with shown(progress):

        def above(text: str) -> None:
            console.print(text, markup=False, highlight=False, soft_wrap=True)

        def observer(name: str) -> Observer:
            say = above if shares_terminal else click.echo  # where the bar is, or where no bar disturbs
            inner = FindingLines(say, above) if tells else Observer()
            return _Bar(progress, "" if tells else f"{name}: ", inner)

        yield [observer(name) for name in names]


class _Bar(Observer):
    """Shows on a terminal which check of a bot is being made."""

    def __init__(self, progress: "Progress", prefix: str, inner: Observer):
        self._progress, self._prefix, self._inner = progress, prefix, inner
        self._task = progress.add_task(prefix, total=len(CHECKS))

    def begins(self, check: Check, exam: Examination) -> None:
        self._progress.update(self._task, description=f"{self._prefix}{check.code}")
        self._inner.begins(check, exam)

    def found(self, finding: CheckFinding) -> None:
        self._progress.advance(self._task)
        self._inner.found(finding)
