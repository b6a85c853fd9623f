"""Many waiting tasks in one thread, without trio: the loop of a process that does nothing but play.

A task is a generator that yields a `Wait`: for a descriptor to become ready, or for a signal of another task, until a
deadline. The loop resumes it when that happened, or throws TimeIsUpError into it. What the loop does for a task that
waits for a descriptor is one call of epoll and a few lookups, which makes it several times cheaper than trio; but a
task cannot be cancelled, only dropped together with all others.

Descriptors are plain numbers. A number may have been closed and reused since epoll reported it, so a task that is
resumed reads or writes without blocking, and waits again if there was nothing to do.
"""

import math
import select
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, Final, Generic, TypeVar

import attrs

from arena.support.timekeeping import BEAT, Stalls, TimeIsUpError

T = TypeVar("T")
READABLE: Final = select.EPOLLIN
WRITABLE: Final = select.EPOLLOUT
_MOST_EVENTS: Final = 32  # per call, which allocates room for them; the others are reported by the next one


class Signal:
    """Something that happens once, for which tasks of one loop can wait."""

    def __init__(self, resume: "Callable[[LoopTask[Any]], None]") -> None:
        self._resume = resume
        self._is_set = False
        self.waiting: list[LoopTask[Any]] = []

    def set(self) -> None:
        self._is_set = True
        while self.waiting:
            self._resume(self.waiting.pop())

    def is_set(self) -> bool:
        return self._is_set


@attrs.define(eq=False)
class Wait:
    """What a task waits for: a descriptor that is ready for `events`, or a signal. While it waits with a deadline,
    `meanwhile` is called at each beat from `meanwhile_at` on."""

    descriptor: int
    events: int
    until: float = math.inf
    signal: Signal | None = None
    meanwhile_at: float = math.inf
    meanwhile: Callable[[], None] = lambda: None


Steps = Generator[Wait, None, T]


def waiting_for(signal: Signal, until: float = math.inf) -> Steps[bool]:
    """Wait for a signal. Returns whether it came in time."""
    try:
        yield Wait(-1, 0, until, signal)
    except TimeIsUpError:
        return False
    return True


@attrs.define(eq=False)
class LoopTask(Generic[T]):
    """A generator that the loop runs. `over` is set when it has returned or raised."""

    steps: Steps[T]
    over: Signal
    wait: Wait | None = None
    _result: T | None = None
    _failure: Exception | None = None

    def returned(self, result: T) -> None:
        self._result = result
        self.over.set()

    def failed(self, failure: Exception) -> None:
        self._failure = failure
        self.over.set()

    def outcome(self) -> T:
        """What the generator returned. Raises what it raised."""
        if self._failure is not None:
            raise self._failure
        return self._result  # type: ignore[return-value]


