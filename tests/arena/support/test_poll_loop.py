"""Tasks on the poll loop: real descriptors, and real time where a deadline is the promise."""

import math
import os
import time
from collections.abc import Iterator

import pytest

from arena.support.poll_loop import READABLE, PollLoop, Signal, Steps, Wait, waiting_for
from arena.support.timekeeping import TimeIsUpError


@pytest.fixture
def loop() -> Iterator[PollLoop]:
    loop = PollLoop()
    yield loop
    loop.close()


@pytest.fixture
def pipe(loop: PollLoop) -> Iterator[tuple[int, int]]:
    pipe = os.pipe()
    os.set_blocking(pipe[0], False)
    yield pipe
    loop.forget(pipe)
    for descriptor in pipe:
        os.close(descriptor)


def reading(descriptor: int, until: float = math.inf) -> Steps[bytes]:
    yield Wait(descriptor, READABLE, until)
    return os.read(descriptor, 10)


def setting(signal: Signal) -> Steps[None]:
    signal.set()
    yield from waiting_for(signal)


def failing(signal: Signal) -> Steps[None]:
    yield from waiting_for(signal)
    raise ValueError("as planned")


def test_a_task_waits_until_its_descriptor_is_ready(loop: PollLoop, pipe: tuple[int, int]) -> None:
    def writing() -> Steps[None]:
        yield from waiting_for(loop.signal(), loop.now() + 0.02)
        os.write(pipe[1], b"hello")

    assert loop.run(loop.all_of(reading(pipe[0]), writing())) == (b"hello", None)
    os.write(pipe[1], b"again")
    assert loop.run(reading(pipe[0])) == b"again"


def test_a_deadline_is_noticed_soon_and_never_early(loop: PollLoop, pipe: tuple[int, int]) -> None:
    until = loop.now() + 0.05
    with pytest.raises(TimeIsUpError) as late:
        loop.run(reading(pipe[0], until))
    assert until <= late.value.at <= loop.now()


def test_what_is_there_is_read_before_a_deadline_that_passed_in_a_stall(loop: PollLoop, pipe: tuple[int, int]) -> None:
    """The whole loop stands still; the bytes came while it did, and so did the deadline."""
    until = loop.now() + 1  # so that the stall begins before, on however busy a machine

    def stall() -> Steps[None]:
        yield from waiting_for(loop.signal(), loop.now() + 0.01)
        os.write(pipe[1], b"x")
        time.sleep(1.1)

    assert loop.run(loop.all_of(reading(pipe[0], until), stall())) == (b"x", None)
    assert loop.stalls.stall_at(until) is not None


def test_waiting_without_a_deadline_is_no_stall(loop: PollLoop, pipe: tuple[int, int]) -> None:
    before = loop.now()
    child = os.fork()
    if child == 0:
        time.sleep(0.6)
        os.write(pipe[1], b"x")
        os._exit(0)
    assert loop.run(reading(pipe[0])) == b"x"
    os.waitpid(child, 0)
    assert loop.stalls.stall_at(before + 0.5) is None


def test_a_signal_wakes_all_that_wait_and_is_there_for_later_ones(loop: PollLoop) -> None:
    signal = loop.signal()
    waiting = [waiting_for(signal), waiting_for(signal, loop.now() + 60)]
    assert loop.run(loop.all_of(*waiting, setting(signal))) == (True, True, None)
    assert loop.run(waiting_for(signal)) is True
    assert loop.run(waiting_for(loop.signal(), loop.now())) is False


def test_if_one_of_several_fails_the_others_are_dropped(loop: PollLoop, pipe: tuple[int, int]) -> None:
    closed: list[str] = []

    def never() -> Steps[None]:
        try:
            yield Wait(pipe[0], READABLE)
        finally:
            closed.append("never")

    signal = loop.signal()
    with pytest.raises(ValueError, match="as planned"):
        loop.run(loop.all_of(never(), failing(signal), setting(signal)))
    assert closed == ["never"]


def test_a_task_that_is_dropped_takes_along_those_that_it_waits_for(loop: PollLoop, pipe: tuple[int, int]) -> None:
    closed: list[str] = []

    def never(name: str) -> Steps[None]:
        try:
            yield Wait(pipe[0], READABLE)
        finally:
            closed.append(name)

    loop.start(loop.all_of(never("inner")))
    loop.run(waiting_for(loop.signal(), loop.now() + 0.01))
    loop.drop_tasks()
    os.write(pipe[1], b"x")
    assert loop.run(reading(pipe[0])) == b"x"
    assert closed == ["inner"]


def test_a_task_that_fails_does_not_end_the_others(loop: PollLoop) -> None:
    signal = loop.signal()
    task = loop.start(failing(signal))
    loop.run(setting(signal))
    assert loop.run(waiting_for(task.over)) is True
    with pytest.raises(ValueError, match="as planned"):
        task.outcome()


def test_a_descriptor_for_which_nobody_waits_costs_nothing_and_can_be_waited_for_again(
    loop: PollLoop, pipe: tuple[int, int]
) -> None:
    os.write(pipe[1], b"one")
    assert loop.run(reading(pipe[0])) == b"one"
    os.write(pipe[1], b"two")  # nobody reads it for a while
    before = time.process_time()
    assert loop.run(waiting_for(loop.signal(), loop.now() + 0.3)) is False
    assert time.process_time() - before < 0.2
    assert loop.run(reading(pipe[0])) == b"two"


def test_a_watched_descriptor_is_reported_until_it_is_forgotten(loop: PollLoop, pipe: tuple[int, int]) -> None:
    seen: list[bytes] = []
    signal = loop.signal()

    def read() -> None:
        seen.append(os.read(pipe[0], 1))
        if len(seen) == 3:
            loop.forget([pipe[0]])
            signal.set()

    loop.watch(pipe[0], read)
    os.write(pipe[1], b"abcd")
    loop.run(waiting_for(signal))
    loop.run(waiting_for(loop.signal(), loop.now() + 0.02))
    assert seen == [b"a", b"b", b"c"]
