"""The Dask client of a tournament, in a thread of its own: it joins the shifts (shift.py) to trio.

Theory of operation. Each shift that reports gets a pair of sockets: what arrives as events is written to ours, and what
the crew writes to the other end is delivered to the shift. So the crew sees a remote worker as it sees a local one: a
socket that carries orders and reports, and that is closed when the worker is gone. A shift is gone if it says so, if an
event of it is missing, if Dask runs its task again, or if its Dask worker is no longer in the cluster.

A client that loses its scheduler loses all tasks. Then all shifts are gone, and the bridge connects again until its
patience is over. Callbacks are called in trio's thread.
"""

import asyncio
import contextlib
import logging
import socket
import time
import uuid
import warnings
from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Any, Final, Protocol, Self

import trio
from distributed import Client

from arena.cluster.hosts import Host, Terms, left, prepared
from arena.cluster.shift import TOPIC, deliver, play_shift

_CONNECT_SECONDS: Final = 10.0
_PATIENCE: Final = 60.0  # seconds without a scheduler before the tournament stops
_LOOK: Final = 1.0  # seconds between two looks at the cluster
_CHUNK: Final = 1 << 16
_DONE: Final = ("finished", "error", "cancelled", "lost")  # states of a task
_START_SECONDS: Final = 30.0  # for a task to begin on a machine with a free thread
_ANSWER_SECONDS: Final = 10.0  # for a question to the scheduler

# What happens to the cluster is said by us, in one line. Each logger may have a level of its own.
for _name in (
    "asyncio",
    "tornado",
    *(name for name in logging.root.manager.loggerDict if name.startswith("distributed")),
):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class ClusterError(Exception):
    """The cluster cannot be used; the text says why, and what would help."""


class Hears(Protocol):
    """What the bridge tells."""

    def slots_are(self, count: int) -> None:
        """So many tasks can run at once."""

    def arrived(self, worker: "RemoteWorker") -> None:
        """A shift is ready to play."""

    def refused(self, host: Host) -> None:
        """A machine that joined the cluster may not play."""

    def task_over(self) -> None:
        """A task that was submitted has ended, and its shift with it."""

    def lost(self, reason: str) -> None:
        """The scheduler is lost, and all tasks with it."""

    def failed(self, reason: str) -> None:
        """It will not come back."""


class RemoteWorker:
    """A worker process of another machine, as the crew sees it."""

    def __init__(self, host: Host, theirs: socket.socket, kill: Callable[[], None]):
        self.host = host
        self.place = f"on {host.name} "
        self.socket = theirs
        self._kill = kill
        self.words = "was lost"  # how it ended
        self.is_lost = True  # whether nobody said how it ended, because the way to it was lost
        self.with_all = False  # it was lost together with all others
        self.core: int | None = None  # that it may have for itself

    def kill(self) -> None:
        self._kill()

    def hang_up(self) -> None:
        if self.socket.fileno() >= 0:
            self.socket.shutdown(socket.SHUT_WR)

    def ended(self) -> str:
        return self.words


class _Tunnel:
    """One shift: our end of its sockets, and the orders on their way."""

    def __init__(self, bridge: "Bridge", task: str, shift: str, host: Host):
        self._bridge = bridge
        self.task, self.shift, self.address = task, shift, host.address
        self._ours, theirs = socket.socketpair()
        self._ours.setblocking(False)
        self.worker = RemoteWorker(host, theirs, lambda: bridge.call(self.abandon))
        self.events = 1
        self._unwritten = bytearray()
        self._orders: list[bytes] = []
        self._sending: asyncio.Task[None] | None = None
        self._is_over = False  # no more reports
        bridge.loop.add_reader(self._ours, self._read)

    def feed(self, data: bytes) -> None:
        self._unwritten += data
        self._write()

    def _write(self) -> None:
        try:
            while self._unwritten:
                del self._unwritten[: self._ours.send(self._unwritten)]
        except BlockingIOError:
            self._bridge.loop.add_writer(self._ours, self._write)
            return
        except OSError:  # the crew has closed its end
            self._unwritten.clear()
        self._bridge.loop.remove_writer(self._ours)
        if self._is_over:
            self._close()

    def _read(self) -> None:
        try:
            data = self._ours.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._bridge.loop.remove_reader(self._ours)
        self._orders.append(data)
        if self._sending is None:
            self._sending = self._bridge.loop.create_task(self._send())

    async def _send(self) -> None:
        while self._orders:
            last, data = not self._orders[-1], b"".join(self._orders)
            self._orders.clear()
            if (data and not await self._bridge.deliver(self, data)) or (
                last and not await self._bridge.deliver(self, b"")
            ):
                self.abandon("could not be reached")
        self._sending = None

    def end(self, words: str) -> None:
        """Let the crew know that the shift is gone, after all that it reported."""
        if self._is_over:
            return
        self._bridge.forget(self)
        self.worker.words = words
        self._is_over = True
        self._write()

    def abandon(self, words: str = "was given up") -> None:
        """Give the shift up: Dask tells it that it is not wanted. The task of a shift that was lost may run again."""
        if not self._is_over:
            self._bridge.release(self.task)
            self._bridge.suspect(self.address)
            self.end(words)

    def _close(self) -> None:
        if self._ours.fileno() >= 0:
            self._bridge.loop.remove_reader(self._ours)
            self._ours.close()


