"""Do on the poll loop, without trio, what the logic of players and matches wants (wants.py)."""

import contextlib
from typing import Any, TypeVar, assert_never

from arena.bots.polled_link import PolledLink
from arena.bots.wants import Ask, Await, Both, Hear, Logic, Run, Say, Want
from arena.support.poll_loop import PollLoop, Steps, Wait

T = TypeVar("T")


def polled(logic: Logic[T], loop: PollLoop) -> Steps[T]:
    """The logic as a task of the loop: `loop.run(polled(logic, loop))` returns its result."""
    send = resume = logic.send
    told: Any = None
    with contextlib.closing(logic):
        while True:
            try:
                want = resume(told)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            try:
                if type(want) is not Ask:
                    told = yield from _do(want, loop)
                else:  # a decision
                    link, told = want.link, None
                    assert isinstance(link, PolledLink)
                    if (sent := link.ask(want)) < len(want.line):
                        yield from link.write_rest(memoryview(want.line)[sent:], want.until)
                    while told is None:
                        yield link.readable
                        told = link.read_message()
                    # Then it was there to be read; or before the question, if the bot guessed its id.
                    looked = loop.stalls.last_look
                    want.heard = looked if looked > want.asked else want.asked
                resume = send
            except Exception as failure:
                told, resume = failure, logic.throw


def _do(want: Want, loop: PollLoop) -> Steps[Any]:
    match want:
        case Say(link, line, until):
            assert isinstance(link, PolledLink)
            return (yield from link.say_line(line, until))
        case Hear(link, until):
            assert isinstance(link, PolledLink)
            return (yield from link.hear(until))
        case Both(one, two):
            return (yield from loop.all_of(polled(one, loop), polled(two, loop)))
        case Run(logic):
            return (yield from polled(logic, loop))
        case Wait():
            return (yield want)
        case Ask() | Await():
            raise AssertionError(f"wanted in the wrong place: {want!r}")
    assert_never(want)
