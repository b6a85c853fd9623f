"""The numbers of sequences of actions from fixed positions, for whoever writes the rules in another language.

SPEC.md has the table in its appendix, which says how the positions are reached and what is counted. The positions are
those of a walk through one round, so that later ones have claims, full stones, ruses and empty decks.
"""

from collections.abc import Iterator
from typing import Final

from engine.cards import SEATS
from engine.deal import Deal
from engine.game import Game
from engine.ruleset import PRESETS

SEED: Final = "perft"
# Presets that differ only in who begins the next round give the same numbers.
ALIKE: Final = {"base": "`base`", "expert": "`expert`, `classic`"} | {
    name: f"`{name}`" for name in ("tactics", "tactics-expert")
}
APART: Final = 10  # actions between two positions of a walk
DEEPEST: Final = 4
MOST: Final = 8_000  # sequences that are continued by another action


def walk(preset: str) -> Iterator[Game]:
    """The same game before each action of the walk, and after the last one."""
    rules = PRESETS[preset]
    game = Game.new(rules, Deal.from_seed(SEED, rules.tactics), SEATS[0])
    taken = 0
    while legal := sorted(game.legal_actions(), key=str):
        yield game
        taken += 1
        game.apply(legal[taken * taken % len(legal)])
    yield game


def sequences(game: Game, depth: int) -> int:
    """How many sequences of this many actions the rules allow from here on."""
    legal = game.legal_actions()
    if depth == 1:
        return len(legal)
    total = 0
    for action in legal:
        after = game.copy()
        after.apply(action)
        total += sequences(after, depth - 1)
    return total


def counts(game: Game) -> list[int]:
    """The numbers of sequences of one action, of two, and so on, as far as it takes little time to count them."""
    found = [sequences(game, 1)]
    while len(found) < DEEPEST and found[-1] <= MOST:
        found.append(sequences(game, len(found) + 1))
    return found


def table() -> Iterator[str]:
    """The table as the lines of SPEC.md."""
    depths = range(1, DEEPEST + 1)
    yield f"| rules | after | phase | {' | '.join(map(str, depths))} |"
    yield f"|---|--:|---|{'--:|' * DEEPEST}"
    for preset, names in ALIKE.items():
        for taken, game in enumerate(walk(preset)):
            if game.outcome is not None:
                ended = f"{game.outcome.ending.value}, {game.outcome.points[0]} to {game.outcome.points[1]}"
                yield f"| {names} | {taken} | `over` | {ended} |{' |' * (DEEPEST - 1)}"
            elif taken % APART == 0:
                cells = [f"{count:,}" for count in counts(game)]
                cells += [""] * (DEEPEST - len(cells))
                yield f"| {names} | {taken} | `{game.phase.value}` | {' | '.join(cells)} |"
