"""What tests about real processes need: commands for bots, and a look at what is left behind."""

import os
import signal
import sys
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

from arena.plan.bot_spec import BotSpec
from arena.processes.process_tree import children_of
from tests.helpers.paths import BAD_BOTS

TOKEN = f"arena-test-{uuid.uuid4().hex}"  # in the command line of every bad bot, so that left ones can be found


def bad_bot(way: str) -> BotSpec:
    return BotSpec(way, (sys.executable, str(BAD_BOTS), way, f"{TOKEN}-{way}"))


def bad_command(way: str) -> str:
    return f"{sys.executable} {BAD_BOTS} {way} {TOKEN}-{way}"


def is_running(pid: int) -> bool:
    """A process that has ended but was not reaped by its own parent does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def no_bad_bot_left(way: str) -> None:
    """No process that runs a bad bot of this test run, nor a child of one, stays, whoever its parent is."""
    assert left_with(f"{TOKEN}-{way}") == []


def left_with(word: str) -> list[int]:
    """The processes with this word in their command line that do not end soon: a killed orphan takes a moment."""
    limit = time.monotonic() + 60  # only a failure waits that long
    while found := [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _runs(pid, word.encode())]:
        if time.monotonic() > limit:
            break
        time.sleep(0.01)
    return found


def _runs(pid: int, word: bytes) -> bool:
    return is_running(pid) and word in _read(pid, "cmdline")


def _read(pid: int, file: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def workers_of(pid: int) -> list[int]:
    """The worker processes of an arena."""
    return [child for child in children_of(pid) if is_running(child) and _is_worker(child)]


def _is_worker(pid: int) -> bool:
    """Whether it is a worker, forked (tests/helpers/forking.py) or not."""
    return b"arena.worker.entry" in _read(pid, "cmdline") or _read(pid, "comm") == b"arena worker\n"


def send_to_all(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)
