"""An attack on a tournament: its arena and its workers are killed again and again, and it goes on each time."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Final

import attrs

from arena.journal.lines import JournalLine, RoundLine, read
from arena.journal.verify import verify_journals
from tests.attack.findings import Finding
from tests.helpers.paths import STEADY_BOT
from tests.helpers.processes import is_running, left_with, workers_of
from tests.helpers.tournaments import essence, rounds_in

KILLS = 300  # with deals from a public seed, and a fifth of that with secret ones
_BYTES_OF_A_ROUND: Final = 1600
_MOST_ROUNDS: Final = 8  # between two kills
_SECONDS: Final = 60  # for all these rounds
_OWNER: Final = 6  # one kill in six is of the arena itself


@attrs.define
class _Killer:
    """A tournament that is killed at random moments and started again."""

    words: list[str]
    journal: Path
    rng: random.Random = attrs.field(factory=lambda: random.Random(1))
    owners: int = 0
    workers: int = 0
    stops: int = 0  # the arena gave up, because too many workers died
    seen: set[int] = attrs.field(factory=set)  # all workers
    harm: list[str] = attrs.field(factory=list)

    def run(self, kills: int) -> None:
        """Kill this often, then let the tournament finish."""
        while self.owners + self.workers < kills and not self.harm:
            with subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as arena:
                try:
                    self._kill_until_it_ends(arena, kills)
                finally:
                    arena.kill()
                assert arena.stderr is not None
                said = arena.stderr.read().decode()
            if arena.returncode == 1 and "rounds of" in said:
                self.stops += 1
            elif arena.returncode != -signal.SIGKILL:
                self.harm.append(f"the arena ended with {arena.returncode} after {self.workers} kills: {said[-300:]}")
        done = subprocess.run(self.words, capture_output=True, text=True, timeout=600)
        self.harm += [f"the last run ended with {done.returncode}: {done.stderr[-300:]}"] if done.returncode else []

    def _kill_until_it_ends(self, arena: "subprocess.Popen[bytes]", kills: int) -> None:
        descriptors, before = 0, self._size()
        while self.owners + self.workers < kills and self._goes_on(arena):
            found = workers_of(arena.pid)
            self.seen |= {*found}
            if self.rng.randrange(_OWNER) == 0:
                self.owners += 1
                self._check_descriptors(arena.pid, descriptors)
                arena.kill()
                return
            if not descriptors and self._size() > before:
                descriptors = len(os.listdir(f"/proc/{arena.pid}/fd"))
            victims = self.rng.sample(found, min(len(found), self.rng.randint(1, 2)))
            for pid in victims:
                with contextlib.suppress(ProcessLookupError):  # it has ended by itself, because all is played
                    os.kill(pid, signal.SIGKILL)
                    self.workers += 1

    def _goes_on(self, arena: "subprocess.Popen[bytes]") -> bool:
        """Wait until some rounds and a moment have passed. Returns whether the arena is running."""
        rounds, until = self.rng.randrange(_MOST_ROUNDS), time.monotonic() + _SECONDS
        size = self._size() + rounds * _BYTES_OF_A_ROUND
        while self._size() < size and arena.poll() is None:
            if time.monotonic() > until:
                self.harm.append(f"no {rounds} rounds within {_SECONDS} s after {self.workers} kills")
                return False
            time.sleep(0.005)
        time.sleep(self.rng.uniform(0, 0.2))
        return arena.poll() is None

    def _size(self) -> int:
        return self.journal.stat().st_size if self.journal.exists() else 0

    def _check_descriptors(self, pid: int, before: int) -> None:
        """Compare with what the arena had when it first finished rounds. A worker that was killed may not be reaped
        yet, and a thread may have a file open."""
        if before and (now := len(os.listdir(f"/proc/{pid}/fd"))) > before + 4:
            self.harm.append(f"the arena has {now} descriptors, and had {before} before its workers were killed")


def kills(folder: Path) -> list[Finding]:
    """With a public seed every round has the same deal each time, so the lines are those of an undisturbed run."""
    token = f"attack-{uuid.uuid4().hex}"
    whole, killed, secret = (folder / f"{name}.jsonl" for name in ("whole", "killed", "secret"))
    bots = [f"{name}={sys.executable} {STEADY_BOT} {name} {token}" for name in "abc"]
    size = ["--rounds", "20", "--cycles", str(2 + KILLS // 10), "--concurrency", "2", "--workers", "2", "--st", "30"]
    command = [sys.executable, "-m", "arena", "run", *bots, *size, "--journal"]
    subprocess.run([*command, whole, "--seed", "kills"], check=True, capture_output=True, timeout=600)
    public = _Killer([*command, str(killed), "--seed", "kills"], killed)
    public.run(KILLS)
    if essence(rounds_in(killed)) != essence(rounds_in(whole)):
        public.harm.append("not the rounds of an undisturbed tournament")
    with_secret = _Killer([*command, str(secret)], secret)
    with_secret.run(KILLS // 5)
    return [
        _finding("kills, public seed", public, len(rounds_in(whole)), token),
        _finding("kills, secret seed", with_secret, len(rounds_in(whole)), token),
    ]


def _finding(attack: str, killer: _Killer, rounds: int, token: str) -> Finding:
    report = verify_journals([killer.journal])
    ids = Counter(entry.line.id for entry in read(killer.journal, JournalLine) if isinstance(entry.line, RoundLine))
    harm = [*killer.harm, *map(str, report.problems)]
    harm += [f"{len(ids)} of {rounds} rounds are there"] if len(ids) != rounds else []
    harm += [f"round {name} is there {count} times" for name, count in ids.items() if count > 1]
    harm += [f"process {pid} is left behind" for pid in left_with(token)]
    harm += [f"worker {pid} is left behind" for pid in killer.seen if is_running(pid)]
    kinds = f"{killer.workers} of workers, {killer.owners} of the arena, which gave up {killer.stops} times"
    return Finding(attack, f"{kinds}; {report.rounds} rounds, {report.voids} void", harm)
