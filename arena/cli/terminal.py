"""The terminal while the user browses rounds: it reads single keys, redraws the whole window, and restores the terminal
afterwards, whatever ends the command."""

import contextlib
import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

_ENTER: Final = "\x1b[?1049h\x1b[?25l"  # the alternate screen, without a cursor
_LEAVE: Final = "\x1b[0m\x1b[?25h\x1b[?1049l"
ESCAPE_WAIT: Final = 0.05  # seconds after which an escape is the Escape key and not the start of an arrow key
RESIZED: Final = "resized"
CLOSED: Final = "ctrl-d"  # the input has ended

_SEQUENCES: Final = {
    **{f"\x1b{kind}{letter}": name
       for kind in "[O"
       for letter, name in zip("ABCDHF", ("up", "down", "right", "left", "home", "end"), strict=True)},
    "\x1b[1~": "home", "\x1b[7~": "home", "\x1b[4~": "end", "\x1b[8~": "end",
    "\x1b[5~": "pageup", "\x1b[6~": "pagedown",
}  # fmt: skip
_PLAIN: Final = {
    "\t": "tab", "\r": "enter", "\n": "enter", "\x7f": "backspace", "\b": "backspace", "\x1b": "escape",
    "\x03": "ctrl-c", "\x04": "ctrl-d", "\x1a": "ctrl-z",
}  # fmt: skip
UNFINISHED: Final = re.compile(rb"\x1b([\[O][0-?]*[ -/]*)?$")
_KEY: Final = re.compile(r"\x1b[\[O][0-?]*[ -/]*[@-~]|.", re.DOTALL)


def keys_in(typed: str) -> Iterator[str]:
    """The names of the keys that send these characters. Unknown escape sequences are ignored."""
    for found in _KEY.findall(typed):
        if len(found) == 1:
            yield _PLAIN.get(found, found)
        elif found in _SEQUENCES:
            yield _SEQUENCES[found]


def is_interactive() -> bool:
    """Whether stdin and stdout are a terminal that can move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


class Window:
    """The terminal's window, once it is taken over. `paint` adds colours to a line of final width. `set_mode` has the
    terminal pass on single keys; tty.setraw passes on Ctrl-C too, with tty.setcbreak that is still a signal."""

    def __init__(self, paint: Callable[[str], str], set_mode: Callable[[int], Any] = tty.setraw):
        self._in, self._out = sys.stdin.fileno(), sys.stdout.fileno()
        self._paint = paint
        self._set_mode = set_mode
        self._before = termios.tcgetattr(self._in)

    def begin(self) -> None:
        """Take the window over."""
        self._set_mode(self._in)
        self._write(_ENTER)

    def end(self) -> None:
        """Restore the terminal."""
        try:
            self._write(_LEAVE)
        finally:
            termios.tcsetattr(self._in, termios.TCSADRAIN, self._before)

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            columns, rows = os.get_terminal_size(self._out)
        except OSError:
            columns, rows = 0, 0
        return columns or 80, rows or 24

    def show(self, lines: list[str]) -> None:
        rows = [f"{self._paint(line)}\x1b[K" for line in lines]
        self._write("\x1b[H" + "\r\n".join(rows) + "\x1b[J")

    def read(self) -> bytes:
        """What was typed; nothing if the window was closed."""
        try:
            return os.read(self._in, 1024)
        except OSError:
            return b""

    def _write(self, text: str) -> None:
        left = text.encode(sys.stdout.encoding, "replace")
        while left:
            left = left[os.write(self._out, left) :]


class Terminal(Window):
    """A context manager that takes over the terminal and restores it, and in between waits for keys."""

    def __init__(self, paint: Callable[[str], str]):
        super().__init__(paint)
        self._waiting: list[str] = []
        self._handlers: dict[int, Any] = {}
        self._woken, self._waker = os.pipe()

    def __enter__(self) -> "Terminal":
        for descriptor in (self._woken, self._waker):
            os.set_blocking(descriptor, False)
        self._old_waker = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        handlers: dict[int, Callable[[int, FrameType | None], Any]] = {
            signal.SIGWINCH: lambda *_: None,  # the wake-up is all that is needed
            signal.SIGTSTP: lambda *_: self.suspend(),
            signal.SIGTERM: _exit,
            signal.SIGHUP: _exit,
        }
        self._handlers = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_waker)
        with contextlib.suppress(OSError, termios.error):  # the window may be closed; then there is nothing to restore
            self.end()
        os.close(self._woken)
        os.close(self._waker)

    def suspend(self) -> None:
        """Handles Ctrl-Z: restores the terminal for the shell, stops, and takes over again once resumed."""
        self.end()
        ours = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, ours)
        self.begin()
        self._waiting.append(RESIZED)  # redraw everything

    def key(self) -> str:
        """Waits for the next key and returns its name, or RESIZED when the size of the window changes."""
        while not self._waiting:
            ready, _, _ = select.select([self._in, self._woken], [], [])
            if self._woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, 1024)
                self._waiting.append(RESIZED)
            if self._in in ready:
                self._waiting += self._typed()
            if "ctrl-z" in self._waiting:
                self._waiting.remove("ctrl-z")
                self.suspend()
        return self._waiting.pop(0)

    def _typed(self) -> Iterator[str]:
        data = self.read()
        while UNFINISHED.search(data):
            ready, _, _ = select.select([self._in], [], [], ESCAPE_WAIT)
            more = self.read() if ready else b""
            if not more:
                break
            data += more
        return keys_in(data.decode(errors="replace")) if data else iter([CLOSED])


def _exit(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
