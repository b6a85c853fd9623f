"""The picture in README.md: it is there, it is small, and `make picture` can draw it again."""

import re
import struct
from pathlib import Path

import pytest

from tests.docs.picture import MOST_BYTES, PICTURE, draw
from tests.helpers.browser import CHROMIUM, MISSING
from tests.helpers.journals import rounds, write
from tests.helpers.paths import ROOT


def size_of(picture: Path) -> tuple[int, int]:
    """Width and height of a PNG, from its header."""
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(data) <= MOST_BYTES
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_the_readme_shows_a_picture_below_the_limit() -> None:
    assert f"({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text()
    assert MOST_BYTES <= 200_000
    width, height = size_of(PICTURE)
    assert 2 * height > width > height


def test_make_picture_runs_the_script() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^picture:.*\n\t@\$\(BIN\)/python -m tests\.docs\.picture$", makefile, re.MULTILINE)


@pytest.mark.extended
@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
@pytest.mark.xdist_group("browser")  # one Chromium at a time: other tests measure how fast bots are
def test_the_script_draws_a_picture_of_the_same_size(tmp_path: Path) -> None:
    names = ("anna", "ben", "carl")
    journal = write(tmp_path / "cup.jsonl", 24, names)
    draw(journal, next(rounds(24, names)).id, tmp_path / "report.png")
    assert size_of(tmp_path / "report.png") == size_of(PICTURE)