class Bridge:
    """A connection to a cluster. Use it as a context manager, in trio's thread."""

    def __init__(self, address: str, terms: Terms, hears: Hears, patience: float = _PATIENCE):
        self.loop = asyncio.new_event_loop()
        self.run = uuid.uuid4().hex
        self._address = address
        self._hears = hears
        self._patience = patience
        self._terms = terms
        self._hosts: dict[str, Host | None] = {}  # by the address of a Dask worker; None while it is compared
        self._client: Any = None
        self._tasks: dict[str, Any] = {}  # Dask's futures, which are not typed
        self._pending: dict[str, float] = {}  # tasks that have not begun, and since when
        self._tunnels: dict[str, _Tunnel] = {}  # by shift
        self._comparing: set[asyncio.Task[None]] = set()
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
        """Have one more shift."""
        self.call(self._submit)

    def _submit(self) -> None:
        places = [address for address, host in self._hosts.items() if host is not None and not host.problems]
        if self._client is None or not places:
            self._tell(self._hears.slots_are, 0)  # else the crew would submit again at once, until the next look
            self._tell(self._hears.task_over)
            return
        self._submitted += 1
        key = f"arena-{self.run}-{self._submitted}"
        self._pending[key] = time.monotonic()
        self._tasks[key] = self._client.submit(
            play_shift, self.run, key, key=key, pure=False, retries=0, workers=places
        )

    def release(self, task: str) -> None:
        """Forget a task, so that Dask does, too."""
        self._pending.pop(task, None)
        if (future := self._tasks.pop(task, None)) is not None:
            future.release()
            self._tell(self._hears.task_over)

    def suspect(self, address: str) -> None:
        """Let no task begin on a machine that does not answer, until it does. Dask itself waits for minutes."""
        if self._hosts.get(address) is not None:
            self._hosts[address] = None
            self._compare_soon(address)

    def forget(self, tunnel: _Tunnel) -> None:
        self._tunnels.pop(tunnel.shift, None)

    async def deliver(self, tunnel: _Tunnel, data: bytes) -> bool:
        """Send orders to a shift. Returns False if it cannot be reached."""
        try:
            found = await self._client.run(deliver, tunnel.shift, data, workers=[tunnel.address], on_error="return")
        except Exception:  # whatever Dask raises, the shift is lost
            return False
        return found.get(tunnel.address) is True

    # The thread of the client.

    def _live(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._stay_connected())
        except Exception as error:  # a bug of ours or of Dask; without us the tournament would wait for ever
            self._tell(self._hears.failed, f"the connection to the cluster failed: {error!r}")
        finally:
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    async def _stay_connected(self) -> None:
        patience_ends = time.monotonic() + self._patience
        while not self._over.is_set():
            try:
                client = await connected(self._address)
            except ClusterError as error:
                if time.monotonic() > patience_ends:
                    self._tell(self._hears.failed, str(error))
                    return
                await self._pause(0.5)
                continue
            try:
                await self._serve(client)
            finally:
                reason = "the scheduler of the cluster was lost"
                for tunnel in tuple(self._tunnels.values()):
                    tunnel.worker.with_all = True
                    tunnel.end(f"was lost: {reason}")
                for task in tuple(self._tasks):
                    self.release(task)
                await self._leave(client)
            if not self._over.is_set():
                self._tell(self._hears.lost, reason)
            patience_ends = time.monotonic() + self._patience

    async def _leave(self, client: Any) -> None:
        """Leave the cluster as it was."""
        for task in tuple(self._comparing):
            task.cancel()
        hosts, self._hosts, self._client = self._hosts, {}, None
        if self._terms.parcels and self._over.is_set():
            await asyncio.gather(*(left(client, address, self.run) for address in hosts))
        await closed(client)

    async def _serve(self, client: Any) -> None:
        """Serve the tournament until it is over, or until the scheduler is lost."""
        client.subscribe_topic(TOPIC, self._heard)
        self._client = client
        while not self._over.is_set() and client.status == "running":
            try:
                found = await asyncio.wait_for(client.scheduler.identity(), _ANSWER_SECONDS)
                await self._release_stuck(client)
            except Exception:  # whatever Dask raises, there is no answer
                return
            workers = found["workers"]
            self._look_at(workers)
            for tunnel in tuple(self._tunnels.values()):
                if tunnel.address not in workers:
                    tunnel.end("was lost: its Dask worker has left the cluster")
            for task, future in tuple(self._tasks.items()):
                if future.status in _DONE:
                    self.release(task)
            await self._pause(_LOOK)

    def _look_at(self, workers: dict[str, Any]) -> None:
        """Compare Dask workers that are new, and say how many tasks those that may play can run at once."""
        self._hosts = {address: host for address, host in self._hosts.items() if address in workers}
        for address in workers.keys() - self._hosts.keys():
            self._hosts[address] = None
            self._compare_soon(address)
        fit = [address for address, host in self._hosts.items() if host is not None and not host.problems]
        self._tell(self._hears.slots_are, sum(workers[address]["nthreads"] for address in fit))

    async def _release_stuck(self, client: Any) -> None:
        """Take tasks away from machines that have had them for long and do not begin."""
        now = time.monotonic()
        late = {task for task, since in self._pending.items() if now - since > _START_SECONDS}
        if late:
            self._pending |= dict.fromkeys(late, now)  # those that no machine has yet wait for a free thread
            processing = await asyncio.wait_for(client.processing(), _ANSWER_SECONDS)
            for address, tasks in processing.items():
                for task in late & set(tasks):
                    self.suspect(address)
                    self.release(task)

    def _compare_soon(self, address: str) -> None:
        self._comparing.add(task := self.loop.create_task(self._compare(address)))
        task.add_done_callback(self._comparing.discard)

    async def _compare(self, address: str) -> None:
        host = await prepared(self._client, address, self.run, self._terms)
        if not host.answered:
            self._hosts.pop(address, None)  # it is asked again if it is still there
            return
        self._hosts[address] = host
        if host.problems:
            self._tell(self._hears.refused, host)

    async def _pause(self, seconds: float) -> None:
        """Wait, but not beyond the end."""
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return

    def _heard(self, event: tuple[float, list[Any]]) -> None:
        run, task, shift, address, number, kind, data = event[1]
        if run != self.run or task not in self._tasks:
            return
        if kind == "ready":
            for tunnel in tuple(self._tunnels.values()):
                if tunnel.task == task:  # Dask runs the task again, because its Dask worker died
                    tunnel.end("was lost: its Dask worker has left the cluster")
            host = self._hosts.get(address)
            if host is None:  # it has left the cluster, or did not answer and is asked again
                self.release(task)
                return
            self._tunnels[shift] = tunnel = _Tunnel(self, task, shift, host)
            self._pending.pop(task, None)
            tunnel.worker.core = int(data) if data else None
            self._tell(self._hears.arrived, tunnel.worker)
            return
        if (known := self._tunnels.get(shift)) is None:
            return  # it was given up
        if number != known.events:
            known.abandon()
            return
        known.events += 1
        if kind == "end":
            known.worker.is_lost = False
            known.end(data.decode())
            self.release(task)
        else:
            known.feed(data)


async def connected(address: str) -> Any:
    """A client of the cluster. Raises ClusterError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # versions are compared by cluster-check, in words of ours
        make: Any = Client  # it is not typed
        client = make(address, asynchronous=True, timeout=_CONNECT_SECONDS, set_as_default=False, name="schotten-arena")
        try:
            await client
        except (OSError, TimeoutError) as error:
            await closed(client)
            raise ClusterError(
                f"there is no Dask scheduler at {address}: {reason_of(error)}; `dask scheduler` starts one"
            ) from None
        except Exception as error:  # whatever Dask raises if it is not a scheduler, or one of another version
            await closed(client)
            raise ClusterError(f"the scheduler at {address} cannot be used: {reason_of(error)}") from None
    return client


def reason_of(error: BaseException) -> str:
    """The words of an error that Dask raised, or of what caused it, on one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__


async def closed(client: Any) -> None:
    """Close a client, even if its scheduler does not answer."""
    try:
        await asyncio.wait_for(client._close(fast=True), _CONNECT_SECONDS)
    except Exception:  # it is given up in any case
        return
