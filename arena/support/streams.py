"""Pipes and sockets as trio streams. A write is tried before it waits, and a read waits exactly once, which makes them
about twice as fast as trio's own streams.

A stream owns objects (`io.FileIO`, `socket.socket`), never bare descriptor numbers. A task that waits for a descriptor
can be woken and then run only after another task has closed it; by then the kernel may have given the same number to
another connection. The object knows that it is closed, so such a task gets ClosedResourceError instead of reading
from, or writing to, the wrong peer. Every object is set to non-blocking mode.
"""

import contextlib
import io
import os
import select
import socket
from typing import Final, Protocol

import trio

# Bytes below TLS: a handshake takes some 2 KB, and a record of 16 KB is delivered once it is complete.
_MOST_UNDELIVERED: Final = 24 * 1024
_OVERHEAD: Final = 32  # bytes that one byte above may take below: a record has 22 more than it carries
_CHUNK: Final = 4096  # bytes per read, unless the caller passes a limit


class PipeStream(trio.abc.Stream):
    """A pair of pipes. It takes over both descriptors and closes them."""

    def __init__(self, reader: int, writer: int):
        for descriptor in (reader, writer):
            os.set_blocking(descriptor, False)
        self._reader = io.FileIO(reader, "rb")
        self._writer = io.FileIO(writer, "wb")

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        left = data
        while True:
            try:
                sent = self._writer.write(left)
            except ValueError:  # FileIO raises this for a closed file
                raise trio.ClosedResourceError from None
            except OSError as error:
                raise trio.BrokenResourceError from error
            if sent == len(left):  # the usual case
                return
            if sent is None:  # the pipe is full
                await trio.lowlevel.wait_writable(self._writer)
            else:
                left = memoryview(left)[sent:]

    async def wait_send_all_might_not_block(self) -> None:
        if self._writer.closed:
            raise trio.ClosedResourceError
        await trio.lowlevel.wait_writable(self._writer)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        while True:
            if self._reader.closed:
                raise trio.ClosedResourceError
            await trio.lowlevel.wait_readable(self._reader)
            try:
                data = self._reader.read(max_bytes or _CHUNK)
            except ValueError:  # another task closed it after this one was woken
                raise trio.ClosedResourceError from None
            except OSError as error:
                raise trio.BrokenResourceError from error
            if data is not None:  # None is a spurious wake-up
                return data

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        self.close_writer()
        _close(self._reader)

    def close_writer(self) -> None:
        """Close the bot's input."""
        _close(self._writer)


class TcpStream(trio.abc.Stream):
    """A connected socket. It takes over the socket and closes it."""

    def __init__(self, connection: socket.socket):
        connection.setblocking(False)
        self._socket = connection

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        left = data
        while True:
            try:
                sent = self._socket.send(left)
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._socket)
                continue
            except OSError as error:
                raise self._error() from error
            if sent == len(left):
                return
            left = memoryview(left)[sent:]

    async def wait_send_all_might_not_block(self) -> None:
        self._check_open()
        await trio.lowlevel.wait_writable(self._socket)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        while True:
            self._check_open()
            await trio.lowlevel.wait_readable(self._socket)
            try:
                return self._socket.recv(max_bytes or _CHUNK)
            except BlockingIOError:
                continue  # a spurious wake-up
            except OSError as error:
                raise self._error() from error

    def _check_open(self) -> None:
        if self._is_closed():
            raise trio.ClosedResourceError

    def _is_closed(self) -> bool:
        return self._socket.fileno() < 0

    def _error(self) -> Exception:
        """The trio exception for a failed system call, which may have failed because this side closed the socket."""
        return trio.ClosedResourceError() if self._is_closed() else trio.BrokenResourceError()

    def is_hung_up(self) -> bool:
        return self._is_closed() or is_hung_up(self._socket)

    def close_writer(self) -> None:
        """Close the peer's input; what the peer still sends can be read."""
        with contextlib.suppress(OSError):  # the peer is already gone
            self._socket.shutdown(socket.SHUT_WR)

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        _close(self._socket)


class MeteredTcpStream(TcpStream):
    """A connection below TLS. It breaks if the peer sends much of which nothing is delivered above, such as updates of
    keys: each takes the arena as long as a decision, and a peer can send thousands in a second."""

    def __init__(self, connection: socket.socket):
        super().__init__(connection)
        self._undelivered = 0  # bytes

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        data = await super().receive_some(max_bytes)
        self._undelivered += len(data)
        if self._undelivered > _MOST_UNDELIVERED:
            raise trio.BrokenResourceError
        return data

    def delivered(self, count: int) -> None:
        """Take note that this number of bytes came out above."""
        self._undelivered = max(0, self._undelivered - _OVERHEAD * count)


def tcp_below(stream: trio.abc.Stream) -> TcpStream | None:
    """The network connection that carries the stream, with or without TLS; None for pipes."""
    below = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    return below if isinstance(below, TcpStream) else None


def _close(resource: io.FileIO | socket.socket) -> None:
    closed = resource.closed if isinstance(resource, io.FileIO) else resource.fileno() < 0
    if not closed:
        trio.lowlevel.notify_closing(resource)
        resource.close()


# A peer that vanished without closing the connection is noticed after about half a minute.
_KEEPALIVE: Final = ((socket.TCP_KEEPIDLE, 15), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
_UNACKNOWLEDGED_MS: Final = 30_000


class Socket(Protocol):
    def setsockopt(self, level: int, option: int, value: int, /) -> None: ...


def tune(connection: Socket) -> None:
    """Configure a connection to send small messages at once and to notice a dead peer."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED_MS)


def is_hung_up(connection: socket.socket) -> bool:
    """Whether the peer has closed its end; what it sent before may still be unread."""
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))
