"""How much memory a bot in a sandbox may use if the organiser does not say it: its part of what the machine has."""

import os
from pathlib import Path
from typing import Final

_PART: Final = 3 / 4  # of the machine's memory, for all bots that play at once; the rest is for all else
_LEAST: Final = 512 * 2**20  # a Java virtual machine and Node are at ease with this
_MOST: Final = 4 * 2**30  # who needs more than this asks for it
_MIB: Final = 2**20
_GROUPS: Final = Path("/sys/fs/cgroup")


def default_memory(at_once: int, machine: int) -> int:
    """The limit in bytes of each of the bots that play at once on a machine with `machine` bytes."""
    part = int(_PART * machine / at_once)
    return min(max(part, _LEAST), _MOST) // _MIB * _MIB


def memory_of_machine() -> int:
    """Bytes that this machine has, or the control group that this process is in, such as that of a container."""
    limits = [_limit(folder / file) for folder in groups_of_this() for file in ("memory.max", "memory.limit_in_bytes")]
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *filter(None, limits)])


def groups_of_this() -> list[Path]:
    """The folders of the control groups whose limits hold for this process, in both versions of control groups."""
    found = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            top = _GROUPS / controllers
            inner = top / path.lstrip("/")
            found += [inner, *(folder for folder in inner.parents if folder.is_relative_to(top))]
    return found


def _limit(path: Path) -> int | None:
    """The limit in a file of a control group; None if there is none, or no such file, as in most groups."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
