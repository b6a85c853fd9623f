"""`make attack`: stalls, storms, strangers, kills, sandboxes, neighbours and bad bots, on loopback, for some minutes.
Prints what each attack did; the exit status is 1 if any of them did harm. Names of attacks on the command line choose
among them.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.attack.arena import bad_bots_of_all_kinds, second_chances, stalls
from tests.attack.cluster import cluster_kills
from tests.attack.crowd import passers_by, slow_ones
from tests.attack.findings import Finding
from tests.attack.kills import kills
from tests.attack.kills_of_tests import kills_of_tests
from tests.attack.memory import starved_neighbours
from tests.attack.neighbours import neighbours
from tests.attack.sandboxes import starts
from tests.attack.server import reconnects, storms
from tests.attack.strangers import strangers
from tests.attack.turns import busy_opponents
from tests.attack.voids import bought_voids

ATTACKS: dict[str, Callable[[Path], list[Finding]]] = {
    "stalls": stalls,
    "chances": second_chances,
    "reconnects": reconnects,
    "storms": storms,
    "strangers": strangers,
    "passers-by": passers_by,
    "slow": slow_ones,
    "kills": kills,
    "cluster": cluster_kills,
    "tests": kills_of_tests,
    "turns": busy_opponents,
    "voids": bought_voids,
    "memory": starved_neighbours,
    "sandboxes": starts,
    "neighbours": neighbours,
    "bad-bots": bad_bots_of_all_kinds,
}


def main(names: list[str]) -> int:
    if unknown := set(names) - set(ATTACKS):
        print(f"there is no attack {', '.join(sorted(unknown))}; there are: {', '.join(ATTACKS)}", file=sys.stderr)
        return 2
    harmed = False
    for name in names or ATTACKS:
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            findings = ATTACKS[name](Path(folder))
        for finding in findings:
            print(f"{finding.attack:24}{'HARM' if finding.harm else 'ok':6}{finding.figures}", flush=True)
            for line in finding.harm[:10]:
                print(f"{'':24}      {line}", flush=True)
            harmed = harmed or bool(finding.harm)
    return int(harmed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
