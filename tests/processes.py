"""What tests about real processes need: commands for bots, and a look at what is left behind."""

import os
import sys
from pathlib import Path

from arena.bots import BotSpec

BAD_BOTS = Path(__file__).parent / "bad_bots.py"


def bad_bot(way: str) -> BotSpec:
    return BotSpec(way, (sys.executable, str(BAD_BOTS), way))


def bad_command(way: str) -> str:
    return f"{sys.executable} {BAD_BOTS} {way}"


def open_descriptors() -> set[str]:
    return {
        os.readlink(f"/proc/self/fd/{fd}")
        for fd in os.listdir("/proc/self/fd")
        if os.path.islink(f"/proc/self/fd/{fd}")
    }


def is_running(pid: int) -> bool:
    """A process that has ended but was not reaped by its own parent does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
