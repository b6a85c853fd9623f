"""Bars that show how far a command is, and are gone when it ends."""

import io
import threading

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from arena.cli.reading import shown

SHOW_CURSOR, ERASE_LINE = "\x1b[?25h", "\x1b[2K"


def test_ctrl_c_removes_a_bar_that_was_drawn_just_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_thread: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)  # of the thread that rich starts right after it draws
    screen = io.StringIO()
    progress = Progress(
        TextColumn("Reading"), console=Console(file=screen, force_terminal=True, width=40), transient=True
    )
    progress.add_task("")
    with pytest.raises(KeyboardInterrupt), shown(progress):
        pytest.fail("the block began")
    drawn = screen.getvalue()
    assert "Reading" in drawn
    after = drawn[drawn.rindex("Reading") :]
    assert SHOW_CURSOR in after
    assert ERASE_LINE in after
