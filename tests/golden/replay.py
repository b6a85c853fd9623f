"""Golden replays: one round per preset as `arena replay --all` prints it. `make playthroughs` writes them anew."""

from pathlib import Path

from arena.journal.lines import RoundLine
from arena.replay.board import text
from arena.replay.build import replay_of
from engine.ruleset import PRESETS
from tests.helpers.rounds import random_round

FOLDER = Path(__file__).parent / "replays"
# Rounds with claims on every ground, and where there are tactic cards, all kinds of them.
_SEEDS = {"base": 26, "expert": 26, "tactics": 89, "tactics-expert": 107, "classic": 140}


def golden_round(preset: str) -> RoundLine:
    return random_round(PRESETS[preset], _SEEDS[preset], id=f"1.1-2.{list(PRESETS).index(preset) + 1}")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for preset in PRESETS:
        replay = replay_of(golden_round(preset))
        shown = "\n".join(text(replay, step) for step in replay.steps) + "\n"
        (FOLDER / f"{preset}.txt").write_text(shown, encoding="utf-8")
        print(f"wrote the replay {preset}.txt")


if __name__ == "__main__":
    main()
