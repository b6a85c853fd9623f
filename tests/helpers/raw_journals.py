"""A journal line by line, as tests damage it, and the commands that read it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from click.testing import Result

from tests.helpers.commands import arena
from tests.helpers.tournaments import steady

Line = dict[str, Any]
Change = Callable[[list[Line]], list[Line]]


def run(journal: Path) -> Result:
    bots = [steady("a"), steady("b")]
    return arena("run", *bots, "--rounds", "4", "--seed", "7", "--st", "5", "--quiet", "--journal", str(journal))


def write(journal: Path, lines: list[Line]) -> Path:
    journal.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return journal


def readers(journal: Path, folder: Path) -> dict[str, list[str]]:
    """Every command that reads a journal and plays nothing."""
    return {
        "table": ["table", str(journal)],
        "verify": ["verify", str(journal)],
        "replay": ["replay", str(journal)],
        "replay one": ["replay", str(journal), "1.1-2.2"],
        "report": ["report", str(journal), "-o", str(folder / "report")],
        "regress": ["regress", str(journal), steady("a"), "--limit", "1"],
    }
