"""Where a person sits: it shows them the round and takes their decisions. arena/cli has the one on a terminal."""

import abc
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import attrs
import trio

from arena.human.screen import PlayScreen, Stage, Wish
from arena.human.view import DecisionView
from protocol.messages import Request, ServerMessage

Hint = Callable[[DecisionView], str]  # what an evaluator would play, in words


def no_hint(_view: DecisionView) -> str:
    return ""


class UserInterface(abc.ABC):
    def __init__(self, screen: PlayScreen, hint: Hint = no_hint):
        self.screen = screen
        self.closed = trio.Event()  # set once the person can neither see nor say anything any more
        self._hint = hint
        self._changed = trio.Event()

    @abc.abstractmethod
    def open(self) -> AbstractAsyncContextManager[None]:
        """The interface is in use during the block."""

    @abc.abstractmethod
    def show(self) -> None:
        """Show the screen, which has changed."""

    @abc.abstractmethod
    async def decide(self) -> str | Wish:
        """Wait for the person's decision: a legal move, or Wish.TAKE_BACK."""

    @abc.abstractmethod
    def say(self, text: str) -> None:
        """Print a line about the match, now or as soon as the person can see it."""

    def turn_to(self, screen: PlayScreen) -> None:
        self.screen = screen
        self.show()
        self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, trio.Event()
        changed.set()

    async def changed(self) -> None:
        """Wait until the screen changes or the interface is closed."""
        await self._changed.wait()

    def close(self) -> None:
        self.closed.set()
        self._notify()

    def told(self, message: ServerMessage) -> None:
        """Show what the server says. Raises EngineError if it cannot come from a round."""
        self.turn_to(self.screen.told(message))

    def hung_up(self) -> None:
        """Note that the connection has ended, perhaps in the middle of a round."""
        if self.screen.stage in (Stage.CHOOSING, Stage.THINKING):
            self.turn_to(attrs.evolve(self.screen, stage=Stage.WAITING, choice=None, typed=None))

    async def choose(self, request: Request) -> str | Wish:
        """Ask the person. Raises EngineError if the request cannot come from a round."""
        asked = self.screen.asked(request)
        assert asked.choice is not None
        self.turn_to(attrs.evolve(asked, hint=self._hint(asked.choice.view)))
        return await self.decide()

    async def ready(self) -> None:
        """Wait until the round is over and the person has seen how it ended; or until the interface is closed."""
        while self.screen.stage is not Stage.WAITING and not self.closed.is_set():
            await self.changed()
