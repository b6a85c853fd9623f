"""Who meets whom, with which deal: all known beforehand. Pure.

A tournament is a list of matches, a match a list of rounds. Ids are made of numbers only, never of counting what was
played, so a resume subtracts finished ids and nothing else. The deal of a round follows from the tournament's seed and
the id of the round (for a mirrored pair, of its first round): neither order nor concurrency changes it.
"""

import enum
import hashlib
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final, NewType

import attrs

from engine.cards import SEATS, Card, Seat, is_clan, other
from engine.deal import Deal, round_seed
from engine.ruleset import Begins, RuleSet

RoundId = NewType("RoundId", str)
MatchId = NewType("MatchId", str)


class Format(enum.Enum):
    ROUND_ROBIN = "roundrobin"
    GAUNTLET = "gauntlet"


@attrs.frozen
class PlannedRound:
    id: RoundId
    number: int  # in its match, from 1
    first: Seat | None  # who begins; None is the winner of the round before
    pair: RoundId  # the first round of the mirrored pair; its own id if there is no mirror
    recoloured: bool  # the second round of a pair: the same deal with other colours


@attrs.frozen
class PlannedMatch:
    """Its rounds are made when they are asked for: a thousand bots have half a million matches."""

    id: MatchId
    bots: tuple[int, int]  # by number in the list of bots; seat 0 and seat 1
    first: Seat  # who begins the first round
    length: int  # rounds; even if they are mirrored
    mirrored: bool
    begins: Begins

    @property
    def rounds(self) -> tuple[PlannedRound, ...]:
        plan = _mirrored_rounds if self.mirrored else _single_rounds
        return tuple(plan(self.id, self.first, self.length, self.begins))


def schedule(
    bots: int, form: Format, cycles: int, rounds: int, mirrored: bool, rules: RuleSet, first_cycle: int = 1
) -> tuple[PlannedMatch, ...]:
    """Every match, in the order in which they begin. `rounds` is even if they are mirrored."""
    return tuple(
        _match(cycle, pair, rounds, mirrored, rules)
        for cycle in range(first_cycle, first_cycle + cycles)
        for pair in _pairings(bots, form)
    )


def pairing_count(bots: int, form: Format) -> int:
    return bots - 1 if form is Format.GAUNTLET else bots * (bots - 1) // 2


def _pairings(bots: int, form: Format) -> Iterator[tuple[int, int]]:
    if form is Format.GAUNTLET:
        yield from ((0, rival) for rival in range(1, bots))
        return
    # The circle method: in each turn everybody meets somebody else, so that whoever stops early stops fairly.
    ring: list[int | None] = [*range(bots), *([None] if bots % 2 else [])]
    for _ in range(len(ring) - 1):
        for a, b in zip(ring[: len(ring) // 2], reversed(ring), strict=False):
            if a is not None and b is not None:
                yield min(a, b), max(a, b)
        ring.insert(1, ring.pop())


def _match(cycle: int, bots: tuple[int, int], rounds: int, mirrored: bool, rules: RuleSet) -> PlannedMatch:
    name = MatchId(f"{cycle}.{bots[0] + 1}-{bots[1] + 1}")
    first = SEATS[(cycle + 1 + sum(bots)) % 2]  # over the cycles each of them begins as often as the other
    return PlannedMatch(name, bots, first, rounds, mirrored, rules.begins)


def _single_rounds(match: MatchId, first: Seat, rounds: int, begin: Begins) -> Iterator[PlannedRound]:
    for number in range(1, rounds + 1):
        name = RoundId(f"{match}.{number}")
        begins: Seat | None = first if number % 2 else other(first)
        if begin is Begins.WINNER and number > 1:
            begins = None
        yield PlannedRound(name, number, begins, pair=name, recoloured=False)


def _mirrored_rounds(match: MatchId, first: Seat, rounds: int, begin: Begins) -> Iterator[PlannedRound]:
    """The second half repeats the deals of the first with the other player beginning, which exchanges the hands.

    The two rounds of a pair lie half a match apart. Where half a match is even, neighbours of the second half are
    exchanged: only so do the players alternate all the way through.
    """
    assert begin is Begins.ALTERNATE
    half = rounds // 2
    single = list(_single_rounds(match, first, rounds, begin))
    yield from single[:half]
    for place, planned in enumerate(single[half:]):
        origin = single[place if half % 2 else place ^ 1]
        yield attrs.evolve(planned, pair=origin.id, recoloured=True)


def deal_for(planned: PlannedRound, tournament_seed: str, rules: RuleSet) -> tuple[str, Deal]:
    """The round's seed and its deal."""
    seed = round_seed(tournament_seed, planned.pair)
    deal = Deal.from_seed(seed, rules.tactics)
    return seed, recoloured(deal, seed) if planned.recoloured else deal


_COLOUR_ORDERS: Final = tuple(permutations(range(6)))


def recoloured(deal: Deal, seed: str) -> Deal:
    """The same deal with its colours exchanged for others, as the seed says; never left as it was."""
    number = int.from_bytes(hashlib.sha512(f"{seed}/colours".encode()).digest(), "big")
    order = _COLOUR_ORDERS[1 + number % (len(_COLOUR_ORDERS) - 1)]
    return attrs.evolve(deal, clan=_recoloured(deal.clan, order))


def _recoloured(cards: Sequence[Card], order: Sequence[int]) -> tuple[Card, ...]:
    return tuple(Card(order[card // 9] * 9 + card % 9) if is_clan(card) else card for card in cards)


def salt_for(round_id: RoundId, tournament_seed: str) -> str:
    """What is hashed together with the deal, so that nobody can try all deals against the hash."""
    return round_seed(tournament_seed, f"{round_id}/salt")[:32]
