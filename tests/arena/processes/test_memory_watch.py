"""What the keeper's measuring of memory costs, and that a bot cannot use the pauses: real processes that try."""

import time

import attrs
import pytest
import trio

from arena.journal.endings import Fault
from arena.processes import memory_watch
from arena.processes.bot_process import spawn
from arena.processes.memory_watch import MemoryWatch
from tests.arena.processes.test_keeper import MIB, python

# Ten processes that share 120 MB in 30,000 mappings: to measure them once takes a tenth of a second. After a line on
# stdin each of them copies half of it.
SHARING = """
import ctypes, os, sys, time
libc, count, page = ctypes.CDLL(None), 30_000, 4096
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *3 * [ctypes.c_size_t], *2 * [ctypes.c_long]]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
memory = libc.mmap(None, count * page, 3, 0x22, -1, 0)
ctypes.memset(memory, 1, count * page)
for number in range(0, count, 2):
    libc.mprotect(memory + number * page, page, 1)
reader, writer = os.pipe()
for _ in range(9):
    if not os.fork():
        os.close(writer)
        os.read(reader, 1)
        for number in range(1, count, 2):
            ctypes.memset(memory + number * page, 2, page)
        time.sleep(1000)
print("shared", flush=True)
if sys.stdin.readline():
    os.close(writer)
time.sleep(1000)
"""


def processor_seconds(pid: int) -> float:
    return time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) makes it


@pytest.mark.extended
async def test_measuring_many_mappings_takes_a_small_part_of_a_core() -> None:
    async with spawn(python(SHARING, memory=300 * MIB)) as process:
        assert await process.stream.receive_some() == b"shared\n", await process.last_words()
        before, began = processor_seconds(process.kept.keeper), time.monotonic()
        await trio.sleep(8)
        share = (processor_seconds(process.kept.keeper) - before) / (time.monotonic() - began)
        assert process.exit_status is None
    assert share < 0.1


@attrs.define
class Machine:
    """A bot that uses `shares` bytes in processes that map `resident` ones; the machine has `left` others."""

    resident: int = 200
    shares: int = 90
    left: int = 10**9
    clock: float = 0.0
    measured: int = 0  # how often

    def measure(self, _processes: object) -> int:
        self.measured += 1
        self.clock += 1
        return self.shares


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(memory_watch, "resident_memory_of", lambda _: machine.resident)
    monkeypatch.setattr(memory_watch, "memory_of", machine.measure)
    monkeypatch.setattr(memory_watch, "available_memory", lambda: machine.left)
    for clock in ("monotonic", "process_time"):
        monkeypatch.setattr(memory_watch, clock, lambda: machine.clock)
    return machine


def test_shares_are_measured_for_a_twentieth_of_the_time(machine: Machine) -> None:
    watch = MemoryWatch(100)
    for _ in range(100):
        assert watch.used([]) == 90
        machine.clock += 0.25
    assert machine.measured == 2
    machine.resident = 50
    assert (watch.used([]), machine.measured) == (50, 2)


def test_shares_are_measured_at_once_if_the_machine_lost_what_the_bot_may_have_taken(machine: Machine) -> None:
    watch = MemoryWatch(100)
    watch.used([])
    machine.shares = 10**8
    machine.left -= 10 + 64 * MIB
    assert (watch.used([]), machine.measured) == (90, 1)
    machine.left -= 1
    assert (watch.used([]), machine.measured) == (10**8, 2)


@pytest.mark.extended
async def test_a_bot_that_copies_what_it_shared_is_ended() -> None:
    async with spawn(python(SHARING, memory=300 * MIB)) as process:
        assert await process.stream.receive_some() == b"shared\n", await process.last_words()
        await process.stream.send_all(b"copy\n")
        with trio.fail_after(120):
            await process.wait_exit()
    assert process.overrun is not None
    assert process.overrun.ending is Fault.OUT_OF_MEMORY
