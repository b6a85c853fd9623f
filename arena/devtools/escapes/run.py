"""Makes attempts, one after the other: BAITS is a file that Baits.read reads, and each NAME that of an attempt.

    python3 escapes.pyz BAITS [NAME]...

Without names, all that a bot survives. Each result is a line of JSON on stdout.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from arena.devtools.escapes.attempt import Attempt, Baits, Result, try_apart
from arena.devtools.escapes.files import FILES
from arena.devtools.escapes.kernel import KERNEL
from arena.devtools.escapes.limits import LIMITS
from arena.devtools.escapes.network import NETWORK
from arena.devtools.escapes.processes import PROCESSES

# Processes come last, because the bait among them is killed.
ATTEMPTS: dict[str, Attempt] = {
    attempt.name: attempt for group in (FILES, NETWORK, KERNEL, LIMITS, PROCESSES) for attempt in group
}


def results(baits: Baits, names: Iterable[str] = ()) -> Iterator[Result]:
    """The results of the attempts with these names; without names, of all that a bot survives."""
    for name in list(names) or [attempt.name for attempt in ATTEMPTS.values() if not attempt.fatal]:
        yield try_apart(ATTEMPTS[name], baits)


def main() -> None:
    for result in results(Baits.read(sys.argv[1]), sys.argv[2:]):
        print(result.line(), flush=True)
