"""An attack on the opponent's time: a bot has many processes that are busy while its opponent thinks."""

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final

from arena.journal.endings import Fault
from arena.journal.lines import JournalLine, RoundLine, read
from tests.attack.findings import Finding
from tests.helpers.paths import CROWDING_BOT, WORKING_BOT
from tests.helpers.sandboxes import NO_SANDBOX, reachable_folder, script

ROUNDS = 40
CHILDREN: Final = 60
THREADS: Final = 900
WORK: Final = 0.004  # seconds of the opponent for each answer
RESERVE: Final = 20  # times its work
_MOST: Final = 2  # times as long as alone


def busy_opponents(folder: Path) -> list[Finding]:
    """Both bots are on one core. Without a sandbox, the processes stay in one session: nothing else is promised."""
    findings = [_crowded("false", f"{CHILDREN} processes", folder)]
    if not NO_SANDBOX:
        findings += [_crowded("true", crowd, folder) for crowd in (f"{CHILDREN} sessions", f"{THREADS} threads")]
    return findings


def _crowded(sandbox: str, crowd: str, folder: Path) -> Finding:
    stem = f"{crowd.replace(' ', '-')}-{sandbox}.jsonl"
    alone, _ = _answers("0", sandbox, folder / f"without-{stem}")
    beside, late = _answers(crowd, sandbox, folder / f"with-{stem}")
    (p50, p99), (p50_beside, p99_beside) = map(_percentiles, (alone, beside))
    figures = f"answers of {p50:.0f} ms (p99 {p99:.0f}) alone, {p50_beside:.0f} ms (p99 {p99_beside:.0f}) beside"
    harm = [f"{late} rounds of {ROUNDS} lost on time, with {RESERVE} times what the bot needs"] if late else []
    if p99_beside > _MOST * p99:
        harm.append(f"the slowest of a hundred answers took {p99_beside / p99:.1f} times as long as alone")
    name = "turns, sandboxed" if sandbox == "true" else "turns"
    return Finding(name, f"{figures} {crowd}; {late} of {ROUNDS} rounds lost on time", harm)


def _answers(crowd: str, sandbox: str, journal: Path) -> tuple[list[int], int]:
    """The milliseconds of the opponent's answers, and how many rounds it lost on time."""
    with reachable_folder() as folder:
        working = " ".join(script(folder / "working", WORKING_BOT.read_text()))
        crowding = " ".join(script(folder / "crowding", CROWDING_BOT.read_text()))
        bots = f"a={working} {WORK}", f"b={crowding} {crowd}"
        options = {"rounds": ROUNDS, "st": WORK * RESERVE, "timemargin": 0, "concurrency": 1, "seed": "turns"}
        words = [f"--{name}={value}" for name, value in options.items()]
        words += [f"--sandbox={sandbox}", "--affinity=true", "--max-faults=0", f"--journal={journal}"]
        subprocess.run([sys.executable, "-m", "arena", "run", *bots, *words], capture_output=True, timeout=600)
    rounds = [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, RoundLine)]
    times = [ms for line in rounds for seat, _, ms in line.moves if ms is not None and line.bots[seat] == "a"]
    late = [line for line in rounds if line.result.ending == Fault.TIMEOUT.value and line.result.winner is not None]
    return times, sum(line.bots[line.result.winner or 0] == "b" for line in late)


def _percentiles(times: list[int]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=100)[98]
