"""Makes attempts, one after the other: BAITS is a file that Baits.read reads, and each NAME that of an attempt.

    python3 escapes.pyz BAITS [NAME]...

Without names, all that a bot survives; the program then also leaves a process that runs on, for the host to see what
becomes of it. Each result is a line of JSON on stdout.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator

from arena.devtools.escapes.attempt import Attempt, Baits, Result, try_apart
from arena.devtools.escapes.descriptors import DESCRIPTORS
from arena.devtools.escapes.files import FILES
from arena.devtools.escapes.kernel import KERNEL
from arena.devtools.escapes.limits import LIMITS
from arena.devtools.escapes.network import NETWORK
from arena.devtools.escapes.processes import PROCESSES

# Processes come last, because the bait among them is killed.
ATTEMPTS: dict[str, Attempt] = {
    attempt.name: attempt for group in (FILES, NETWORK, KERNEL, DESCRIPTORS, LIMITS, PROCESSES) for attempt in group
}

_DAEMON_SECONDS = 600


def results(baits: Baits, names: Iterable[str] = ()) -> Iterator[Result]:
    """The results of the attempts with these names; without names, of all that a bot survives."""
    for name in list(names) or [attempt.name for attempt in ATTEMPTS.values() if not attempt.fatal]:
        yield try_apart(ATTEMPTS[name], baits)


def leave_daemon() -> None:
    """Start a process that left everything behind by which its ancestors could find it."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 3)
            time.sleep(_DAEMON_SECONDS)
        os._exit(0)
    os.waitpid(child, 0)


def main() -> None:
    baits, names = Baits.read(sys.argv[1]), sys.argv[2:]
    if not names:
        leave_daemon()
    for result in results(baits, names):
        print(result.line(), flush=True)
