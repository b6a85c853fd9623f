"""A round of two bots that choose at random, inside this process, as text."""

import random
from collections.abc import Iterator

from arena.board import render_board
from engine.cards import SEATS
from engine.deal import Deal
from engine.game import Game
from engine.ruleset import RuleSet
from engine.scoring import Outcome

_NAMES = ("random-0", "random-1")


def random_round(rules: RuleSet, seed: str) -> str:
    """Every move of the round, the last board and the result."""
    return "\n".join(_lines(rules, seed))


def _lines(rules: RuleSet, seed: str) -> Iterator[str]:
    game = Game.new(rules, Deal.from_seed(seed, rules.tactics), SEATS[0])
    rng = random.Random(seed)
    yield f"A round of Schotten Totten: rules {rules.name}, seed {seed}, {_NAMES[0]} begins.\n"
    number = 0
    while game.outcome is None:
        number += 1
        action = rng.choice(game.legal_actions())
        yield f"{number:4}  {_NAMES[game.to_move]}  {action}"
        game.apply(action)
    yield f"\n{render_board(game, _NAMES)}\n"
    yield _result(game.outcome)


def _result(outcome: Outcome) -> str:
    points = f"{outcome.points[0]} - {outcome.points[1]}"
    if outcome.winner is None:
        return f"A draw ({outcome.ending.value}). Points: {points}"
    return f"{_NAMES[outcome.winner]} wins ({outcome.ending.value}). Points: {points}"
