"""A bot as a Python function in this process. Pure: it answers each line at once, so no driver waits for it.

The function sits behind the bot's end of the protocol (protocol/bot.py), as it does in a program that the SDK runs. So
it gets the same requests, and the same faults lose the round. As there, `random` is seeded at the start of each round;
each function has its own state of it, and the caller's is left alone.
"""

import os
import random
import traceback
from collections.abc import Callable
from typing import Any

from arena.bots.conversation import LinkClosedError
from arena.bots.player import BotGoneError, Player
from arena.bots.wants import Ask, BotLink, Logic
from arena.journal.endings import Fault
from arena.plan.bot_spec import FunctionSpec
from engine.actions import Action
from protocol.bot import Bot, hello_of, ignore
from protocol.messages import BotMessage, Request, RoundStart


class FunctionLink(BotLink):
    """The arena's end. `answer` takes each line, and returns the answer if there is one."""

    def __init__(self, answer: Callable[[bytes], bytes | None], now: Callable[[], float]):
        super().__init__()
        self._answer = answer
        self._now = now

    def ask(self, question: Ask) -> Logic[BotMessage]:
        question.begin(self._now())
        self._send(question.line)
        question.heard = self._now()
        return (yield from self.listen(question.until))

    def tell(self, line: bytes, until: float) -> Logic[None]:  # noqa: ARG002
        yield from ()
        self._send(line)

    def listen(self, until: float) -> Logic[BotMessage]:  # noqa: ARG002
        yield from ()
        message = self.next_message()
        if message is None:
            raise LinkClosedError("it said nothing")
        return message

    def _send(self, line: bytes) -> None:
        self.transcript.append((False, line))
        if answer := self._answer(line):
            self.feed(answer)


class FunctionPlayer(Player):
    """A function in one match. `now` is the clock of the driver."""

    def __init__(self, spec: FunctionSpec, now: Callable[[], float]):
        super().__init__(spec)
        self._choose = _as_text(spec.choose)
        self._now = now
        self._random = random.getstate()
        self._failure: Exception | None = None

    def now(self) -> float:
        return self._now()

    def arrive(self, seed: int | None = None) -> Logic[None]:
        if self.link is None:
            self.welcome_seed, self._failure = seed, None
            hello = hello_of(self.spec.name, None, None, None, legal=True)
            self._bot = Bot(self._choose, hello, ignore, on_round_start=_seed_random)
            link = FunctionLink(self._answer, self._now)
            yield from self.greet(link, self.now())
            self.link = link

    def _answer(self, line: bytes) -> bytes | None:
        """What the bot's end answers. Raises LinkClosedError if the function fails, as a program would end then."""
        outside = random.getstate()
        random.setstate(self._random)
        try:
            return self._bot.answer(line)
        except Exception as failure:
            self._failure = failure
            raise LinkClosedError("the function failed") from failure
        finally:
            self._random = random.getstate()
            random.setstate(outside)

    def come_back(self, closed: str, until: float) -> Logic[None]:  # noqa: ARG002
        """A function that failed has no other connection."""
        yield from ()
        assert self._failure is not None
        raise BotGoneError(Fault.CRASHED, _words(self._failure))

    def leave(self) -> Logic[None]:
        yield from ()
        self.link = None

    def match_over(self) -> Logic[None]:
        return self.leave()

    @property
    def stderr_tail(self) -> str | None:
        """The traceback, which a program would have written there."""
        return "".join(traceback.format_exception(self._failure)) if self._failure else None


def _words(failure: Exception) -> str:
    """What the function raised, and where."""
    what = "".join(traceback.format_exception_only(failure)).strip()
    last = traceback.extract_tb(failure.__traceback__)[-1]
    return f"it raised {what} (line {last.lineno} of {os.path.basename(last.filename)})"


def _seed_random(start: RoundStart) -> None:
    if start.seed is not None:
        random.seed(start.seed)


def _as_text(choose: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """The function with actions of the engine as texts."""

    def chosen(request: Request) -> Any:
        match choose(request):
            case Action() as action:
                return action.text
            case (Action() as action, note):
                return action.text, note
            case found:
                return found

    return chosen
