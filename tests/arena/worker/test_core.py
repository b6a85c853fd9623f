"""A worker takes a core with all that runs below it, and leaves it; what others use of it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import cast

import msgspec
import pytest

from arena.plan.schedule import PlannedRound
from arena.support.poll_loop import PollLoop, Signal, Steps
from arena.support.timekeeping import TimeIsUpError
from arena.worker.core import Affinity, Core, Usage, idle_seconds, used_by_others
from arena.worker.job import RoundFinished, RoundStarted
from tests.helpers.journals import rounds

ALL = os.sched_getaffinity(0)
NAME = f"arena-test-core-{os.getpid()}"  # other tests play tournaments meanwhile


@pytest.fixture(autouse=True)
def _moves_back() -> Iterator[None]:
    yield
    os.sched_setaffinity(0, ALL)


@pytest.fixture
def core() -> Iterator[Core]:
    core = Core(NAME)
    yield core
    core.leave()


@pytest.fixture
def child() -> Iterator[int]:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.send_signal(signal.SIGKILL)


def test_all_processes_below_move_together_and_back(core: Core, child: int) -> None:
    core.take()
    there = os.sched_getaffinity(0)
    assert core.is_taken
    assert len(there) == 1
    assert os.sched_getaffinity(child) == there
    core.leave()
    assert not core.is_taken
    assert os.sched_getaffinity(0) == os.sched_getaffinity(child) == ALL


def test_a_thread_that_began_on_the_core_leaves_it_with_the_others(core: Core) -> None:
    over = threading.Event()
    core.take()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert thread.native_id is not None
    where = [os.sched_getaffinity(thread.native_id)]
    core.leave()
    where.append(os.sched_getaffinity(thread.native_id))
    over.set()
    thread.join()
    assert len(where[0]) == 1
    assert where[1] == ALL


@pytest.mark.skipif(len(ALL) < 2, reason="there is one core only")
def test_a_bot_that_chose_its_core_itself_keeps_it(core: Core, child: int) -> None:
    os.sched_setaffinity(child, {max(ALL)})
    core.take()  # the first one
    assert os.sched_getaffinity(child) == {max(ALL)}


def test_no_two_workers_of_a_machine_have_the_same_core() -> None:
    workers = [Core(NAME) for _ in range(len(ALL) + 1)]
    for worker in workers:
        worker.take()
    assert [worker.is_taken for worker in workers] == [True] * len(ALL) + [False]
    workers[0].leave()
    workers[-1].take()
    assert workers[-1].is_taken
    for worker in workers:
        worker.leave()


@pytest.mark.skipif(len(ALL) < 2, reason="there is one core only")
def test_a_worker_that_left_a_core_tries_another_one(core: Core) -> None:
    tried = []
    for _ in range(len(ALL) + 1):
        core.take()
        tried.append(min(os.sched_getaffinity(0)))
        core.leave()
    assert tried == [*sorted(ALL), min(ALL)]


STAT = """\
cpu  900 0 90 70000 30 0 5 0 0 0
cpu1 400 0 40 30000 10 0 5 0 0 0
cpu12 500 0 50 40000 20 0 0 0 0 0
intr 5 0 1
"""


@pytest.mark.parametrize(("number", "ticks"), [(1, 30010), (12, 40020), (2, 0)])
def test_a_core_is_idle_also_while_it_waits_for_a_disk(number: int, ticks: int) -> None:
    assert idle_seconds(STAT, number) == ticks / os.sysconf("SC_CLK_TCK")


def test_what_is_neither_idle_nor_ours_is_used_by_others() -> None:
    assert used_by_others(Usage(100, 50, 5), Usage(110, 54, 9)) == pytest.approx(0.2)


MEASURING = """
import os, subprocess, sys
from arena.worker.core import usage
core = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {core})
before = usage(core)
print(core, flush=True)
sys.stdin.readline()
subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass"], check=True)
now = usage(core)
print(now.clock - before.clock - (now.idle - before.idle), now.ours - before.ours)
"""


def test_the_time_of_other_programs_on_the_core_is_told_from_that_of_our_own() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MEASURING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        os.sched_setaffinity(0, {int(process.stdout.readline())})
        used = burnt(0.4)
        process.stdin.write("\n")
        process.stdin.close()
        busy, ours = map(float, process.stdout.readline().split())
    assert ours > 0.25
    assert busy - ours > used - 0.1


def burnt(seconds: float) -> float:
    """Use so much processor time."""
    before = os.times()
    while (used := sum(os.times()[:2]) - sum(before[:2])) < seconds:
        pass
    return used


class FakeCore:
    def __init__(self) -> None:
        self.is_free, self.is_taken, self.others = True, False, 0.0
        self.asked = 0

    def take(self) -> None:
        self.asked += 1
        self.is_taken = self.is_free

    def leave(self) -> None:
        self.is_taken = False

    def used_by_others(self) -> float:
        return self.others


class FakeLoop:
    """A clock that only the test moves, and the task that watches the core."""

    def __init__(self) -> None:
        self.time = 50.0
        self.tasks: list[Steps[None]] = []

    def now(self) -> float:
        return self.time

    def signal(self) -> Signal:
        return Signal(lambda _: None)

    def start(self, steps: Steps[None]) -> None:
        next(steps)
        self.tasks.append(steps)

    def sleep(self, seconds: float) -> None:
        """Let the time pass in steps that are as long as the task wants to wait."""
        until = self.time + seconds
        while self.time < until:
            self.time += 0.05
            for task in tuple(self.tasks):
                try:
                    task.throw(TimeIsUpError(self.time))
                except StopIteration:
                    self.tasks.remove(task)


class Playing:
    def __init__(self, *, pinned: bool | None = None) -> None:
        self.loop, self.core = FakeLoop(), FakeCore()
        core, loop = cast("Core", self.core), cast("PollLoop", self.loop)
        self.affinity = Affinity(core, loop, self.loop.start, pinned=pinned)

    def play(self, count: int, seconds: float = 0.05) -> None:
        line = msgspec.structs.replace(next(rounds(1)), moves=((0, "x", 0),))
        for _ in range(count):
            self.affinity.heard(RoundStarted(line.match, cast("PlannedRound", None), line.bots))
            self.loop.sleep(seconds)
            self.affinity.heard(RoundFinished(line))


def test_a_worker_takes_its_core_while_its_bots_answer_at_once() -> None:
    playing = Playing()
    playing.play(2)
    assert not playing.core.is_taken
    playing.play(30)
    assert playing.core.is_taken
    playing.play(1, seconds=0.3)
    assert not playing.core.is_taken


def test_a_worker_leaves_a_core_that_others_need_and_comes_back() -> None:
    playing = Playing()
    playing.play(3)
    playing.core.others = 0.5
    playing.play(6)
    assert not playing.core.is_taken
    playing.core.others = 0.0
    playing.play(30)
    assert playing.core.is_taken
    assert len(playing.loop.tasks) == 1


def test_a_worker_without_matches_leaves_its_core_and_watches_nothing() -> None:
    playing = Playing()
    playing.play(3)
    playing.loop.sleep(0.3)
    assert not playing.core.is_taken
    assert playing.loop.tasks == []


def test_where_other_workers_have_all_cores_a_worker_asks_for_one_now_and_then() -> None:
    playing = Playing()
    playing.core.is_free = False
    playing.play(100)
    assert 1 < playing.core.asked < 5


@pytest.mark.parametrize("pinned", [True, False])
def test_whether_it_has_a_core_can_be_told(*, pinned: bool) -> None:
    playing = Playing(pinned=pinned)
    playing.core.others = 1.0
    playing.play(9)
    playing.play(9, seconds=0.5)
    assert playing.core.is_taken is pinned
