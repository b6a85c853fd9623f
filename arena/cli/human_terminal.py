"""The user interface of a person on a terminal: the board of `arena replay`, and keys.

Everything happens in the process of the command, which owns the terminal: the shell sends it Ctrl-C, Ctrl-Z and changes
of the window's size as signals. Bots run in sessions of their own and never touch the terminal. What the command prints
while the window is taken over waits until it is restored.
"""

import contextlib
import os
import signal
import sys
import termios
import tty
from collections.abc import AsyncIterator, Callable
from typing import Final

import attrs
import trio

from arena.cli.painting import Paint
from arena.cli.terminal import ESCAPE_WAIT, UNFINISHED, Window, keys_in
from arena.human.drawing import drawn
from arena.human.screen import Move, PlayScreen, Wish
from arena.human.user_interface import Hint, UserInterface, no_hint
from arena.support.text import printable

_TICK: Final = 0.5  # seconds between two looks at the clock, if there is one


class TerminalInterface(UserInterface):
    def __init__(self, screen: PlayScreen, paint: Paint, echo: Callable[[str], None], hint: Hint = no_hint):
        super().__init__(screen, hint)
        self._window = Window(paint, tty.setcbreak)
        self._decision: str | Wish | None = None
        self._asked = 0.0
        self._echo = echo
        self._said: list[str] | None = None  # while the window is taken over

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        said: list[str] = []
        self._said = said
        try:
            self._window.begin()
            async with trio.open_nursery() as nursery:
                await nursery.start(self._hear_signals)
                nursery.start_soon(self._read_keys)
                nursery.start_soon(self._tick)
                self.show()
                yield
                nursery.cancel_scope.cancel()
        finally:
            with contextlib.suppress(OSError, termios.error):  # the window may be closed; nothing is to be restored
                self._window.end()
            self._said = None
            for text in said:
                self._echo(text)

    def show(self) -> None:
        seconds = trio.current_time() - self._asked
        try:
            self._window.show(drawn(self.screen, *self._window.size(), seconds))
        except OSError:  # the window was closed
            self.close()

    def say(self, text: str) -> None:
        if self._said is None:
            self._echo(text)
            return
        self._said.append(text)
        if self.screen.at_server:
            self.turn_to(attrs.evolve(self.screen, message=printable(text)))

    async def decide(self) -> str | Wish:
        self._decision, self._asked = None, trio.current_time()
        while self._decision is None:
            await self.changed()
        return self._decision

    def _pressed(self, key: str) -> None:
        match self.screen.press(key):
            case PlayScreen() as screen:
                self.turn_to(screen)
            case Move(text):
                self._decision = text
                self.turn_to(self.screen.played(text))
            case Wish() as wish:
                self._decision = wish
                self.turn_to(self.screen.took_back())

    async def _read_keys(self) -> None:
        while data := await self._typed():
            for key in keys_in(data.decode(errors="replace")):
                self._pressed(key)
        self.close()

    async def _typed(self) -> bytes:
        """What was typed, with the whole of an escape sequence; nothing once the window is closed."""
        await trio.lowlevel.wait_readable(sys.stdin.fileno())
        data = self._window.read()
        while UNFINISHED.search(data):
            with trio.move_on_after(ESCAPE_WAIT) as waiting:
                await trio.lowlevel.wait_readable(sys.stdin.fileno())
            if waiting.cancelled_caught or not (more := self._window.read()):
                break
            data += more
        return data

    async def _hear_signals(self, task_status: trio.TaskStatus[None]) -> None:
        with trio.open_signal_receiver(signal.SIGWINCH, signal.SIGTSTP, signal.SIGHUP) as signals:
            task_status.started()
            async for number in signals:
                if number == signal.SIGHUP:
                    self.close()
                elif number == signal.SIGTSTP:
                    self._window.end()
                    os.kill(os.getpid(), signal.SIGSTOP)  # until the shell resumes us
                    self._window.begin()
                self.show()

    async def _tick(self) -> None:
        """Keep the time that is left up to date."""
        while True:
            await trio.sleep(_TICK)
            clock = self.screen.clock
            if clock is not None and (clock.move_ms is not None or clock.bank_ms is not None):
                self.show()
