"""A stream is closed after the task that waits on it was woken, before it runs: its number may be another's by then."""

import contextlib
import os
import socket
from collections.abc import Callable, Iterator

import pytest
import trio

from arena.support.streams import MeteredTcpStream, PipeStream, TcpStream

SECRET = b"somebody else's line\n"


class _AfterWaking(trio.abc.Instrument):
    """Calls `act` once: when tasks have been woken by the kernel and none of them has run yet."""

    def __init__(self, is_time: Callable[[], bool], act: Callable[[], None]):
        self._is_time, self._act = is_time, act
        self.acted = False

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002
        if not self.acted and self._is_time():
            self.acted = True
            self._act()


@contextlib.contextmanager
def taking_over(stream: PipeStream | TcpStream, number: int, newcomer: int) -> Iterator[_AfterWaking]:
    """Closes the stream in the moment when its reader or writer has been woken, and gives its number to `newcomer`."""
    woken = False

    def act() -> None:
        stream.close()
        os.dup2(newcomer, number)

    instrument = _AfterWaking(lambda: woken, act)
    trio.lowlevel.add_instrument(instrument)
    woken = True
    try:
        yield instrument
    finally:
        trio.lowlevel.remove_instrument(instrument)
        with contextlib.suppress(OSError):
            os.close(number)


@contextlib.contextmanager
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture
def stranger() -> Iterator[tuple[int, int]]:
    """Another bot's connection, still blocking as `accept` makes it: our copy of it, and the other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours.fileno(), theirs.fileno()


async def expect_closed(action: Callable[[], object]) -> None:
    with trio.fail_after(120), pytest.raises(trio.ClosedResourceError):
        await action()  # type: ignore[misc]


async def test_a_woken_reader_of_a_closed_socket_does_not_read_from_the_next_one(stranger: tuple[int, int]) -> None:
    os.write(stranger[1], SECRET)
    with sockets() as (ours, theirs):
        stream, number = TcpStream(ours), ours.fileno()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(expect_closed, lambda: stream.receive_some(100))
            await trio.testing.wait_all_tasks_blocked()
            with taking_over(stream, number, stranger[0]) as taken:
                theirs.send(b"hello\n")
                await trio.testing.wait_all_tasks_blocked()
            assert taken.acted
    assert os.read(stranger[0], 100) == SECRET


async def test_a_woken_writer_of_a_closed_socket_does_not_write_to_the_next_one(stranger: tuple[int, int]) -> None:
    with sockets() as (ours, theirs):
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        stream, number = TcpStream(ours), ours.fileno()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(expect_closed, lambda: stream.send_all(bytes(30_000_000)))
            await trio.testing.wait_all_tasks_blocked()
            with taking_over(stream, number, stranger[0]) as taken:
                theirs.recv(20_000_000)
                await trio.testing.wait_all_tasks_blocked()
            assert taken.acted
    os.set_blocking(stranger[1], False)
    with pytest.raises(BlockingIOError):
        os.read(stranger[1], 100)


@pytest.mark.parametrize("direction", ["read", "write"])
async def test_a_woken_user_of_a_closed_pipe_touches_nobody_else(direction: str, stranger: tuple[int, int]) -> None:
    os.write(stranger[1], SECRET)
    (in_read, in_write), (out_read, out_write) = os.pipe(), os.pipe()
    stream = PipeStream(out_read, in_write)
    async with trio.open_nursery() as nursery:
        if direction == "read":
            nursery.start_soon(expect_closed, lambda: stream.receive_some(100))
        else:
            nursery.start_soon(expect_closed, lambda: stream.send_all(bytes(1_000_000)))
        await trio.testing.wait_all_tasks_blocked()
        with taking_over(stream, out_read if direction == "read" else in_write, stranger[0]) as taken:
            if direction == "read":
                os.write(out_write, b"x")
            else:
                os.read(in_read, 1_000_000)
            await trio.testing.wait_all_tasks_blocked()
        assert taken.acted
    assert os.read(stranger[0], 100) == SECRET
    os.close(in_read)
    os.close(out_write)


async def test_closing_wakes_whoever_waits() -> None:
    with sockets() as (ours, _theirs):
        stream = TcpStream(ours)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(expect_closed, lambda: stream.receive_some(100))
            await trio.testing.wait_all_tasks_blocked()
            await stream.aclose()
        await expect_closed(lambda: stream.send_all(b"x"))
        await expect_closed(lambda: stream.receive_some(1))
        await expect_closed(stream.wait_send_all_might_not_block)
        assert stream.is_hung_up()


async def test_a_peer_below_tls_that_sends_without_saying_anything_is_dropped() -> None:
    """Such as updates of keys, of which thousands fit into a second."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    stream = MeteredTcpStream(ours)
    with contextlib.closing(theirs):
        for _ in range(20):
            theirs.send(bytes(1000))
            await stream.receive_some()
        theirs.send(bytes(10_000))
        await stream.receive_some()  # 4,096 bytes
        with pytest.raises(trio.BrokenResourceError):
            await stream.receive_some()
        stream.close()


async def test_a_peer_below_tls_may_speak_in_small_pieces_for_as_long_as_it_likes() -> None:
    ours, theirs = socket.socketpair()
    stream = MeteredTcpStream(ours)
    with contextlib.closing(theirs):
        for _ in range(5000):
            theirs.send(bytes(23))
            await stream.receive_some()
            stream.delivered(1)  # a record for each byte
        stream.close()
