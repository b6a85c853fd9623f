"""The way to one shift (dask_task.py): a pair of sockets, the other end of which looks to the crew like a local
worker."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final, Protocol

from arena.cluster.preparation import Host

_CHUNK: Final = 1 << 16


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

    def kill(self) -> None:
        self._kill()

    def hang_up(self) -> None:
        if self.socket.fileno() >= 0:
            self.socket.shutdown(socket.SHUT_WR)

    def ended(self) -> str:
        return self.words


class Ends(Protocol):
    """What a tunnel needs of the bridge. All of it belongs to the thread of the client, except for `call`."""

    loop: asyncio.AbstractEventLoop

    def call(self, what: Callable[..., object], *arguments: object) -> None:
        """Call something in the thread of the client, soon."""

    async def deliver(self, tunnel: "Tunnel", data: bytes) -> bool:
        """Send orders to a shift. Returns False if it cannot be reached."""

    def forget(self, tunnel: "Tunnel") -> None: ...

    def give_up(self, tunnel: "Tunnel") -> None:
        """Let Dask know that a shift is not wanted, and mistrust its machine."""


class Tunnel:
    """One shift: our end of its sockets, and the orders on their way."""

    def __init__(self, bridge: Ends, task: str, shift: str, host: Host):
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
            self._bridge.give_up(self)
            self.end(words)

    def _close(self) -> None:
        if self._ours.fileno() >= 0:
            self._bridge.loop.remove_reader(self._ours)
            self._ours.close()
