"""SPEC.md's table of the lines of a position is the notation that the engine reads."""

import re

import pytest

from engine.errors import PositionError
from engine.game import Game
from tests.helpers.paths import ROOT

SPEC = (ROOT / "SPEC.md").read_text()
TABLE = SPEC[SPEC.index("| line | meaning | without it |") : SPEC.index("Empty lines mean nothing")]
LINES = [
    text.replace("\\|", "|") for row in TABLE.splitlines()[2:] for text in re.findall(r"`([^`]+)`", row.split(" | ")[0])
]


def test_every_line_of_the_table_is_known_and_every_known_line_is_in_the_table() -> None:
    with pytest.raises(PositionError) as caught:
        Game.from_text("nonsense")
    known = str(caught.value).partition("lines begin with ")[2].split(", ")
    assert {line.split()[0] for line in LINES if ":" not in line} == set(known)


def test_the_lines_of_the_table_make_positions() -> None:
    tags = " ".join(line for line in LINES if ":" in line)
    assert tags == "first:theirs owner:you mode:mud-fight"
    for line in LINES:
        if ":" not in line and not line.startswith(("phase", "draws-left", "returns-left")):
            Game.from_text(line if line.startswith("rules") else f"rules tactics\n{line}")
