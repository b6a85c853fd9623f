"""Attempts to use more than a bot may have. Where they are refused, the bot usually ends."""

from __future__ import annotations

import mmap
import os
import signal
import time

from arena.devtools.escapes.attempt import Attempts, Baits
from arena.devtools.escapes.hiding import HOLD_SECONDS, run_without_first_thread

LIMITS = Attempts()
_MANY_PROCESSES = 200
_BYTES_PER_FILE = 1024  # the keeper allows one file for each
_PIECE = 1 << 20
_MAP_NORESERVE = 0x4000
_UNRESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
_MADV_NOHUGEPAGE = 15


@LIMITS.add("a bot has at most as many processes as it may", fatal=True)
def fork_without_end(_: Baits) -> str:
    children: list[int] = []
    try:
        while len(children) < _MANY_PROCESSES:
            children.append(_sleeping_child())
        time.sleep(HOLD_SECONDS)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
    return f"it had {_MANY_PROCESSES} processes"


def _sleeping_child() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(10 * HOLD_SECONDS)
        os._exit(0)
    return child


@LIMITS.add("a bot has no more memory than it may", fatal=True)
def take_memory(baits: Baits) -> str:
    taken: list[bytes] = []
    while len(taken) * _PIECE < 2 * baits.memory:
        taken.append(b"x" * _PIECE)
    time.sleep(HOLD_SECONDS)
    return f"it had {len(taken)} MiB"


@LIMITS.add("a bot has no more memory than it may in all its processes together", fatal=True)
def take_memory_in_children(baits: Baits) -> str:
    share = baits.memory // 2
    for _ in range(4):
        if os.fork() == 0:
            held = b"x" * share
            time.sleep(2 * HOLD_SECONDS)
            os._exit(len(held) == 0)
    time.sleep(HOLD_SECONDS)
    return f"four processes had {share} bytes each"


@LIMITS.add("a bot has no more memory than it may in a process whose first thread has exited", fatal=True)
def take_memory_leaderless(baits: Baits) -> str:
    def hold() -> None:
        taken.append(b"x" * (2 * baits.memory))
        os.write(writer, b"x")
        time.sleep(2 * HOLD_SECONDS)

    taken: list[bytes] = []
    reader, writer = os.pipe()
    run_without_first_thread(hold)
    os.read(reader, 1)
    time.sleep(HOLD_SECONDS)
    return f"it had {2 * baits.memory} bytes"


@LIMITS.add("a bot does not fill the memory of the machine with empty files", fatal=True)
def make_many_files(baits: Baits) -> str:
    folder = os.path.join(baits.scratch, f".arena-escape-{os.getpid()}")
    many = 2 * baits.scratch_bytes // _BYTES_PER_FILE
    os.mkdir(folder)
    for number in range(many):
        os.close(os.open(os.path.join(folder, str(number)), os.O_WRONLY | os.O_CREAT, 0o600))
    time.sleep(HOLD_SECONDS)
    return f"it made {many} files"


@LIMITS.add("a bot does not fill the memory of the machine with tables of pages", fatal=True)
def fill_page_tables(baits: Baits) -> str:
    """Each table of a page describes 2 MiB, and the kernel makes it at the first read there."""
    described = mmap.PAGESIZE * mmap.PAGESIZE // 8
    tables = 2 * baits.memory // mmap.PAGESIZE
    memory = mmap.mmap(-1, tables * described, _UNRESERVED, mmap.PROT_READ)
    memory.madvise(_MADV_NOHUGEPAGE)
    for place in range(0, len(memory), described):
        memory[place]
    time.sleep(HOLD_SECONDS)
    return f"it has {tables} tables of pages"
