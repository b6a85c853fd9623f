"""Attempts to keep memory behind descriptors, where no process maps it, or descriptors where nobody counts them."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable

from arena.devtools.sandbox_attempts import HOLD_SECONDS, Attempts, NoEffectError
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.calls import call, start_idle_thread
from tests.attack.escapes.hiding import run_without_first_thread

DESCRIPTORS = Attempts()
_PIECE = 1 << 20
_FILLING_PROCESSES = 8
_MOST_WAITING = 4096  # connections that nobody has accepted
_WATCHED, _NUMBERS = 32, range(100, 228)  # descriptors, and the numbers by which each is watched
_CLOSE_RANGE_UNSHARE = 2
_CLONE_VM, _CLONE_SIGHAND, _CLONE_THREAD = 0x100, 0x800, 0x10000
_PR_SET_DUMPABLE = 4
_F_SETPIPE_SZ = 1031
Pair = tuple[socket.socket, socket.socket]


@DESCRIPTORS.add("a bot does not fill the memory of the machine with what lies unread in sockets", fatal=True)
def fill_sockets(targets: AllTargets) -> str:
    return _filled_by_children(socket.socketpair, 2 * targets.memory)


@DESCRIPTORS.add("a bot does not use up the memory that all programs of the machine have for TCP", fatal=True)
def fill_tcp_sockets(targets: AllTargets) -> str:
    return _filled_by_children(_connected_by_tcp, 2 * targets.memory)


@DESCRIPTORS.add("a bot does not fill it with sockets of processes whose first thread has exited", fatal=True)
def fill_sockets_leaderless(targets: AllTargets) -> str:
    return _filled_by_children(socket.socketpair, 2 * targets.memory, run_without_first_thread)


def _connected_by_tcp() -> Pair:
    """Both ends of a connection over the loopback of the bot's own network."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return socket.create_connection(listener.getsockname()), listener.accept()[0]


def _in_child(work: Callable[[], None]) -> None:
    if os.fork() == 0:
        work()
        os._exit(0)


def _filled_by_children(
    connected: Callable[[], Pair], enough: int, started: Callable[[Callable[[], None]], None] = _in_child
) -> str:
    """Fill sockets in several processes, because each may have few descriptors."""

    def fill() -> None:
        filled = _filled_sockets(connected, enough // _FILLING_PROCESSES)
        os.write(writer, struct.pack("Q", sum(written for _, written in filled)))
        time.sleep(2 * HOLD_SECONDS)

    connected()  # if it is refused here, so it is in the children
    reader, writer = os.pipe()
    for _ in range(_FILLING_PROCESSES):
        started(fill)
    total = sum(struct.unpack("Q", os.read(reader, 8))[0] for _ in range(_FILLING_PROCESSES))
    return _held(total, enough)


def _held(total: int, enough: int) -> str:
    time.sleep(HOLD_SECONDS)
    if total < enough:
        raise NoEffectError(f"only {total} bytes fit into them")
    return f"{total} bytes lie in sockets"


def _filled_sockets(connected: Callable[[], Pair], enough: int) -> list[tuple[Pair, int]]:
    """Pairs of sockets, with the bytes that lie in each; fewer if the process may have no more."""
    pairs: list[tuple[Pair, int]] = []
    try:
        while sum(written for _, written in pairs) < enough:
            pair = connected()
            pairs.append((pair, sum(map(_filled, pair))))
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


@DESCRIPTORS.add("a bot does not fill it with connections that nobody accepts", fatal=True)
def fill_waiting_connections(targets: AllTargets) -> str:
    """They need no descriptor, once their other end is closed."""
    enough = 2 * targets.memory
    path = os.path.join(targets.scratch, f".arena-escape-{os.getpid()}")
    written = 0
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        try:
            listener.listen(_MOST_WAITING)
            while written < enough:
                with socket.socket(socket.AF_UNIX) as client:
                    client.setblocking(False)
                    client.connect(path)
                    written += _filled(client)
            return _held(written, enough)
        finally:
            os.unlink(path)


@DESCRIPTORS.add("a bot has no sockets that keep what many closed ones have sent (datagrams)")
def open_datagram_socket(_: AllTargets) -> str:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).close()
    return "it has such a socket"


@DESCRIPTORS.add("a bot has no such sockets in pairs")
def open_datagram_pair(_: AllTargets) -> str:
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return "it has such sockets"


@DESCRIPTORS.add("a bot does not use up the descriptors that all programs of its user may have on their way")
def send_descriptor(_: AllTargets) -> str:
    pair = socket.socketpair()
    pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", 0))])
    return "a descriptor is on its way"


@DESCRIPTORS.add("a bot gives its pipes no larger buffers, whose pages all programs of its user share")
def enlarge_pipe(_: AllTargets) -> str:
    writer = os.pipe()[1]
    return f"it has a pipe of {fcntl.fcntl(writer, _F_SETPIPE_SZ, _PIECE)} bytes"


@DESCRIPTORS.add("a bot gives its sockets no larger buffers")
def enlarge_buffers(_: AllTargets) -> str:
    one = socket.socketpair()[0]
    before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, before)  # the kernel takes twice as much
    if one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) > before:
        return "it has larger buffers"
    raise NoEffectError("its buffers are as before")


_FILL_EPOLL = f"""
import os, select, time
poll = select.epoll()
for reader in [os.pipe()[0] for _ in range({_WATCHED})]:
    for number in {_NUMBERS}:
        os.dup2(reader, number)
        poll.register(number)
        os.close(number)
time.sleep({HOLD_SECONDS})
"""


@DESCRIPTORS.add("a bot does not use up the watches of epoll that all programs of its user have", fatal=True)
def fill_epoll(_: AllTargets) -> str:
    """A descriptor can be watched once for each number that it ever had."""
    subprocess.run([sys.executable, "-c", _FILL_EPOLL], check=True)
    return f"it has {_WATCHED * len(_NUMBERS)} watches"


@DESCRIPTORS.add("a bot does not hide such watches in a program that nobody may read", fatal=True)
def fill_epoll_unread(targets: AllTargets) -> str:
    path = os.path.join(targets.scratch, "python")
    shutil.copyfile(sys.executable, path)
    os.chmod(path, 0o111)
    subprocess.run([path, "-c", _FILL_EPOLL], check=True, env={"PYTHONHOME": sys.base_prefix})
    return f"it has {_WATCHED * len(_NUMBERS)} watches that its keeper does not see"


@DESCRIPTORS.add("a bot does not keep others from looking at its descriptors")
def hide_process(_: AllTargets) -> str:
    call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)
    return "it is hidden"


@DESCRIPTORS.add("a bot has no thread that hides descriptors from those who look at its process")
def unshare_descriptors(_: AllTargets) -> str:
    beyond_all = 1 << 30
    call("close_range", beyond_all, beyond_all, _CLOSE_RANGE_UNSHARE)
    return "this thread has descriptors of its own"


@DESCRIPTORS.add("a bot starts no such thread")
def start_hiding_thread(_: AllTargets) -> str:
    start_idle_thread(_CLONE_VM | _CLONE_SIGHAND | _CLONE_THREAD)
    return "a thread has descriptors of its own"
