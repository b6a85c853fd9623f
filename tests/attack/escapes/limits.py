"""Attempts to use more than a bot may have. Where they are refused, the bot usually ends."""

from __future__ import annotations

import mmap
import os
import time

from arena.devtools.sandbox_attempts import HOLD_SECONDS, Attempts
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.hiding import run_without_first_thread

LIMITS = Attempts()
_BYTES_PER_FILE = 1024  # the keeper allows one file for each
_MAP_NORESERVE = 0x4000
_UNRESERVED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
_MADV_NOHUGEPAGE = 15


@LIMITS.add("a bot has no more memory than it may in all its processes together", fatal=True)
def take_memory_in_children(targets: AllTargets) -> str:
    share = targets.memory // 2
    for _ in range(4):
        if os.fork() == 0:
            held = b"x" * share
            time.sleep(2 * HOLD_SECONDS)
            os._exit(len(held) == 0)
    time.sleep(HOLD_SECONDS)
    return f"four processes had {share} bytes each"


@LIMITS.add("a bot has no more memory than it may in a process whose first thread has exited", fatal=True)
def take_memory_leaderless(targets: AllTargets) -> str:
    def hold() -> None:
        taken.append(b"x" * (2 * targets.memory))
        os.write(writer, b"x")
        time.sleep(2 * HOLD_SECONDS)

    taken: list[bytes] = []
    reader, writer = os.pipe()
    run_without_first_thread(hold)
    os.read(reader, 1)
    time.sleep(HOLD_SECONDS)
    return f"it had {2 * targets.memory} bytes"


@LIMITS.add("a bot does not fill the memory of the machine with empty files", fatal=True)
def make_many_files(targets: AllTargets) -> str:
    folder = os.path.join(targets.scratch, f".arena-escape-{os.getpid()}")
    many = 2 * targets.scratch_bytes // _BYTES_PER_FILE
    os.mkdir(folder)
    for number in range(many):
        os.close(os.open(os.path.join(folder, str(number)), os.O_WRONLY | os.O_CREAT, 0o600))
    time.sleep(HOLD_SECONDS)
    return f"it made {many} files"


@LIMITS.add("a bot does not fill the memory of the machine with tables of pages", fatal=True)
def fill_page_tables(targets: AllTargets) -> str:
    """Each table of a page describes 2 MiB, and the kernel makes it at the first read there."""
    described = mmap.PAGESIZE * mmap.PAGESIZE // 8
    tables = 2 * targets.memory // mmap.PAGESIZE
    memory = mmap.mmap(-1, tables * described, _UNRESERVED, mmap.PROT_READ)
    memory.madvise(_MADV_NOHUGEPAGE)
    for place in range(0, len(memory), described):
        memory[place]
    time.sleep(HOLD_SECONDS)
    return f"it has {tables} tables of pages"
