"""Rounds played at random, in several tempers, so that tests see late, blocked and tactic-heavy positions too."""

import random
from collections.abc import Iterator
from itertools import islice

from hypothesis import strategies as st

from engine.actions import Action, Kind
from engine.cards import SEATS
from engine.deal import Deal
from engine.game import Game
from engine.record import GameRecord
from engine.ruleset import RULE_SETS, RuleSet

TEMPERS = ("any", "claims", "never claims", "loves tactics", "crowds")


def choose(game: Game, temper: str, rng: random.Random) -> Action:
    actions = game.legal_actions()
    if temper == "claims":
        actions = [a for a in actions if a.kind is Kind.CLAIM] or actions
    elif temper == "never claims":
        actions = [a for a in actions if a.kind is not Kind.CLAIM]
    elif temper == "loves tactics":
        names = {a.text.split()[1] for a in actions if a.text.startswith(("play", "draw"))}
        if names:  # the longest names are tactic cards; choose the card before its many targets
            by_length = sorted(names, key=lambda name: (len(name), name))
            name = by_length[-1] if rng.random() < 0.7 else rng.choice(by_length)
            actions = [a for a in actions if a.text.split()[1:2] == [name]]
    elif temper == "crowds":
        actions = [a for a in actions if a.stone <= 3] or actions
    return rng.choice(actions)


def walk(rules: RuleSet, seed: int) -> Iterator[tuple[Game, Action]]:
    """Yields the game before each action; it is over when the iteration ends."""
    rng = random.Random(seed)
    game = Game.new(rules, Deal.from_seed(str(seed), rules.tactics), SEATS[seed % 2])
    tempers = [rng.choice(TEMPERS) for _ in SEATS]
    while game.outcome is None:
        action = choose(game, tempers[game.to_move], rng)
        yield game, action
        game.apply(action)


def played(rules: RuleSet, seed: int) -> tuple[Game, GameRecord]:
    """A whole round and its record."""
    game = Game.new(rules, Deal.from_seed(str(seed), rules.tactics), SEATS[seed % 2])
    moves = []
    for game, action in walk(rules, seed):
        moves.append((game.to_move, action.text))
    deal = Deal.from_seed(str(seed), rules.tactics)
    return game, GameRecord(rules, deal, SEATS[seed % 2], tuple(moves), game.outcome)


rule_sets = st.sampled_from(list(RULE_SETS.values()))
seeds = st.integers(0, 2**32)


@st.composite
def positions(draw: st.DrawFn) -> Game:
    """Any position that comes up in a round."""
    rules, seed = draw(rule_sets), draw(seeds)
    stop = draw(st.integers(0, 120))
    *_, (game, _) = islice(walk(rules, seed), stop + 1)
    return game
