"""The Dask client of a tournament, in a thread of its own: it joins the workers on other machines (dask_task.py) to
trio.

Theory of operation. Each worker that reports gets a pair of sockets: what arrives as events is written to ours, and
what the pool writes to the other end is delivered to the worker. So the pool sees a remote worker as it sees a local
one: a socket that carries orders and reports, and that is closed when the worker is gone. A worker is gone if it says
so, if an event of it is missing, if Dask runs its task again, or if its Dask worker is no longer in the cluster.

A client that loses its scheduler loses all tasks. Then all workers are gone, and the client connects again until its
patience is over. Callbacks are called in trio's thread.
"""

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Any, Final, Protocol, Self

import attrs
import trio

from arena.cluster.dask_task import TOPIC, deliver, play_task
from arena.cluster.machines import Machines
from arena.cluster.preparation import Machine, Terms
from arena.cluster.scheduler import ClusterError, closed, connected
from arena.cluster.worker_connection import RemoteWorker, WorkerConnection

_PATIENCE: Final = 60.0  # seconds without a scheduler before the tournament stops
_LOOK: Final = 1.0  # seconds between two looks at the cluster
_DONE: Final = ("finished", "error", "cancelled", "lost")  # states of a task
_START_SECONDS: Final = 30.0  # for a task to begin on a machine with a free thread
_ANSWER_SECONDS: Final = 10.0  # for a question to the scheduler
_LEFT: Final = "was lost: its Dask worker has left the cluster"


class ClusterListener(Protocol):
    """What the client tells."""

    def slots_are(self, count: int) -> None:
        """This number of tasks can run at once."""

    def arrived(self, process: RemoteWorker) -> None:
        """A worker is ready to play."""

    def refused(self, machine: Machine) -> None:
        """A machine that joined the cluster may not play."""

    def deserted(self, reason: str) -> None:
        """No machine may play at the moment."""

    def task_over(self) -> None:
        """A task that was submitted has ended, and its worker with it."""

    def lost(self, reason: str) -> None:
        """The scheduler is lost, and all tasks with it."""

    def failed(self, reason: str) -> None:
        """It will not come back."""


@attrs.frozen
class _Pending:
    """A task that has not begun."""

    since: float
    places: frozenset[str]  # addresses of Dask workers that may run it


