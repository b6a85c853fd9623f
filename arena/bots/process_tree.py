"""The processes below one, as Linux tells of them in /proc: which there are, and what they use.

Only the standard library is used here, because the keeper of a bot (keeper.py) has nothing else.
"""

import os
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")
_TICKS: Final = os.sysconf("SC_CLK_TCK")  # in a second
# A kernel may be built without these files; then all processes have to be looked at to find the children of one.
_HAS_CHILDREN_FILES: Final = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


class Process(NamedTuple):
    pid: int
    born: int  # in ticks since the machine started; together with the number it means one process for ever
    parent: int
    group: int
    threads: int
    own_seconds: float  # of processor time
    waited_seconds: float  # of children that it has waited for


def below(root: int, enough: int | None = None) -> list[Process]:
    """All descendants of a process; the search ends when there are more than enough. A process that begins or ends
    meanwhile may be missing."""
    children = children_of if _HAS_CHILDREN_FILES else children_by_parent()
    found: list[Process] = []
    waiting = children(root)
    while waiting and (enough is None or len(found) <= enough):
        pid = waiting.pop()
        if (process := _if_it_lives(_look_at, pid)) is not None:
            found.append(process)
            waiting += children(pid)
    return found


def count_below(root: int, enough: int) -> int:
    """How many descendants a process has; the counting ends at once when there are more than enough."""
    children, count = quick_children(), 0
    waiting = children(root)
    while waiting and count <= enough:
        waiting += children(waiting.pop())
        count += 1
    return count


def children_of(pid: int) -> list[int]:
    """Children belong to the thread that made them."""
    found: list[int] = []
    for thread in _if_it_lives(os.listdir, f"/proc/{pid}/task") or ():
        found += map(int, (_if_it_lives(_read, f"/proc/{pid}/task/{thread}/children") or b"").split())
    return found


def quick_children() -> Callable[[int], list[int]]:
    """A way to find the children of a process that sees only those of its first thread; the others it leaves behind."""
    if not _HAS_CHILDREN_FILES:
        return children_by_parent()
    return lambda pid: [*map(int, (_if_it_lives(_read, f"/proc/{pid}/task/{pid}/children") or b"").split())]


def children_by_parent() -> Callable[[int], list[int]]:
    """The same for a kernel that keeps no lists of children: one look at all processes."""
    found: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := _if_it_lives(_look_at, int(name))) is not None:
            found.setdefault(process.parent, []).append(process.pid)
    return lambda pid: found.get(pid, [])


def memory_of(processes: Iterable[Process], enough: int = 0) -> int:
    """Bytes of real memory, swapped out ones as well; what several processes share is counted once.

    Where no more than `enough` is used in any case it may be less exact: then shared memory is counted for each.
    """
    pids = [process.pid for process in processes]
    at_most = sum(_if_it_lives(_resident, pid) or 0 for pid in pids)
    return at_most if at_most <= enough else sum(_if_it_lives(_share, pid) or 0 for pid in pids)


def _look_at(pid: int) -> Process:
    # The name stands in brackets and may hold anything, brackets as well.
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    user, system, waited_user, waited_system = map(int, fields[11:15])
    return Process(
        pid=pid,
        born=int(fields[19]),
        parent=int(fields[1]),
        group=int(fields[2]),
        threads=int(fields[17]),
        own_seconds=(user + system) / _TICKS,
        waited_seconds=(waited_user + waited_system) / _TICKS,
    )


def _resident(pid: int) -> int:
    return _kilobytes(_read(f"/proc/{pid}/status"), b"VmRSS:", b"VmSwap:")


def _share(pid: int) -> int:
    """Of what it shares with others only its part. A program that hides its memory map is charged for all of it."""
    try:
        return _kilobytes(_read(f"/proc/{pid}/smaps_rollup"), b"Pss:", b"SwapPss:")
    except (
        PermissionError,
        FileNotFoundError,
    ):  # hidden, of a kernel without such files, or ended: then this fails too
        return _resident(pid)


def _kilobytes(text: bytes, *names: bytes) -> int:
    lines = (line.split() for line in text.splitlines() if line.startswith(names))
    return sum(int(words[1]) for words in lines) * 1024


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


A = TypeVar("A")


def _if_it_lives(look: Callable[[A], T], at: A) -> T | None:
    """None if the process has ended meanwhile."""
    try:
        return look(at)
    except (FileNotFoundError, ProcessLookupError):
        return None
