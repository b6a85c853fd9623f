"""Do in trio what the logic of players and matches wants (wants.py)."""

import contextlib
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, Generic, TypeVar, assert_never

import attrs
import trio

from arena.bots.link import Link
from arena.bots.player import OwnedProcess
from arena.bots.turns import AT_ONCE
from arena.bots.wants import Await, Both, Exchange, Logic, Run, Want
from arena.bots.watchdog import Watchdog
from arena.journal.identity import Fingerprint
from arena.plan.bot_spec import BotSpec
from arena.processes.bot_process import BotProcess, spawn
from arena.processes.fingerprint import fingerprint_of
from arena.processes.process_state import KeepStderr
from arena.support.poll_loop import Wait
from arena.support.timekeeping import TimeIsUpError

T = TypeVar("T")


@attrs.frozen
class _Over(Generic[T]):
    result: T


_Steps = Generator[Want | _Over[T], Any, None]


async def driven(logic: Logic[T], watch: Watchdog | None = None) -> T:
    """Run the logic to its end and return its result. Questions need a watchdog, which enforces their deadlines."""
    with contextlib.closing(_to_the_end(logic)) as steps:
        want = next(steps)
        while not isinstance(want, _Over):
            want = await (_ask_on(steps, want, watch) if isinstance(want, Exchange) else _go_on(steps, want, watch))
        return want.result


def _to_the_end(logic: Logic[T]) -> _Steps[T]:
    """The wants of the logic, and then its result: a StopIteration cannot leave an async function."""
    yield _Over((yield from logic))


async def _go_on(steps: _Steps[T], want: Want, watch: Watchdog | None) -> Want | _Over[T]:
    """Do what is wanted, and return what is wanted next."""
    try:
        done = await _do(want, watch)
    except Exception as failure:
        return steps.throw(failure)
    return steps.send(done)


async def _ask_on(steps: _Steps[T], want: Want | _Over[T], watch: Watchdog | None) -> Want | _Over[T]:
    """Ask, and go on asking as long as answers come in time and nothing else is wanted. Returns what is wanted next.

    All these questions share one cancel scope, because opening one takes long. After a deadline has passed it is not
    used again: the watchdog may have cancelled it.
    """
    assert watch is not None
    now = trio.current_time
    with watch.deadline() as deadline:
        while isinstance(want, Exchange):
            question = want.question
            deadline.at = question.begin(now())
            deadline.meanwhile_at, deadline.meanwhile = question.asked + AT_ONCE, question.meanwhile
            try:
                answer = await want.send_and_hear(question.line)
            except Exception as failure:
                return steps.throw(failure)
            question.heard = now()
            was_late = question.heard >= deadline.at
            want = steps.send(answer)
            if was_late:
                break
        return want
    return steps.throw(TimeIsUpError(now()))


async def _do(want: Want, watch: Watchdog | None) -> Any:
    match want:
        case Await(function, until):
            return await _until(until, function)
        case Both(one, two):
            return await _both((one, two), watch)
        case Run(logic):
            return await driven(logic, watch)
        case Exchange() | Wait():
            raise AssertionError(f"wanted in the wrong place: {want!r}")
    assert_never(want)


async def _until(until: float, function: Callable[[], Awaitable[T]]) -> T:
    try:
        with trio.fail_at(until):
            return await function()
    except trio.TooSlowError:
        raise TimeIsUpError(trio.current_time()) from None


async def _both(logics: tuple[Logic[Any], Logic[Any]], watch: Watchdog | None) -> tuple[Any, ...]:
    results: dict[int, Any] = {}

    async def run(place: int, logic: Logic[Any]) -> None:
        results[place] = await driven(logic, watch)

    async with trio.open_nursery() as nursery:
        for place, logic in enumerate(logics):
            nursery.start_soon(run, place, logic)
    return tuple(results[place] for place in range(len(logics)))


class TrioProcesses:
    """Processes of bots that live in a nursery: each ends when its player leaves, or when the nursery is cancelled."""

    def __init__(self, nursery: trio.Nursery):
        self._nursery = nursery

    def now(self) -> float:
        return trio.current_time()

    def fingerprint(self, spec: BotSpec) -> Fingerprint:
        return fingerprint_of(spec)

    def start(self, spec: BotSpec, keep_stderr: KeepStderr, until: float) -> Logic[OwnedProcess]:
        process: OwnedProcess = yield Await(partial(self._nursery.start, _live, spec, keep_stderr), until)
        return process


class TrioProcess:
    """A bot's process that one task owns, so that bots start and end in any order."""

    def __init__(self, state: BotProcess):
        self.state = state
        self.link = Link(state.stream)
        self.leave = trio.Event()
        self.gone = trio.Event()

    def last_words(self) -> Logic[str]:
        words: str = yield Await(self.state.last_words)
        return words

    def end(self) -> Logic[None]:
        self.leave.set()
        yield Await(self.gone.wait)


async def _live(spec: BotSpec, keep_stderr: KeepStderr, task_status: trio.TaskStatus[TrioProcess]) -> None:
    process: TrioProcess | None = None
    try:
        async with spawn(spec, keep_stderr) as state:
            process = TrioProcess(state)
            task_status.started(process)
            await process.leave.wait()
    finally:
        if process is not None:
            process.gone.set()