class ClusterClient:
    """A connection to a cluster. Use it as a context manager, in trio's thread."""

    def __init__(self, address: str, terms: Terms, listener: ClusterListener, patience: float = _PATIENCE):
        self.loop = asyncio.new_event_loop()
        self.run = uuid.uuid4().hex
        self._address = address
        self._listener = listener
        self._patience = patience
        self._machines = Machines(
            self.run,
            terms,
            refused=lambda machine: self._tell(listener.refused, machine),
            deserted=lambda reason: self._tell(listener.deserted, reason),
            failed=lambda reason: self._tell(listener.failed, reason),
        )
        self._client: Any = None
        self._tasks: dict[str, Any] = {}  # Dask's futures, which are not typed
        self._pending: dict[str, _Pending] = {}  # tasks that have not begun
        self._connections: dict[str, WorkerConnection] = {}  # by the id of their worker
        self._over = asyncio.Event()
        self._token = trio.lowlevel.current_trio_token()
        self._thread = Thread(target=self._live, daemon=True)
        self._submitted = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, traceback: TracebackType | None) -> None:
        self.call(self._over.set)
        self._thread.join()

    def call(self, what: Callable[..., object], *arguments: Any) -> None:
        """Call something in the thread of the client, soon, if it has not ended."""
        with contextlib.suppress(RuntimeError):  # it has, because it could not go on
            self.loop.call_soon_threadsafe(what, *arguments)

    def _tell(self, what: Callable[..., object], *arguments: Any) -> None:
        """Call something in trio's thread, soon."""
        try:
            self._token.run_sync_soon(what, *arguments)
        except trio.RunFinishedError:
            self._over.set()

    def submit(self) -> None:
        """Have one more worker."""
        self.call(self._submit)

    def _submit(self) -> None:
        places = self._machines.fit
        if self._client is None or not places:
            self._tell(self._listener.slots_are, 0)  # else the pool would submit again at once, until the next look
            self._tell(self._listener.task_over)
            return
        self._submitted += 1
        key = f"arena-{self.run}-{self._submitted}"
        self._pending[key] = _Pending(time.monotonic(), frozenset(places))
        self._tasks[key] = self._client.submit(play_task, self.run, key, key=key, pure=False, retries=0, workers=places)

    def release(self, task: str) -> None:
        """Forget a task, so that Dask does, too."""
        self._pending.pop(task, None)
        if (future := self._tasks.pop(task, None)) is not None:
            future.release()
            self._tell(self._listener.task_over)

    def give_up(self, connection: WorkerConnection) -> None:
        self.release(connection.task)
        self._machines.suspect(connection.address)

    def forget(self, connection: WorkerConnection) -> None:
        self._connections.pop(connection.worker_id, None)

    async def deliver(self, connection: WorkerConnection, data: bytes) -> bool:
        """Send orders to a worker. Returns False if it cannot be reached."""
        try:
            found = await self._client.run(
                deliver, connection.worker_id, data, workers=[connection.address], on_error="return"
            )
        except Exception:  # whatever Dask raises, the worker is lost
            return False
        return found.get(connection.address) is True

    # The thread of the client.

    def _live(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._stay_connected())
        except Exception as error:  # a bug of ours or of Dask; without us the tournament would wait for ever
            self._tell(self._listener.failed, f"the connection to the cluster failed: {error!r}")
        finally:
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    async def _stay_connected(self) -> None:
        give_up_at = time.monotonic() + self._patience
        while not self._over.is_set():
            try:
                client = await connected(self._address)
            except ClusterError as error:
                if time.monotonic() > give_up_at:
                    self._tell(self._listener.failed, str(error))
                    return
                await self._pause(0.5)
                continue
            try:
                await self._serve(client)
            finally:
                # The scheduler is lost or the tournament is over, so no worker can be reached any more. No bot caused a
                # loss of all at once (losses.py).
                reason = "the scheduler of the cluster was lost"
                for connection in tuple(self._connections.values()):
                    connection.process.with_all = True
                    connection.end(f"was lost: {reason}")
                for task in tuple(self._tasks):
                    self.release(task)
                await self._leave(client)
            if not self._over.is_set():
                waits = f"waiting up to {self._patience:.0f} s for another one at {self._address}, and for its workers"
                self._tell(self._listener.lost, f"{reason}; {waits}")
            # A connection was made, so the patience begins anew.
            give_up_at = time.monotonic() + self._patience

    async def _leave(self, client: Any) -> None:
        """Leave the cluster as it was."""
        self._client = None
        await self._machines.close(is_over=self._over.is_set())
        await closed(client)

    async def _serve(self, client: Any) -> None:
        """Serve the tournament until it is over, or until the scheduler is lost."""
        client.subscribe_topic(TOPIC, self._heard)
        self._client = client
        self._machines.open(client)
        while not self._over.is_set() and client.status == "running":
            try:
                found = await asyncio.wait_for(client.scheduler.identity(), _ANSWER_SECONDS)
                await self._release_stuck(client)
            except Exception:  # whatever Dask raises, there is no answer
                return
            workers = found["workers"]
            self._machines.look_at({*workers})
            self._tell(self._listener.slots_are, sum(workers[address]["nthreads"] for address in self._machines.fit))
            self._release_lost({*workers})
            await self._pause(_LOOK)

    def _release_lost(self, present: set[str]) -> None:
        """Take note of tasks that are over, or whose machines have left. Dask would run such a task again, but only on
        one of the machines that could play when it was submitted, and perhaps none of them is left."""
        for connection in tuple(self._connections.values()):
            if connection.address not in present:
                connection.end(_LEFT)
                self.release(connection.task)
        for task, future in tuple(self._tasks.items()):
            if future.status in _DONE or (task in self._pending and self._pending[task].places.isdisjoint(present)):
                self.release(task)

    async def _release_stuck(self, client: Any) -> None:
        """Take tasks away from machines that have had them for long and do not begin."""
        now = time.monotonic()
        late = {task for task, pending in self._pending.items() if now - pending.since > _START_SECONDS}
        for task in late:  # those that no machine has yet wait for a free thread
            self._pending[task] = attrs.evolve(self._pending[task], since=now)
        if late:
            processing = await asyncio.wait_for(client.processing(), _ANSWER_SECONDS)
            for address, tasks in processing.items():
                for task in late & set(tasks):
                    self._machines.suspect(address)
                    self.release(task)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not beyond the end."""
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return

    def _heard(self, event: tuple[float, list[Any]]) -> None:
        run, task, worker_id, address, number, kind, data = event[1]
        if run != self.run or task not in self._tasks:
            return
        if kind == "ready":
            for connection in tuple(self._connections.values()):
                if connection.task == task:  # Dask runs the task again, because its Dask worker died
                    connection.end(_LEFT)
            machine = self._machines.machine(address)
            if machine is None:  # it has left the cluster, or did not answer and is asked again
                self.release(task)
                return
            self._connections[worker_id] = connection = WorkerConnection(self, task, worker_id, machine)
            self._pending.pop(task, None)
            self._tell(self._listener.arrived, connection.process)
            return
        if (known := self._connections.get(worker_id)) is None:
            return  # it was given up
        if number != known.events:
            # An event is missing, and nobody knows what it reported.
            known.abandon()
            return
        known.events += 1
        if kind == "end":
            known.process.is_lost = False
            known.end(data.decode())
            self.release(task)
        else:
            known.feed(data)
