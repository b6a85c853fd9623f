"""Who meets whom, and who begins: all known beforehand. Pure.

A tournament is a list of matches, a match a list of rounds. Ids are made of numbers only, never of counting what was
played, so a resume subtracts finished ids and nothing else. Where the deals come from is told in deals.py.

Rounds come in pairs in which each player begins once, unless the winner of a round begins the next. The pair is the
unit of statistics: beginning may be an advantage, and in a pair both players have it once.
"""

import enum
from collections.abc import Iterator
from typing import NewType

import attrs

from engine.cards import SEATS, Seat, other
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
    pair: RoundId  # the first round of the pair that it belongs to; its own id if it belongs to none
    mirrors: RoundId | None = None  # the round whose deal it repeats


@attrs.frozen
class PlannedMatch:
    """Its rounds are made when they are asked for: a thousand bots have half a million matches."""

    id: MatchId
    bots: tuple[int, int]  # by number in the list of bots; seat 0 and seat 1
    first: Seat  # who begins the first round
    length: int  # rounds; even if they are mirrored
    mirrored: bool
    paired: bool  # two rounds, in which each player begins once, are a unit of statistics
    begins: Begins

    @property
    def rounds(self) -> tuple[PlannedRound, ...]:
        rounds = list(_rounds(self.id, self.first, self.length, self.begins))
        if self.mirrored:
            return tuple(_mirrored(rounds))
        return tuple(_pairs_of(rounds) if self.paired else rounds)


def schedule(
    bots: int,
    form: Format,
    cycles: int,
    rounds: int,
    mirrored: bool,
    rules: RuleSet,
    first_cycle: int = 1,
    *,
    paired: bool = True,
) -> tuple[PlannedMatch, ...]:
    """Every match, in the order in which they begin. `rounds` is even if they are mirrored. Where the winner of a round
    begins the next one there are no pairs, whatever is asked for."""
    return tuple(
        _match(cycle, pair, rounds, mirrored, paired and rules.begins is Begins.ALTERNATE, rules)
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


def _match(
    cycle: int, bots: tuple[int, int], rounds: int, mirrored: bool, paired: bool, rules: RuleSet
) -> PlannedMatch:
    name = MatchId(f"{cycle}.{bots[0] + 1}-{bots[1] + 1}")
    first = SEATS[(cycle + 1 + sum(bots)) % 2]  # over the cycles each of them begins as often as the other
    return PlannedMatch(name, bots, first, rounds, mirrored, paired, rules.begins)


def _rounds(match: MatchId, first: Seat, rounds: int, begins: Begins) -> Iterator[PlannedRound]:
    for number in range(1, rounds + 1):
        name = RoundId(f"{match}.{number}")
        beginner: Seat | None = first if number % 2 else other(first)
        if begins is Begins.WINNER and number > 1:
            beginner = None
        yield PlannedRound(name, number, beginner, pair=name)


def _pairs_of(rounds: list[PlannedRound]) -> Iterator[PlannedRound]:
    """Each round and the one after it are a pair; the last of an odd number is alone."""
    for place, planned in enumerate(rounds):
        yield attrs.evolve(planned, pair=rounds[place - place % 2].id)


def _mirrored(rounds: list[PlannedRound]) -> Iterator[PlannedRound]:
    """The second half repeats the deals of the first half with the other player beginning, which exchanges the hands.

    The two rounds of a pair lie half a match apart. Where half a match is even, neighbours of the second half are
    exchanged: only so do the players alternate all the way through.
    """
    half = len(rounds) // 2
    yield from rounds[:half]
    for place, planned in enumerate(rounds[half:]):
        origin = rounds[place if half % 2 else place ^ 1]
        yield attrs.evolve(planned, pair=origin.id, mirrors=origin.id)