class PollLoop:
    """Runs tasks. The caller closes it, after it has closed all descriptors that the loop knows."""

    def __init__(self) -> None:
        self.now = time.monotonic
        self.stalls = Stalls(self.now)
        self.stalls.begin()
        self._epoll = select.epoll()
        self._interest: dict[int, int] = {}  # the events for which epoll knows each descriptor
        self._waiting: dict[int, LoopTask[Any]] = {}  # by descriptor
        self._watched: dict[int, Callable[[], None]] = {}  # by descriptor
        self._tasks: set[LoopTask[Any]] = set()
        self._runnable: deque[tuple[LoopTask[Any], Exception | None]] = deque()
        self._next_due = math.inf  # no deadline is earlier
        # When to call each `meanwhile`. The loop does not wake up for it earlier than for its beat: to set a timer that
        # ends before the next tick of the kernel takes long on a virtual machine.
        self._next_beat = -math.inf

    def signal(self) -> Signal:
        return Signal(self._make_runnable)

    def start(self, steps: Steps[T]) -> LoopTask[T]:
        """Let the loop run a task beside all others."""
        task = LoopTask(steps, self.signal())
        self._tasks.add(task)
        self._runnable.append((task, None))
        return task

    def run(self, steps: Steps[T]) -> T:
        """Run a task to its end, and all others meanwhile. Raises what it raises."""
        task = self.start(steps)
        poll, stalls, runnable = self._epoll.poll, self.stalls, self._runnable
        waiting, watched = self._waiting, self._watched
        while task in self._tasks:
            left = 0.0 if runnable else self._next_due - stalls.last_look
            patience: float | None = left if left > 0 else 0.0
            if left > BEAT:
                patience = BEAT if left < math.inf else None
            ready = poll(patience, _MOST_EVENTS)
            if patience is None:
                stalls.begin()  # nobody had a deadline
            elif stalls.look():
                # What came meanwhile is read before deadlines are enforced. Only once: a busy loop is always late.
                ready = poll(0, _MOST_EVENTS)
                stalls.look()
            now = stalls.last_look
            for descriptor, _ in ready:
                if (waiter := waiting.pop(descriptor, None)) is not None:
                    self._resume(waiter, None)
                elif descriptor in watched:
                    watched[descriptor]()
                else:
                    self.forget([descriptor])  # nobody wants to know; the next wait registers it again
            if now >= self._next_due:
                self._enforce_deadlines(now)
            if now >= self._next_beat:
                self._beat(now)
            while runnable:
                self._resume(*runnable.popleft())
        return task.outcome()

    def all_of(self, *many: Steps[Any]) -> Steps[tuple[Any, ...]]:
        """Run several tasks at the same time, and return what they returned. If one of them raises something, the
        others are dropped, and this raises it too."""
        left, decided = len(many), self.signal()

        def counted(steps: Steps[Any]) -> Steps[Any]:
            nonlocal left
            try:
                result = yield from steps
            except Exception:
                decided.set()
                raise
            left -= 1
            if not left:
                decided.set()
            return result

        tasks = [self.start(counted(steps)) for steps in many]
        try:
            if tasks:
                yield from waiting_for(decided)
        finally:
            over = [task for task in tasks if task.over.is_set()]
            for task in tasks:
                self._drop(task)
        return tuple(task.outcome() for task in over)

    def drop_tasks(self) -> None:
        """End all tasks where they wait. Watched descriptors are still watched."""
        for task in tuple(self._tasks):
            self._drop(task)
        self._runnable.clear()

    def watch(self, descriptor: int, call: Callable[[], None]) -> None:
        """Call a function whenever the descriptor is readable, until it is forgotten."""
        self._watched[descriptor] = call
        self._listen(descriptor, READABLE)

    def forget(self, descriptors: Iterable[int]) -> None:
        """Forget descriptors before they are closed."""
        for descriptor in descriptors:
            self._watched.pop(descriptor, None)
            self._waiting.pop(descriptor, None)
            if self._interest.pop(descriptor, None) is not None:
                self._epoll.unregister(descriptor)

    def close(self) -> None:
        self._epoll.close()

    def _make_runnable(self, task: LoopTask[Any]) -> None:
        task.wait = None
        self._runnable.append((task, None))

    def _resume(self, task: LoopTask[Any], failure: Exception | None) -> None:
        task.wait = None
        try:
            wait = task.steps.send(None) if failure is None else task.steps.throw(failure)
        except StopIteration as stop:
            self._tasks.discard(task)
            task.returned(stop.value)
        except Exception as error:
            self._tasks.discard(task)
            task.failed(error)
        else:
            if wait.signal is None:
                if self._interest.get(wait.descriptor) != wait.events:
                    self._listen(wait.descriptor, wait.events)
                self._waiting[wait.descriptor] = task
            elif wait.signal.is_set():
                self._make_runnable(task)
                return
            else:
                wait.signal.waiting.append(task)
            task.wait = wait
            if wait.until < self._next_due:
                self._next_due = wait.until

    def _listen(self, descriptor: int, events: int) -> None:
        """Have epoll report these events. They stay registered after they came: the next wait is for the same."""
        known = self._interest.get(descriptor)
        if known is None:
            self._epoll.register(descriptor, events)
        else:
            self._epoll.modify(descriptor, events)
        self._interest[descriptor] = events

    def _enforce_deadlines(self, now: float) -> None:
        self._next_due = math.inf
        for task in self._tasks:
            if (wait := task.wait) is None:
                continue
            if wait.until > now:
                self._next_due = min(self._next_due, wait.until)
                continue
            self._unpark(task)
            self._runnable.append((task, TimeIsUpError(now)))

    def _beat(self, now: float) -> None:
        self._next_beat = now + BEAT
        for task in self._tasks:
            if (wait := task.wait) is not None and wait.meanwhile_at <= now:
                wait.meanwhile()

    def _unpark(self, task: LoopTask[Any]) -> None:
        if (wait := task.wait) is not None:
            if wait.signal is None:
                del self._waiting[wait.descriptor]
            else:
                wait.signal.waiting.remove(task)
            task.wait = None

    def _drop(self, task: LoopTask[Any]) -> None:
        """End a task where it waits, and what it waits for; nothing happens if it is over."""
        self._unpark(task)
        self._tasks.discard(task)
        task.steps.close()
