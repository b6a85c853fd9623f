"""Find the descendants of a process in Linux's /proc, and measure what they use.

This module uses only the standard library, because the keeper of a bot (keeper.py) has nothing else.
"""

import os
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

T = TypeVar("T")
_TICKS: Final = os.sysconf("SC_CLK_TCK")  # per second
# A kernel may be built without these files; finding the children of a process then takes a scan of all processes.
_HAS_CHILDREN_FILES: Final = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
_EPOLL: Final = "anon_inode:[eventpoll]"
_MOST_THREADS_READ: Final = 32  # a millisecond; a bot is waiting for its turn meanwhile, or has been asked


class ProcessInfo(NamedTuple):
    """One process, as /proc/PID/stat described it at some moment."""

    pid: int
    born: int  # in ticks since the machine started; together with the pid it identifies a process uniquely
    parent: int
    group: int
    threads: int
    own_seconds: float  # of processor time
    waited_seconds: float  # of processor time of children that it has waited for


def descendants(root: int, enough: int | None = None) -> list[ProcessInfo]:
    """All descendants of process `root`; the search stops once it has found more than `enough`. A process that starts
    or exits during the search may be missing."""
    children = children_of if _HAS_CHILDREN_FILES else children_by_parent()
    found: list[ProcessInfo] = []
    waiting = children(root)
    while waiting and (enough is None or len(found) <= enough):
        pid = waiting.pop()
        if (process := _unless_exited(_look_at, pid)) is not None:
            found.append(process)
            waiting += children(pid)
    return found


def may_run(root: int) -> bool:
    """Whether a thread of any descendant of process `root` runs or waits for a processor. The time that this takes is
    bounded: if there are many threads, or /proc cannot be read, one of them is taken to run."""
    try:
        processes = descendants(root, enough=_MOST_THREADS_READ)
        return sum(process.threads for process in processes) > _MOST_THREADS_READ or any(
            (_unless_exited(_read, f"/proc/{process.pid}/task/{thread}/stat") or b"").rpartition(b")")[2][1:2] == b"R"
            for process in processes
            for thread in threads_of(process.pid)
        )
    except OSError:
        return True


def count_descendants(root: int, enough: int) -> int:
    """The number of descendants of process `root`; counting stops once there are more than `enough`."""
    children, count = quick_children(), 0
    waiting = children(root)
    while waiting and count <= enough:
        waiting += children(waiting.pop())
        count += 1
    return count


def children_of(pid: int) -> list[int]:
    """The children of a process. The kernel lists them by the thread that forked them."""
    found: list[int] = []
    for thread in threads_of(pid):
        found += map(int, (_unless_exited(_read, f"/proc/{pid}/task/{thread}/children") or b"").split())
    return found


def threads_of(pid: int) -> list[int]:
    return [*map(int, _unless_exited(os.listdir, f"/proc/{pid}/task") or ())]


def quick_children() -> Callable[[int], list[int]]:
    """A faster `children_of` that misses the children of all threads but the first. They become visible when their
    parent exits."""
    if not _HAS_CHILDREN_FILES:
        return children_by_parent()
    return lambda pid: [*map(int, (_unless_exited(_read, f"/proc/{pid}/task/{pid}/children") or b"").split())]


def children_by_parent() -> Callable[[int], list[int]]:
    """A `children_of` for kernels without lists of children. It scans all processes once, when it is made."""
    found: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := _unless_exited(_look_at, int(name))) is not None:
            found.setdefault(process.parent, []).append(process.pid)
    return lambda pid: found.get(pid, [])


def memory_of(processes: Iterable[ProcessInfo]) -> int:
    """Bytes of physical memory and swap that the processes use together, with their page tables; shared memory is
    counted once. The kernel takes the longer for it, the more mappings and pages they have."""
    return sum(_unless_exited(_share, process.pid) or 0 for process in processes)


def resident_memory_of(processes: Iterable[ProcessInfo]) -> int:
    """The same, but shared memory counts for each process, which is quick to find out."""
    return sum(_unless_exited(_resident, process.pid) or 0 for process in processes)


def private_memory_of(processes: Iterable[ProcessInfo]) -> int:
    """Bytes that the processes wrote and share with no other, in physical memory and swap. Pages of files do not count:
    those of a program become private when its other processes end, which no bot can help."""
    return sum(_unless_exited(_private, process.pid) or 0 for process in processes)


