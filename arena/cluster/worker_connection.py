"""The way to one worker on another machine (dask_task.py): a pair of sockets, the other end of which looks to the pool
like a local worker."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final, Protocol

from arena.cluster.preparation import Machine

_CHUNK: Final = 1 << 16


class RemoteWorker:
    """A worker process of another machine, as the pool sees it."""

    def __init__(self, machine: Machine, theirs: socket.socket, kill: Callable[[], None]):
        self.machine = machine
        self.place = f"on {machine.name} "
        self.socket = theirs
        self._kill = kill
        self.words = "was lost"  # how it ended
        self.is_lost = True  # whether nobody said how it ended, because the way to it was lost
        self.with_all = False  # it was lost together with all others

    def kill(self) -> None:
        self._kill()

    def hang_up(self) -> None:
        if self.socket.fileno() >= 0:
            self.socket.shutdown(socket.SHUT_WR)

    def ended(self) -> str:
        return self.words


class ConnectionOwner(Protocol):
    """What a connection needs of the client of the cluster. All of it belongs to the thread of the client, except for
    `call`."""

    loop: asyncio.AbstractEventLoop

    def call(self, what: Callable[..., object], *arguments: object) -> None:
        """Call something in the thread of the client, soon."""

    async def deliver(self, connection: "WorkerConnection", data: bytes) -> bool:
        """Send orders to a worker. Returns False if it cannot be reached."""

    def forget(self, connection: "WorkerConnection") -> None: ...

    def give_up(self, connection: "WorkerConnection") -> None:
        """Let Dask know that a worker is not wanted, and mistrust its machine."""


class WorkerConnection:
    """One worker: our end of its sockets, and the orders on their way."""

    def __init__(self, owner: ConnectionOwner, task: str, worker_id: str, machine: Machine):
        self._owner = owner
        self.task, self.worker_id, self.address = task, worker_id, machine.address
        self._ours, theirs = socket.socketpair()
        self._ours.setblocking(False)
        self.process = RemoteWorker(machine, theirs, lambda: owner.call(self.abandon))
        self.events = 1
        self._unwritten = bytearray()
        self._orders: list[bytes] = []
        self._sending: asyncio.Task[None] | None = None
        self._is_over = False  # no more reports
        owner.loop.add_reader(self._ours, self._read)

    def feed(self, data: bytes) -> None:
        self._unwritten += data
        self._write()

    def _write(self) -> None:
        try:
            while self._unwritten:
                del self._unwritten[: self._ours.send(self._unwritten)]
        except BlockingIOError:
            self._owner.loop.add_writer(self._ours, self._write)
            return
        except OSError:  # the pool has closed its end
            self._unwritten.clear()
        self._owner.loop.remove_writer(self._ours)
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
            self._owner.loop.remove_reader(self._ours)
        self._orders.append(data)
        if self._sending is None:
            self._sending = self._owner.loop.create_task(self._send())

    async def _send(self) -> None:
        while self._orders:
            last, data = not self._orders[-1], b"".join(self._orders)
            self._orders.clear()
            if (data and not await self._owner.deliver(self, data)) or (
                last and not await self._owner.deliver(self, b"")
            ):
                self.abandon("could not be reached")
        self._sending = None

    def end(self, words: str) -> None:
        """Let the pool know that the worker is gone, after all that it reported."""
        if self._is_over:
            return
        self._owner.forget(self)
        self.process.words = words
        self._is_over = True
        self._write()

    def abandon(self, words: str = "was given up") -> None:
        """Give the worker up: Dask tells it that it is not wanted. The task of a worker that was lost may run again."""
        if not self._is_over:
            self._owner.give_up(self)
            self.end(words)

    def _close(self) -> None:
        if self._ours.fileno() >= 0:
            self._owner.loop.remove_reader(self._ours)
            self._ours.close()
