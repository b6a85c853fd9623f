"""The schedule: which bots meet, and who begins each round. It is fixed before the first round. Pure.

A tournament is a list of matches, and a match is a list of rounds. Their ids follow from the schedule alone and do not
depend on what was played, so a resume only has to subtract finished ids. For the deals see deals.py.

Rounds are grouped in pairs in which each player begins once, unless the winner of a round begins the next one. The pair
is the unit of statistics: beginning may be an advantage, and in a pair both players have it once.
"""

import enum
from collections.abc import Iterator
from typing import Final, NewType

from msgspec import Struct

from engine.cards import SEATS, Seat, other
from engine.ruleset import Begins, RuleSet

# An edited journal may claim any plan. These limits are above every real tournament, and such a plan fits in memory.
_MOST_MATCHES: Final = 2_000_000
_LONGEST_MATCH: Final = 1_000_000

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


class PlannedMatch(Struct, frozen=True):
    """One match of the schedule. Its rounds are computed on demand, because a thousand bots have half a million
    matches."""

    id: MatchId
    bots: tuple[int, int]  # indices into the list of bots, for seat 0 and seat 1
    first: Seat  # who begins the first round
    length: int  # rounds
    begins: Begins

    @property
    def rounds(self) -> tuple[PlannedRound, ...]:
        return tuple(_rounds(self))


def schedule(
    bots: int,
    form: Format,
    cycles: int,
    rounds: int,
    rules: RuleSet,
    first_cycle: int = 1,
) -> tuple[PlannedMatch, ...]:
    """All matches, in the order in which they begin."""
    return tuple(
        _match(cycle, pair, rounds, rules)
        for cycle in range(first_cycle, first_cycle + cycles)
        for pair in _pairings(bots, form)
    )


def pairing_count(bots: int, form: Format) -> int:
    return bots - 1 if form is Format.GAUNTLET else bots * (bots - 1) // 2


def size_problem(bots: int, form: Format, cycles: int, rounds: int) -> str | None:
    """Why such a schedule is too large for a journal; None if it is not."""
    matches = pairing_count(bots, form) * cycles
    if matches <= _MOST_MATCHES and rounds <= _LONGEST_MATCH:
        return None
    limits = f"{_MOST_MATCHES:,} matches, and {_LONGEST_MATCH:,} rounds in each"
    return f"matches: {matches:,}, rounds in each: {rounds:,}; a journal can hold at most {limits}"


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


def _match(cycle: int, bots: tuple[int, int], rounds: int, rules: RuleSet) -> PlannedMatch:
    name = MatchId(f"{cycle}.{bots[0] + 1}-{bots[1] + 1}")
    first = SEATS[(cycle + 1 + sum(bots)) % 2]  # over the cycles both bots begin equally often
    return PlannedMatch(name, bots, first, rounds, rules.begins)


def _rounds(match: PlannedMatch) -> Iterator[PlannedRound]:
    """Two consecutive rounds form a pair, if there are pairs; the last of an odd number stays alone."""
    pair = RoundId("")
    for number in range(1, match.length + 1):
        name = RoundId(f"{match.id}.{number}")
        if number % 2 or match.begins is Begins.WINNER:
            pair = name
        yield PlannedRound(name, number, _first(match, number), pair)


def _first(match: PlannedMatch, number: int) -> Seat | None:
    if match.begins is Begins.WINNER and number > 1:
        return None
    return match.first if number % 2 else other(match.first)
