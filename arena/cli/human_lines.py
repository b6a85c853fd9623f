"""The person's desk without a terminal: lines of text in, lines of text out."""

import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable

import attrs
import click
import trio

from arena.human.desk import Desk, Hint, no_hint
from arena.human.line_mode import answered, heading, question
from arena.human.screen import Stage, TableScreen, Wish
from protocol.messages import Error, MatchEnd, RoundEnd, RoundStart, ServerMessage


class LineDesk(Desk):
    def __init__(self, screen: TableScreen, echo: Callable[[str], None], hint: Hint = no_hint):
        super().__init__(screen, hint)
        self._echo = echo
        self._unread = b""
        self._over = sys.stdin is None

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with trio.open_nursery() as nursery:
            await nursery.start(self._hear_signals)
            yield
            nursery.cancel_scope.cancel()

    def show(self) -> None:
        pass  # only what is new is printed

    def say(self, text: str) -> None:
        self._echo(text)

    def told(self, message: ServerMessage) -> None:
        super().told(message)
        match message:
            case Error():
                click.echo(self.screen.message)
            case RoundStart() | RoundEnd() | MatchEnd():
                for line in heading(self.screen):
                    click.echo(line)
        if self.screen.stage in (Stage.OVER, Stage.ENDED):
            self.turn_to(attrs.evolve(self.screen, stage=Stage.WAITING))

    async def decide(self) -> str | Wish:
        for text in question(self.screen):
            click.echo(text)
        while (line := await self._line()) is not None:
            decision = answered(self.screen, line)
            if isinstance(decision, list):
                for each in decision:
                    click.echo(each)
                continue
            after = self.screen.took_back() if isinstance(decision, Wish) else self.screen.played(decision)
            self.turn_to(after)
            return decision
        self.close()
        await trio.sleep_forever()  # whoever asked notices that the desk is closed
        raise AssertionError

    async def _line(self) -> str | None:
        """The next line of the input; None at its end. A last line without a newline counts."""
        while b"\n" not in self._unread and not self._over:
            with contextlib.suppress(PermissionError):  # a regular file, which is always readable
                await trio.lowlevel.wait_readable(sys.stdin.fileno())
            try:
                data = os.read(sys.stdin.fileno(), 4096)
            except OSError:  # the terminal is gone
                data = b""
            self._unread += data
            self._over = not data
        if not self._unread:
            return None
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace")

    async def _hear_signals(self, task_status: trio.TaskStatus[None]) -> None:
        with trio.open_signal_receiver(signal.SIGHUP) as signals:
            task_status.started()
            async for _ in signals:
                self.close()
