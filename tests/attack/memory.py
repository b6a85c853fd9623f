"""An attack on a machine with little memory: a bot takes all of it in many small processes, so that the kernel kills
its larger opponent or the arena. Here the machine is a control group with 400 MB.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from arena.journal.lines import JournalLine, RoundLine, VoidLine, read
from tests.attack.findings import Finding
from tests.helpers.paths import STEADY_BOT

TOURNAMENTS = 5
_GROUPS: Final = Path("/sys/fs/cgroup/memory")  # of the first version, in which root makes one by a folder
_MACHINE: Final = 400 * 2**20
_HOARDER: Final = """
import json, os, sys, time
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"hoarder"}', flush=True)
    elif message["type"] == "request":
        for _ in range(60):
            if not os.fork():
                hoard = b"x" * (10 << 20)
                time.sleep(1000)
        time.sleep(1)
        print(json.dumps({"type": "action", "id": message["id"], "move": message["legal"][0]}), flush=True)
    elif message["type"] == "bye":
        break
"""
_LARGE: Final = (
    f"import runpy, sys; hoard = b'x' * (100 << 20); sys.argv = ['', 'large']; "
    f"runpy.run_path({str(STEADY_BOT)!r}, run_name='__main__')"
)


def starved_neighbours(folder: Path) -> list[Finding]:
    if os.geteuid() != 0 or not (_GROUPS / "memory.limit_in_bytes").exists():
        return [Finding("memory", "not tried: this needs root, and control groups of the first version", [])]
    (folder / "hoarder.py").write_text(_HOARDER)
    (folder / "large.py").write_text(_LARGE)
    counts: Counter[str] = Counter()
    for number in range(TOURNAMENTS):  # each stops soon, because the arena fails too often
        counts.update(_tournament(folder, number))
    harm = [f"{what}: {counts[what]} times" for what in ("the arena was killed", "large was charged") if counts[what]]
    return [Finding("memory", ", ".join(f"{what} {count}" for what, count in sorted(counts.items())), harm)]


def _tournament(folder: Path, number: int) -> Counter[str]:
    group, journal = _GROUPS / f"arena-attack-{os.getpid()}", folder / f"{number}.jsonl"
    group.mkdir(exist_ok=True)
    (group / "memory.limit_in_bytes").write_text(str(_MACHINE))
    bots = [f"{name}={sys.executable} {folder / name}.py" for name in ("hoarder", "large")]
    words = [sys.executable, "-m", "arena", "run", *bots, "--rounds", "4", "--st", "20", "--journal", str(journal)]
    into = f'echo $$ > {group}/cgroup.procs; exec "$@"'
    ran = subprocess.run(["/bin/sh", "-c", into, "sh", *words], capture_output=True, timeout=600)
    group.rmdir()
    found = Counter({"the arena was killed": int(ran.returncode < 0)})
    for entry in read(journal, JournalLine) if journal.exists() else ():
        match entry.line:
            case VoidLine():
                found["void"] += 1
            case RoundLine(fault=fault, bots=names) if fault is not None:
                found[f"{names[fault.seat]} was charged"] += 1
            case RoundLine():
                found["rounds without a fault"] += 1
    return found
