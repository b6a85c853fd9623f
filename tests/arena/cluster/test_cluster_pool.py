"""What the pool, the client and the comparison decide, with machines that only a test plays."""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import attrs
import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from arena.cluster import cluster_client as client_module
from arena.cluster import cluster_pool as pool_module
from arena.cluster import preparation
from arena.cluster.assigned_match import ClusterWorker
from arena.cluster.cluster_client import ClusterClient
from arena.cluster.cluster_pool import ClusterPool
from arena.cluster.folder import FolderError
from arena.cluster.machines import Machines
from arena.cluster.pace import Pace
from arena.cluster.preparation import Machine, Terms, prepared
from arena.cluster.worker_connection import RemoteWorker
from arena.plan.config import Config, from_command_line
from arena.plan.deals import DealKey
from arena.plan.schedule import MatchId
from arena.tournament.worker_pool import Death
from arena.worker.channel import Unpacker, packed
from arena.worker.job import DealExposed, MatchJob, Relocation, Report, RoundStarted, Rulings
from tests.helpers.jobs import job_of
from tests.helpers.tournaments import configured

TERMS: Any = None  # which only the client needs


class _Machine:
    """One worker, as the pool sees it; it says what the test sends."""

    def __init__(self, pool: ClusterPool, name: str):
        self._ours, theirs = socket.socketpair()
        pool.arrived(RemoteWorker(Machine("tcp://127.0.0.1:1", name, Relocation("/")), theirs, self.vanish))

    def vanish(self) -> None:
        self._ours.close()

    def matches(self) -> int:
        """How many it has been given."""
        try:
            data = self._ours.recv(1 << 20, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0
        return sum(isinstance(order, MatchJob) for order in Unpacker().feed(data))

    def say(self, *reports: Report) -> None:
        self._ours.sendall(b"".join(map(packed, reports)))


@pytest.fixture
def no_cluster_client(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unconnected:
        def submit(self) -> None:
            raise AssertionError("there are no slots")

    monkeypatch.setattr(pool_module, "ClusterClient", lambda *_: nullcontext(Unconnected()))


def pool_of(config: Config, key: DealKey, heard: list[Report], machines: int = 2) -> ClusterPool:
    async def hear(report: Report) -> None:
        heard.append(report)

    config = attrs.evolve(config, key=key)
    return ClusterPool(config, hear, Rulings, pytest.fail, scheduler="", terms=TERMS, machines=machines)


async def _keep(found: list[Death | None], play: Callable[..., Any], job: MatchJob) -> None:
    found.append(await play(lambda: job))


@pytest.mark.usefixtures("no_cluster_client")
def test_concurrency_limits_what_is_played_and_not_what_waits() -> None:
    for concurrency, machines, waiting in ((None, 2, 256), (None, 100, 400), (3, 100, 256), (100, 2, 400)):
        config = attrs.evolve(from_command_line(["greedy", "random"], (), {}), concurrency=concurrency)
        assert config.matches_at_once == (concurrency or len(os.sched_getaffinity(0)))
        assert pool_of(config, DealKey("secret"), [], machines).most_matches == waiting


def test_a_machine_that_is_lost_with_many_matches_counts_once_for_each_bot() -> None:
    config, ends = configured("greedy", "random"), list[Death | None]()
    first = job_of(config)
    jobs = [replace(first, planned=replace(first.planned, id=MatchId(f"{number}.1-2"))) for number in range(1, 5)]

    async def main() -> None:
        pool = pool_of(config, DealKey("secret"), [])
        async with pool.open(), trio.open_nursery() as nursery:
            machines = [_Machine(pool, "big"), _Machine(pool, "big"), _Machine(pool, "big"), _Machine(pool, "small")]
            for machine, job in zip(machines, jobs, strict=True):
                nursery.start_soon(_keep, ends, pool.play, job)
                await wait_all_tasks_blocked()
                machine.say(RoundStarted(job.planned.id, job.planned.rounds[0], job.names), DealExposed(job.planned.id))
            await wait_all_tasks_blocked()
            for machine in machines:
                machine.vanish()
                await wait_all_tasks_blocked()

    trio.run(main)
    deaths = [death for death in ends if death]
    assert [death.is_ours for death in deaths] == [True, False, False, True]
    assert all(death.was_exposed and death.under_way for death in deaths)


def test_a_task_that_cannot_be_submitted_leaves_no_room_for_the_next_one() -> None:
    """Else the pool would try again at once, for as long as there is no scheduler."""
    told: list[tuple[str, tuple[int, ...]]] = []

    class Hears:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *arguments: told.append((name, arguments))

    async def main() -> None:
        hears: Any = Hears()
        client = ClusterClient("tcp://127.0.0.1:1", TERMS, hears)
        client.submit()
        client.loop.run_until_complete(asyncio.sleep(0))
        client.loop.close()
        await wait_all_tasks_blocked()

    trio.run(main)
    assert told == [("slots_are", (0,)), ("task_over", ())]


def test_a_bridge_that_fails_stops_the_tournament(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: str) -> None:
        raise RuntimeError("a surprise")

    monkeypatch.setattr(client_module, "connected", fail)
    reasons: list[str] = []

    class Hears:
        failed = reasons.append

    async def main() -> None:
        hears: Any = Hears()
        with ClusterClient("tcp://127.0.0.1:1", TERMS, hears):
            while not reasons:
                await trio.sleep(0.01)

    trio.run(main)
    assert reasons == ["the connection to the cluster failed: RuntimeError('a surprise')"]


@pytest.mark.usefixtures("no_cluster_client")
@pytest.mark.parametrize(
    ("seconds", "ago", "count", "given"),
    [
        (2.0, 0.0, 9, 1),
        (0.4, 0.0, 2, 1), (0.4, 0.0, 3, 2), (0.4, 0.0, 9, 2),
        (0.07, 20.0, 1, 1), (0.07, 20.0, 2, 1), (0.07, 20.0, 3, 2), (0.07, 20.0, 20, 6),
        (0.07, 0.0, 1, 1), (0.07, 0.0, 5, 5), (0.07, 0.0, 20, 6),
    ],
)  # fmt: skip
def test_quick_matches_are_given_early_but_the_last_ones_only_to_a_shift_that_is_quick_now(
    seconds: float, ago: float, count: int, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a machine would wait for the answer to each report. At the end another machine may be free sooner; but if
    matches are over before that is heard, both would wait. `ago`: when a match of this one was over."""
    monkeypatch.setattr(Pace, "match_seconds", seconds)
    monkeypatch.setattr("arena.cluster.pace.time.monotonic", lambda: 100.0)
    monkeypatch.setattr(pool_module, "ClusterWorker", partial(ClusterWorker, free_since=100.0 - ago))
    config = configured("greedy", "random")
    first = job_of(config)

    async def main() -> None:
        pool = pool_of(config, DealKey("7", is_public=True), [])
        async with pool.open(), trio.open_nursery() as nursery:
            for number in range(count):
                planned = replace(first.planned, id=MatchId(f"{number}.1-2"))
                nursery.start_soon(_keep, [], pool.play, replace(first, planned=planned))
            await wait_all_tasks_blocked()
            machine = _Machine(pool, "one")
            await wait_all_tasks_blocked()
            early = machine.matches()
            nursery.cancel_scope.cancel()
            machine.vanish()
        assert early == given

    trio.run(main)


def admission_of(told: list[tuple[str, str]], patience: float) -> Machines:
    return Machines(
        "run",
        TERMS,
        refused=lambda host: told.append(("refused", host.name)),
        deserted=lambda reason: told.append(("deserted", reason)),
        failed=lambda reason: told.append(("failed", reason)),
        patience=patience,
    )


@pytest.mark.parametrize(
    ("present", "why"), [(set[str](), "it has no Dask workers"), ({"tcp://there:1"}, "old: it has arena 1")]
)
def test_a_cluster_without_a_machine_that_may_play_is_told_at_once_and_stops_later(
    present: set[str], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []
    machines = {"tcp://there:1": Machine("tcp://there:1", "old", Relocation("/"), ("it has arena 1",))}
    machines["tcp://there:2"] = Machine("tcp://there:2", "good", Relocation("/"))
    now = [0.0]
    monkeypatch.setattr("arena.cluster.machines.time.monotonic", lambda: now[0])

    async def found(_client: object, address: str, *_: object) -> Machine:
        return machines[address]

    async def look(admission: Machines, present: set[str], at: float) -> None:
        now[0] = at
        admission.look_at(present)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def main() -> None:
        admission = admission_of(told, 300.0)
        admission.open(None)
        for at in (0.0, 1.0, 200.0):
            await look(admission, present, at)
        nobody = f"no machine of the cluster can play ({why})"
        waits = ("deserted", f"{nobody}; waiting up to 5 minutes for another one")
        refused = [("refused", "old")] * len(present)
        assert told == [*refused, waits]
        await look(admission, {"tcp://there:2"}, 250.0)  # another one comes, and leaves again
        await look(admission, {"tcp://there:2"}, 251.0)
        assert admission.fit == ["tcp://there:2"]
        for at in (252.0, 253.0, 552.0):
            await look(admission, present, at)
        assert told[len(refused) + 1 :] == [*refused, waits]
        await look(admission, present, 554.0)
        assert told[-1] == ("failed", f"{nobody}, and none that can came within 5 minutes")

    monkeypatch.setattr("arena.cluster.machines.prepared", found)
    asyncio.run(main())


class _Client:
    """A client of a cluster with one Dask worker, at "there"."""

    def __init__(self, answer: bytes | Exception | None):
        self._answer = answer

    async def run(self, *_: object, **__: object) -> dict[str, bytes | Exception]:
        if self._answer is None:
            await asyncio.Event().wait()
        assert self._answer is not None
        return {"there": self._answer}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b'{"host":1}', "its arena answers in another way; install the same version there"),
        (None, "it does not say what it is like: there was no answer within 0 s"),
    ],
)
def test_a_machine_that_does_not_answer_or_in_another_way(
    answer: bytes | None, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if answer is None:
        monkeypatch.setattr(preparation, "ANSWER_SECONDS", 0.0)
    terms = Terms.of([], None, ship=False)
    assert asyncio.run(partial(prepared, _Client(answer), "there", "run", terms)()).problems == (problem,)


@pytest.mark.parametrize(
    ("error", "answered"),
    [
        (OSError("Address removed."), False),  # as what Dask raises for a lost connection
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (FolderError("'../x' is not a path inside a folder"), True),
    ],
)
def test_a_machine_is_asked_again_if_a_folder_was_lost_on_the_way_there(error: Exception, answered: bool) -> None:
    terms = attrs.evolve(Terms.of([], None, ship=True), shipped=(("mine", "/mine", b""),))
    host = asyncio.run(partial(prepared, _Client(error), "there", "run", terms)())
    assert host.problems == (f"the folders of bots could not be sent there: {error}",)
    assert host.answered == answered
