"""An attack on the machine itself: bots in sandboxes are started and killed in all ways, and nothing may be left."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import trio

from arena.processes.bot_process import BotProcess, running_launcher, spawn
from arena.processes.process_tree import children_of, descendants
from tests.attack.findings import Finding
from tests.helpers.sandboxes import IS_ROOT, NO_SANDBOX, PYTHON, boxed

STARTS = 1000
_SETTLE_SECONDS = 30  # for what was killed to disappear
# Three processes, and none ends by itself.
_CODE = "import os, time\nprint(1, flush=True)\nif not os.fork(): os.fork()\ntime.sleep(1000)"
_WAYS = ("end", "bubblewrap", "first", "keeper", "start")


def starts(folder: Path) -> list[Finding]:
    """Bots in sandboxes that end, or are killed: bubblewrap, the first process inside, the keeper, while they start."""
    if NO_SANDBOX:
        return [Finding("sandboxes", NO_SANDBOX, [])]
    return [trio.run(_starts, folder)]


async def _starts(folder: Path) -> Finding:
    ways, began = random.Random(12).choices(_WAYS, k=STARTS), time.monotonic()
    await _start_and_end("end", folder)
    launcher = running_launcher().pid
    mounts, descriptors = _mounts(), _descriptors(launcher)
    for way in ways:
        await _start_and_end(way, folder)
    with trio.move_on_after(_SETTLE_SECONDS):
        while descendants(launcher) or _descriptors(launcher) > descriptors:
            await trio.sleep(0.01)
    harm = [f"process {each.pid} is left" for each in descendants(launcher)]
    if (now := _descriptors(launcher)) > descriptors:
        harm.append(f"{now} descriptors, before {descriptors}")
    if _mounts() != mounts:
        harm.append("the mounts of the machine have changed")
    counts = ", ".join(f"{way} {count}" for way, count in sorted(Counter(ways).items()))
    seconds = time.monotonic() - began
    return Finding("sandboxes", f"{STARTS} starts in {seconds:.0f} s ({counts}); {descriptors} descriptors", harm)


async def _start_and_end(way: str, folder: Path) -> None:
    async with spawn(boxed(PYTHON, "-c", _CODE, cwd=folder)) as process:
        if way != "start":
            assert await process.stream.receive_some() == b"1\n", await process.last_words()
        if way != "end":
            os.kill(_victim(way, process), signal.SIGKILL)


def _victim(way: str, process: BotProcess) -> int:
    match way:
        case "first":
            return children_of(process.pid)[0]
        case "keeper":
            return process.kept.keeper
        case _:
            return process.pid


def _mounts() -> list[str]:
    """All mounts that this process has, and those of the machine."""
    paths = ["/proc/self/mountinfo", *(["/proc/1/mountinfo"] if IS_ROOT else [])]
    return [Path(path).read_text() for path in paths]


def _descriptors(launcher: int) -> int:
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in ("self", launcher))
