"""The golden games; see `make playthroughs`."""

import pytest

from engine.ruleset import PRESETS
from tests.golden.playthrough import FOLDER, render


@pytest.mark.parametrize("preset", PRESETS)
def test_the_golden_game_is_played_as_ever(preset: str) -> None:
    assert render(preset).splitlines() == (FOLDER / f"{preset}.txt").read_text().splitlines()
