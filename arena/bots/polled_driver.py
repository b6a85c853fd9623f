"""Do on the poll loop, without trio, what the logic of players and matches wants (wants.py)."""

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, assert_never

from arena.bots.polled_link import PolledLink
from arena.bots.wants import Ask, Await, Both, Hear, Logic, Say, Want
from arena.support.poll_loop import PollLoop, Steps, Wait
from protocol.messages import BotMessage

T = TypeVar("T")


def polled(logic: Logic[T], loop: PollLoop) -> Steps[T]:
    """The logic as a task of the loop: `loop.run(polled(logic, loop))` returns its result."""
    resume: Callable[[Any], Want] = logic.send
    told: Any = None
    with contextlib.closing(logic):
        while True:
            try:
                want = resume(told)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                told = yield from (_ask(want) if type(want) is Ask else _do(want, loop))
                resume = logic.send
            except Exception as failure:
                told, resume = failure, logic.throw


def _ask(question: Ask) -> Steps[BotMessage]:
    link = question.link
    assert isinstance(link, PolledLink)
    return link.ask(question)


def _do(want: Want, loop: PollLoop) -> Steps[Any]:
    match want:
        case Ask():
            return (yield from _ask(want))
        case Say(link, line, until):
            assert isinstance(link, PolledLink)
            return (yield from link.say_line(line, until))
        case Hear(link, until):
            assert isinstance(link, PolledLink)
            return (yield from link.hear(until))
        case Both(one, two):
            return (yield from loop.all_of(polled(one, loop), polled(two, loop)))
        case Wait():
            return (yield want)
        case Await():
            raise AssertionError(f"only the trio driver can await: {want!r}")
    assert_never(want)
