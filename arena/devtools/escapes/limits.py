"""Attempts to use more than a bot may have. Where they are refused, the bot usually ends."""

from __future__ import annotations

import errno
import mmap
import os
import signal
import socket
import struct
import time
from collections.abc import Callable

from arena.devtools.escapes.attempt import Attempts, Baits, Refused

LIMITS = Attempts()
_HOLD_SECONDS = 2  # the keeper has measured by then
_MANY_PROCESSES = 200
_BYTES_PER_FILE = 1024  # the keeper allows one file for each
_PIECE = 1 << 20
_FILLING_PROCESSES = 8
_MAP_NORESERVE = 0x4000
Pair = tuple[socket.socket, socket.socket]
_UNRESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
_MADV_NOHUGEPAGE = 15


@LIMITS.add("a bot has at most as many processes as it may", fatal=True)
def fork_without_end(_: Baits) -> str:
    children: list[int] = []
    try:
        while len(children) < _MANY_PROCESSES:
            children.append(_sleeping_child())
        time.sleep(_HOLD_SECONDS)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
    return f"it had {_MANY_PROCESSES} processes"


def _sleeping_child() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(10 * _HOLD_SECONDS)
        os._exit(0)
    return child


@LIMITS.add("a bot has no more memory than it may", fatal=True)
def take_memory(baits: Baits) -> str:
    taken: list[bytes] = []
    while len(taken) * _PIECE < 2 * baits.memory:
        taken.append(b"x" * _PIECE)
    time.sleep(_HOLD_SECONDS)
    return f"it had {len(taken)} MiB"


@LIMITS.add("a bot has no more memory than it may in all its processes together", fatal=True)
def take_memory_in_children(baits: Baits) -> str:
    share = baits.memory // 2
    for _ in range(4):
        if os.fork() == 0:
            held = b"x" * share
            time.sleep(2 * _HOLD_SECONDS)
            os._exit(len(held) == 0)
    time.sleep(_HOLD_SECONDS)
    return f"four processes had {share} bytes each"


@LIMITS.add("a bot does not fill the memory of the machine with empty files", fatal=True)
def make_many_files(baits: Baits) -> str:
    folder = os.path.join(baits.scratch, f".arena-escape-{os.getpid()}")
    many = 2 * baits.scratch_bytes // _BYTES_PER_FILE
    os.mkdir(folder)
    for number in range(many):
        os.close(os.open(os.path.join(folder, str(number)), os.O_WRONLY | os.O_CREAT, 0o600))
    time.sleep(_HOLD_SECONDS)
    return f"it made {many} files"


@LIMITS.add("a bot does not fill the memory of the machine with what lies unread in sockets", fatal=True)
def fill_sockets(baits: Baits) -> str:
    return _filled_by_children(socket.socketpair, 2 * baits.memory)


@LIMITS.add("a bot does not use up the memory that all programs of the machine have for TCP", fatal=True)
def fill_tcp_sockets(baits: Baits) -> str:
    return _filled_by_children(_connected_by_tcp, 2 * baits.memory)


def _connected_by_tcp() -> Pair:
    """Both ends of a connection over the loopback of the bot's own network."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return socket.create_connection(listener.getsockname()), listener.accept()[0]


def _filled_by_children(connected: Callable[[], Pair], enough: int) -> str:
    """Fill sockets in several processes, because each may have only so many descriptors."""
    connected()  # if it is refused here, so it is in the children
    reader, writer = os.pipe()
    for _ in range(_FILLING_PROCESSES):
        if os.fork() == 0:
            filled = _filled_sockets(connected, enough // _FILLING_PROCESSES)
            os.write(writer, struct.pack("Q", sum(written for _, written in filled)))
            time.sleep(2 * _HOLD_SECONDS)
            os._exit(0)
    total = sum(struct.unpack("Q", os.read(reader, 8))[0] for _ in range(_FILLING_PROCESSES))
    time.sleep(_HOLD_SECONDS)
    if total < enough:
        raise Refused(f"only {total} bytes fit into them")
    return f"{total} bytes lie in sockets"


def _filled_sockets(connected: Callable[[], Pair], enough: int) -> list[tuple[Pair, int]]:
    """Pairs of sockets, with the bytes that lie in each; fewer if the process may have no more."""
    pairs: list[tuple[Pair, int]] = []
    try:
        while sum(written for _, written in pairs) < enough:
            pair = connected()
            pairs.append((pair, _filled(pair[0])))
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    return pairs


def _filled(sender: socket.socket) -> int:
    """The bytes that a socket takes."""
    sender.setblocking(False)
    written = 0
    try:
        while True:
            written += sender.send(bytes(_PIECE))
    except BlockingIOError:
        return written


@LIMITS.add("a bot does not fill the memory of the machine with tables of pages", fatal=True)
def fill_page_tables(baits: Baits) -> str:
    """Each table of a page describes 2 MiB, and the kernel makes it at the first read there."""
    described = mmap.PAGESIZE * mmap.PAGESIZE // 8
    tables = 2 * baits.memory // mmap.PAGESIZE
    memory = mmap.mmap(-1, tables * described, _UNRESERVED, mmap.PROT_READ)
    memory.madvise(_MADV_NOHUGEPAGE)
    for place in range(0, len(memory), described):
        memory[place]
    time.sleep(_HOLD_SECONDS)
    return f"it has {tables} tables of pages"
