"""How deals were derived before journals named a scheme (deals.py), so that old journals and bundles stay verifiable.

The seed of a round was the SHA-256 of the tournament's seed and the id of the round, or, for a mirrored pair, the id of
the pair's first round. In the second round of such a pair the colours were permuted. Pure.
"""

import hashlib
from collections.abc import Sequence
from itertools import permutations
from typing import Final

import attrs

from arena.plan.schedule import PlannedRound
from engine.cards import Card, is_clan
from engine.deal import Deal, round_seed
from engine.ruleset import RuleSet


def legacy_deal(planned: PlannedRound, tournament_seed: str, rules: RuleSet) -> tuple[str, Deal]:
    """The seed and the deal of a round."""
    seed = round_seed(tournament_seed, planned.mirrors or planned.id)
    deal = Deal.from_seed(seed, rules.tactics)
    return seed, recoloured(deal, seed) if planned.mirrors else deal


_COLOUR_ORDERS: Final = tuple(permutations(range(6)))


def recoloured(deal: Deal, seed: str) -> Deal:
    """The deal with its colours permuted, as the seed determines; never the identical deal."""
    number = int.from_bytes(hashlib.sha512(f"{seed}/colours".encode()).digest(), "big")
    order = _COLOUR_ORDERS[1 + number % (len(_COLOUR_ORDERS) - 1)]
    return attrs.evolve(deal, clan=_recoloured(deal.clan, order))


def _recoloured(cards: Sequence[Card], order: Sequence[int]) -> tuple[Card, ...]:
    return tuple(Card(order[card // 9] * 9 + card % 9) if is_clan(card) else card for card in cards)
