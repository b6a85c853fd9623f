"""When the owner of a tournament hears what a worker reports. The other end of the socket is this test."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from msgspec import structs

from arena.match.round_play import Void
from arena.tournament.worker_pool import PoolWorker
from arena.worker.channel import Unpacker, packed
from arena.worker.job import DealExposed, GoOn, MatchJob, Report, RoundFinished, RoundStarted, RoundVoid, Rulings, Setup
from arena.worker.recording import void_line
from engine.ruleset import PRESETS
from tests.helpers.jobs import job_of
from tests.helpers.rounds import random_round
from tests.helpers.tournaments import configured, steady

LENGTH = 100  # rounds
REST = 0.05  # seconds
CALM = 20  # rounds in a row after which nobody waited


class ScriptedWorker:
    """A worker process that reports what the test says."""

    place = ""

    def __init__(self) -> None:
        self.socket, self._theirs = socket.socketpair()
        self._orders = Unpacker()

    def report(self, *reports: Report) -> None:
        self._theirs.sendall(b"".join(map(packed, reports)))

    def orders(self) -> list[object]:
        return list(self._orders.feed(self._theirs.recv(1 << 16)))

    def kill(self) -> None:
        self._theirs.close()

    hang_up = kill

    def ended(self) -> str:
        return "ended"


class Scene:
    """A worker in a match, the owner that hears it, and a clock that stands still until the test moves it."""

    def __init__(self, clock: trio.testing.MockClock) -> None:
        self._clock = clock
        self.process = ScriptedWorker()
        self.worker = PoolWorker(self.process, Setup(1))
        self.job: MatchJob = job_of(configured(steady("a"), steady("b"), rounds=str(LENGTH)))
        self._heard: list[str] = []

    async def hear(self, report: Report) -> None:
        if isinstance(report, RoundFinished):
            self._heard.append(report.line.id)

    async def heard(self, after: float = 0) -> list[str]:
        """What the owner heard until `after` seconds from now, since the last call."""
        self._clock.jump(after)
        await trio.testing.wait_all_tasks_blocked()
        heard, self._heard = self._heard, []
        return heard

    def play(self, number: int, *, fails: bool = False) -> str:
        """Report a round of the match, and the start of the next one. Returns its id."""
        match, planned = self.job.planned.id, self.job.planned.rounds[number - 1 : number + 1]
        line = random_round(PRESETS["base"], number, id=planned[0].id, stop_after=5 if fails else None)
        assert (line.fault is not None) is fails
        starts = [RoundStarted(match, each, self.job.names) for each in planned]
        self.process.report(starts[0], DealExposed(match), RoundFinished(line), *starts[1:])
        return line.id


@asynccontextmanager
async def begun(clock: trio.testing.MockClock) -> AsyncIterator[Scene]:
    scene = Scene(clock)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(scene.worker.play, scene.job)
        nursery.start_soon(scene.worker.listen, scene.hear)
        await trio.testing.wait_all_tasks_blocked()
        scene.process.orders()
        try:
            yield scene
        finally:
            scene.process.kill()
            clock.autojump_threshold = 0  # the last rest


async def test_rounds_of_a_long_match_are_heard_together(mock_clock: trio.testing.MockClock) -> None:
    async with begun(mock_clock) as scene:
        for number in range(1, CALM + 1):
            assert await scene.heard() == []
            name = scene.play(number)
            assert await scene.heard() == [name]
        names = [scene.play(CALM + 1), scene.play(CALM + 2)]
        assert await scene.heard(after=REST * 0.9) == []
        assert await scene.heard(after=REST * 0.2) == names


async def test_there_is_no_rest_while_there_is_more_to_read(mock_clock: trio.testing.MockClock) -> None:
    """Notes of bots may fill the socket faster than one read in each rest empties it."""
    async with begun(mock_clock) as scene:
        for number in range(1, CALM + 1):
            scene.play(number)
            await scene.heard()
        names = [scene.play(number) for number in range(CALM + 1, CALM + 41)]  # more than one read takes
        assert await scene.heard(after=REST) == names


async def test_a_round_that_the_match_waits_for_ends_the_rests(mock_clock: trio.testing.MockClock) -> None:
    async with begun(mock_clock) as scene:
        for number in range(1, CALM + 1):
            scene.play(number)
        await scene.heard()
        name = scene.play(CALM + 1, fails=True)
        assert await scene.heard(after=REST) == [name]
        assert scene.process.orders() == [GoOn(scene.job.planned.id)]
        name = scene.play(CALM + 2)
        assert await scene.heard() == [name]


@pytest.mark.parametrize("pace", [0.002, 0.004, 0.03])
async def test_no_rest_outlasts_the_match(pace: float, mock_clock: trio.testing.MockClock) -> None:
    """The next match begins when the owner knows that this one is over."""
    async with begun(mock_clock) as scene:
        batches = []
        for number in range(1, LENGTH + 1):
            mock_clock.jump(pace)
            name = scene.play(number)
            batches.append(await scene.heard())
        assert batches[-1][-1] == name
        assert [name for batch in batches for name in batch] == [each.id for each in scene.job.planned.rounds]
        together = sum(map(bool, batches[CALM:]))
        least = (LENGTH - CALM) * pace / REST
        assert least / 2 < together < 2 * least + 20  # the last ones are heard one by one


async def test_a_round_that_was_slow_does_not_make_the_next_ones_slow(mock_clock: trio.testing.MockClock) -> None:
    async with begun(mock_clock) as scene:
        for number in range(1, LENGTH + 1):
            mock_clock.jump(1 if number in (1, 2, LENGTH - 3) else 0.002)
            name = scene.play(number)
            heard = await scene.heard()
        assert heard[-1] == name


async def test_a_worker_that_hangs_before_it_has_read_a_large_job_is_killed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """The job of a long match that was interrupted does not fit into the socket."""
    scene = Scene(autojump_clock)
    played = frozenset(f"1.1-2.{number}" for number in range(50_000))
    job = structs.replace(scene.job, so_far=structs.replace(scene.job.so_far, finished=played))
    standings = iter(Rulings(spent=frozenset({f"a{count}"})) for count in range(100))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(scene.worker.listen, scene.hear)
        nursery.start_soon(scene.worker.beat, lambda: next(standings))
        death = None
        with trio.move_on_after(60):
            death = await scene.worker.play(job)
        scene.process.kill()
    assert death is not None
    assert death.reason == "the worker process that played it did not react for 10 s and was killed"


async def test_a_worker_that_dies_after_a_void_makes_no_second_one(mock_clock: trio.testing.MockClock) -> None:
    """The next attempt at the round has another deal, which nobody has seen before it starts."""
    scene = Scene(mock_clock)
    match, planned = scene.job.planned.id, scene.job.planned.rounds[0]
    void = void_line(planned, match, scene.job.names, Void("the arena failed"), "2026-01-31T12:00:00Z")
    deaths = []

    async def play() -> None:
        deaths.append(await scene.worker.play(scene.job))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(play)
        nursery.start_soon(scene.worker.listen, scene.hear)
        await trio.testing.wait_all_tasks_blocked()
        scene.process.report(RoundStarted(match, planned, scene.job.names), DealExposed(match), RoundVoid(void))
        await trio.testing.wait_all_tasks_blocked()
        scene.process.kill()
    (death,) = deaths
    assert death is not None
    assert death.under_way == planned
    assert not death.was_exposed
