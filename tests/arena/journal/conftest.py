"""A journal of four rounds, for tests that damage it."""

import msgspec
import pytest

from tests.helpers.raw_journals import Line, run
from tests.helpers.tournaments import anonymous


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    journal = tmp_path_factory.mktemp("cup") / "cup.jsonl"
    assert run(journal).exit_code == 0
    return anonymous(journal).read_bytes()


@pytest.fixture
def lines(played: bytes) -> list[Line]:
    """The opening line and four rounds."""
    return [msgspec.json.decode(raw) for raw in played.splitlines()]
