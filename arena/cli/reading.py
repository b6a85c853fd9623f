"""How far a command has read its journals: a bar on a terminal, which disappears when the command is done, and nothing
elsewhere."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich import progress as rich

    from arena.journal.lines import JournalEntry
    from arena.journal.reader import Progress

Advance = Callable[[int], None]  # called with how much is done so far

_QUICK: Final = 1_000_000  # bytes of journals; fewer are read before anybody could look at a bar
_STRIDE: Final = 200  # entries; to draw after each would take longer than to read it


@contextmanager
def reading(what: str, journals: Sequence[Path]) -> Iterator["Progress"]:
    """Yields what to call with each entry that is read."""
    before: dict[Path, int] = {}  # bytes of the journals before this one
    total = 0
    for path in journals:
        before.setdefault(path, total)
        total += path.stat().st_size
    with bar(what, total if total > _QUICK else 0) as advance:

        def read(entry: "JournalEntry") -> None:
            if not entry.number % _STRIDE:
                advance(before[entry.path] + entry.start)

        yield read


@contextmanager
def bar(what: str, total: int) -> Iterator[Advance]:
    """Yields what to call with how much of `total` is done. Draws nothing if the total is 0."""
    if not total or not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = BarColumn(bar_width=20), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("left")
    progress = Progress(TextColumn(what), *columns, console=Console(stderr=True), transient=True)
    with shown(progress):
        task = progress.add_task("", total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def shown(progress: "rich.Progress") -> Iterator[None]:
    """Show the bars meanwhile. A block of rich's own would leave them on the screen if Ctrl-C came after they are drawn
    for the first time, but before that block begins."""
    try:
        progress.start()
        yield
    finally:
        progress.stop()
