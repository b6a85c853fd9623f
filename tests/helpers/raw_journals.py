"""A journal line by line, as tests damage it, and the commands that read it."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from click.testing import Result

from tests.helpers.commands import arena
from tests.helpers.tournaments import steady

Line = dict[str, Any]
Change = Callable[[list[Line]], list[Line]]
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    7,
    2**70,
    1.5,
    "",
    "x",
    "\x1b[2J",
    "‮",
    [],
    [[]],
    {},
    {"a": None},
    "🦊" * 50,
    10**300,
)


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
        "report": ["report", str(journal), "-o", str(folder / "report"), "--evaluate", "0"],
        "export rounds": ["export", str(journal)],
        "export positions": ["export", str(journal), "--what", "positions"],
        "regress": ["regress", str(journal), steady("a"), "--limit", "1"],
    }


def damaged(lines: list[Line], rng: random.Random) -> bytes:
    """One to three things changed at any depth, or bytes of the file itself."""
    lines = msgspec.json.decode(msgspec.json.encode(lines))
    for _ in range(rng.randint(1, 3)):
        place: Any = lines
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], dict | list) and rng.random() < 0.8:
                place = place[key]
                continue
            match rng.randrange(4):
                case 0:
                    del place[key]
                case 1 if isinstance(place, list):
                    place.insert(rng.choice(keys), place[key])
                case _:
                    place[key] = rng.choice(ODD)
            break
    raw = bytearray(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    if rng.random() < 0.3:
        for _ in range(rng.randint(1, 4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)
