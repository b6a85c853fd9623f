"""All attempts, with those of `arena sandbox`, as a program like that module: python3 escapes.pyz TARGETS [NAME]..."""

from __future__ import annotations

from arena.devtools.sandbox_attempts import TRIALS, Attempt, main
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.descriptors import DESCRIPTORS
from tests.attack.escapes.files import FILES
from tests.attack.escapes.kernel import KERNEL
from tests.attack.escapes.limits import LIMITS
from tests.attack.escapes.network import NETWORK
from tests.attack.escapes.processes import PROCESSES

# The trials come last, because one of them kills the target among the processes.
GROUPS = (FILES, NETWORK, KERNEL, DESCRIPTORS, LIMITS, PROCESSES, TRIALS)
ATTEMPTS: dict[str, Attempt] = {name: attempt for group in GROUPS for name, attempt in group.items()}


def run() -> None:
    main(ATTEMPTS, AllTargets)
