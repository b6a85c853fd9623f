"""Do on the poll loop, without trio, what the logic of players and matches wants (wants.py)."""

import contextlib
from typing import Any, TypeVar, assert_never

from arena.bots.wants import Await, Both, Exchange, Logic, Run, Want
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
                told = (yield want) if type(want) is Wait else (yield from _do(want, loop))
                resume = send
            except Exception as failure:
                told, resume = failure, logic.throw


def _do(want: Want, loop: PollLoop) -> Steps[Any]:
    match want:
        case Both(one, two):
            return (yield from loop.all_of(polled(one, loop), polled(two, loop)))
        case Run(logic):
            return (yield from polled(logic, loop))
        case Exchange() | Await() | Wait():
            raise AssertionError(f"wanted in the wrong place: {want!r}")
    assert_never(want)
