"""The eleven attacks of strangers at the door (siege.py), held against what is promised: 99 % of the decisions of
honest bots take at most twice as long as undisturbed, and an honest bot that lost its connection is back within two
seconds.
"""

import os
import shutil
from pathlib import Path

from tests.attack.findings import Finding
from tests.bench.siege import ELSEWHERE, attacks, compiled
from tests.bench.strangers import Noticed, measure

MOST_TIMES_LONGER = 2.0
LONGEST_RECONNECT = 2.0  # seconds


def strangers(folder: Path) -> list[Finding]:
    if not shutil.which("cc") or len(os.sched_getaffinity(0)) < 2:
        return [Finding("strangers", "NOT TRIED: this needs a C compiler (cc) and two cores", [])]
    for program in ("siege", "load"):
        compiled(folder, program)
    return [_finding(attack.name, measure(folder, attack.name, ELSEWHERE)) for attack in attacks("", "")]


def _finding(name: str, noticed: Noticed) -> Finding:
    times = noticed.under_ms / noticed.before_ms
    harm = []
    if times > MOST_TIMES_LONGER:
        harm.append(f"decisions take {times:.1f} times as long, but at most {MOST_TIMES_LONGER:g} is promised")
    if noticed.reconnect_s > LONGEST_RECONNECT:
        harm.append(f"a reconnect took {noticed.reconnect_s:.1f} s, but at most {LONGEST_RECONNECT:g} are promised")
    figures = (
        f"{noticed.made:,} connects/s; p99 {noticed.under_ms:.1f} ms ({noticed.before_ms:.1f} undisturbed, "
        f"{times:.2f} times); longest reconnect {noticed.reconnect_s:.2f} s"
    )
    return Finding(name, figures, harm)