def descriptors_of(processes: Iterable[ProcessInfo]) -> int:
    """The number of open descriptors of the processes. Kernels since 6.2 tell it as the size of a folder, also for
    processes that hide them."""
    folders = [f"{_living_thread(process.pid)[0]}/fd" for process in processes]
    sizes = [each.st_size if (each := _unless_exited(os.stat, folder)) else 0 for folder in folders]
    return sum(sizes) or sum(len(_unless_hidden(os.listdir, folder) or ()) for folder in folders)


def sockets_beside(pid: int) -> int:
    """The number of unix sockets in the network of the process: those that have a descriptor, those on their way to
    another process, and connections that nobody has accepted yet."""
    heading = 1
    return max(0, (_unless_exited(_read, f"/proc/{pid}/net/unix") or b"").count(b"\n") - heading)


def hidden_among(processes: Iterable[ProcessInfo]) -> int:
    """The number of processes that do not let this one look at what they have open. Programs that their user may run
    but not read are such processes, unless root looks."""
    return sum(_is_hidden(_living_thread(process.pid)[0]) for process in processes)


def watches_of(processes: Iterable[ProcessInfo], enough: int) -> int:
    """The number of watches of epoll that the processes hold, unless they hide them; counting stops once there are more
    than `enough`."""
    count = 0
    for process in processes:
        folder = _living_thread(process.pid)[0]
        for number in _unless_hidden(os.listdir, f"{folder}/fd") or ():
            if count <= enough and _unless_hidden(os.readlink, f"{folder}/fd/{number}") == _EPOLL:
                count += (_unless_hidden(_read, f"{folder}/fdinfo/{number}") or b"").count(b"tfd:")
    return count


def _look_at(pid: int) -> ProcessInfo:
    # The second field is the name in parentheses, which may itself contain any character, including parentheses.
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    user, system, waited_user, waited_system = map(int, fields[11:15])
    return ProcessInfo(
        pid=pid,
        born=int(fields[19]),
        parent=int(fields[1]),
        group=int(fields[2]),
        threads=int(fields[17]),
        own_seconds=(user + system) / _TICKS,
        waited_seconds=(waited_user + waited_system) / _TICKS,
    )


def _living_thread(pid: int) -> tuple[str, bytes]:
    """The folder in /proc of a thread of the process that has not exited, and its status. Where the first thread has
    exited and others go on, the folder of the process itself shows neither memory nor descriptors."""
    folders = [f"/proc/{pid}"]
    for folder in folders:  # which grows
        status = _unless_exited(_read, f"{folder}/status") or b""
        if b"VmRSS:" in status:
            return folder, status
        if len(folders) == 1:
            folders += [f"{folder}/task/{thread}" for thread in _unless_exited(os.listdir, f"{folder}/task") or ()]
    return folders[0], b""  # it is exiting


def _resident(pid: int) -> int:
    return _kilobytes(_living_thread(pid)[1], b"VmRSS:", b"VmSwap:", b"VmPTE:")


def _share(pid: int) -> int:
    """Bytes of a process, with its proportional share of memory that it shares with others. If the process hides its
    memory map, shared memory counts in full."""
    folder, status = _living_thread(pid)
    try:
        return _kilobytes(_read(f"{folder}/smaps_rollup"), b"Pss:", b"SwapPss:") + _kilobytes(status, b"VmPTE:")
    except (PermissionError, FileNotFoundError):
        return _resident(pid)  # fails too if the process has exited


def _private(pid: int) -> int:
    """Bytes that a process wrote and shares with no other. If the process hides its memory map, what it shares with its
    own children counts for each of them."""
    folder, status = _living_thread(pid)
    try:
        text = _read(f"{folder}/smaps_rollup")
        # Pages of a file in memory (tmpfs), or not yet on disk, are dirty as well.
        return min(_kilobytes(text, b"Private_Dirty:"), _kilobytes(text, b"Anonymous:")) + _kilobytes(text, b"Swap:")
    except (PermissionError, FileNotFoundError):
        return _kilobytes(status, b"RssAnon:", b"VmSwap:")


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


def _unless_hidden(look: Callable[[A], T], at: A) -> T | None:
    """The result of `look(at)`; None if the process has exited in the meantime, or does not let anyone look."""
    try:
        return _unless_exited(look, at)
    except PermissionError:
        return None


def _is_hidden(folder: str) -> bool:
    try:
        _unless_exited(os.listdir, f"{folder}/fd")
    except PermissionError:  # also if it is exiting, but then it has no memory any more
        return b"VmRSS:" in (_unless_exited(_read, f"{folder}/status") or b"")
    return False


def _unless_exited(look: Callable[[A], T], at: A) -> T | None:
    """The result of `look(at)`; None if the process has exited in the meantime."""
    try:
        return look(at)
    except (FileNotFoundError, ProcessLookupError):
        return None
