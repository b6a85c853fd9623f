from pathlib import Path

import pytest

from engine.ruleset import PRESETS
from tests.golden.replay import golden_round
from tests.helpers.rounds import random_round, written


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """The golden rounds, and one that a bot lost on time."""
    late = random_round(PRESETS["base"], 8, id="1.1-3.1", bots=("ann", "cy"), stop_after=9)
    return written(tmp_path / "cup.jsonl", *(golden_round(preset) for preset in PRESETS), late)
