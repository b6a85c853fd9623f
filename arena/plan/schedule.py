"""The schedule: which bots meet, and who begins each round. It is fixed before the first round. Pure.

A tournament is a list of matches, and a match is a list of rounds. Their ids follow from the schedule alone and do not
depend on what was played, so a resume only has to subtract finished ids. For the deals see deals.py.

Rounds are grouped in pairs in which each player begins once, unless the winner of a round begins the next one. The pair
is the unit of statistics: beginning may be an advantage, and in a pair both players have it once.
"""

import enum
from collections.abc import Iterator
from typing import NewType

from msgspec import Struct

from engine.cards import SEATS, Seat, other
from engine.ruleset import Begins, RuleSet

RoundId = NewType("RoundId", str)
MatchId = NewType("MatchId", str)


class Format(enum.Enum):
    ROUND_ROBIN = "roundrobin"
    GAUNTLET = "gauntlet"


class PlannedRound(Struct, frozen=True):
    id: RoundId
    number: int  # in its match, from 1
    first: Seat | None  # who begins; None means the winner of the previous round
    pair: RoundId  # the first round of its pair; its own id if it belongs to none
    mirrors: RoundId | None = None  # the round whose deal this one repeats


class PlannedMatch(Struct, frozen=True):
    """One match of the schedule. Its rounds are computed on demand, because a thousand bots have half a million
    matches."""

    id: MatchId
    bots: tuple[int, int]  # indices into the list of bots, for seat 0 and seat 1
    first: Seat  # who begins the first round
    length: int  # rounds; even if they are mirrored
    mirrored: bool
    paired: bool  # two rounds, in which each player begins once, form a unit of statistics
    begins: Begins

    @property
    def rounds(self) -> tuple[PlannedRound, ...]:
        return tuple(_mirrored(self) if self.mirrored else _rounds(self))


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
    """All matches, in the order in which they begin. `rounds` must be even if `mirrored`. If the winner of a round
    begins the next one there are no pairs, whatever `paired` says."""
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
    # The circle method: in each turn all bots meet different opponents, so that a tournament stopped early is still
    # fair.
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
    first = SEATS[(cycle + 1 + sum(bots)) % 2]  # over the cycles both bots begin equally often
    return PlannedMatch(name, bots, first, rounds, mirrored, paired, rules.begins)


def _rounds(match: PlannedMatch) -> Iterator[PlannedRound]:
    """Two consecutive rounds form a pair, if there are pairs; the last of an odd number stays alone."""
    pair = RoundId("")
    for number in range(1, match.length + 1):
        name = RoundId(f"{match.id}.{number}")
        if number % 2 or not match.paired:
            pair = name
        yield PlannedRound(name, number, _first(match, number), pair)


def _first(match: PlannedMatch, number: int) -> Seat | None:
    if match.begins is Begins.WINNER and number > 1:
        return None
    return match.first if number % 2 else other(match.first)


def _mirrored(match: PlannedMatch) -> Iterator[PlannedRound]:
    """The second half repeats the deals of the first half with the other player beginning, which swaps the hands.

    The two rounds of a pair are half a match apart. If half a match is an even number of rounds, neighbours in the
    second half are swapped, because otherwise the players would not alternate throughout the match.
    """
    half = match.length // 2
    names = [RoundId(f"{match.id}.{number}") for number in range(1, match.length + 1)]
    for number, name in enumerate(names[:half], 1):
        yield PlannedRound(name, number, _first(match, number), pair=name)
    for place, name in enumerate(names[half:]):
        origin, number = names[place if half % 2 else place ^ 1], half + place + 1
        yield PlannedRound(name, number, _first(match, number), pair=origin, mirrors=origin)
