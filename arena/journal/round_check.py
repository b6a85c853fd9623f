"""Check a recorded round by itself: play it again by the rules, and compare its deal with its seed. Pure.

This is nearly all the work of `arena verify`, and it needs no other line of the journal: so it can be done anywhere, in
any order. verify.py checks what a round has to do with others.
"""

from collections.abc import Iterator
from math import inf

from msgspec import Struct

from arena.journal.endings import ENDINGS, Fault, check
from arena.journal.lines import RoundLine, game_record
from arena.plan.round_clock import RoundClock, limits_text
from arena.plan.time_control import TimeLimits
from engine.cards import SEATS, Seat
from engine.deal import Deal
from engine.errors import EngineError
from engine.record import GameRecord, dealt, steps


class RoundCheck(Struct, frozen=True, array_like=True, gc=False):
    """What was found in a round."""

    problems: tuple[str, ...] = ()
    deal_follows: bool | None = None  # from the seed in the line; None if the deal cannot be read


def check_round(line: RoundLine) -> RoundCheck:
    problems, deal_follows = list(_inconsistencies(line)), None
    try:
        record = game_record(line)
        deal_follows = record.deal == Deal.from_seed(line.seed, record.rules.tactics)
        problems += _problems_of_moves(line, record)
    except (EngineError, ValueError) as error:
        problems.append(str(error))
    return RoundCheck(tuple(problems), deal_follows)


def late_answer(line: RoundLine, limits: tuple[TimeLimits, TimeLimits]) -> str | None:
    """The first move that took longer than the clock allowed, which would have lost the round. This needs the limits of
    the bots, which verify.py knows."""
    clock = RoundClock(limits)
    for number, (seat, _, ms) in enumerate(line.moves, 1):
        if ms is None or seat not in SEATS:
            continue
        shown, allowed = clock.left(Seat(seat))
        if ms > allowed:
            margin = limits[seat].margin_ms
            return f"move {number}: took {ms} ms, but {line.bots[seat]} had {limits_text(shown)}, and {margin} ms more"
        if allowed < inf:
            clock.spend(Seat(seat), ms)
    return None


def _inconsistencies(line: RoundLine) -> Iterator[str]:
    """Yield contradictions that replaying the moves does not find."""
    result, fault = line.result, line.fault
    if any(ms is not None and ms < 0 for _, _, ms in line.moves):
        yield "a time is negative"
    by_fault = isinstance(ENDINGS[result.ending], Fault)
    if by_fault is not (fault is not None):
        yield f"it ended by {result.ending}, but {'no fault is recorded' if by_fault else 'a fault is recorded'}"
    elif fault is not None and fault.seat == result.winner:
        yield f"the fault is charged to seat {fault.seat}, who won"


def _problems_of_moves(line: RoundLine, record: GameRecord) -> list[str]:
    """Play the moves again, and return the first one whose time is wrong: it is null exactly where the arena applied
    the only legal action. Raises EngineError or ValueError if the round was not played by the rules."""
    game, misplaced = dealt(record), []
    for index, _ in enumerate(steps(record, game)):
        lone = len(game.legal_actions()) == 1
        if lone is not (line.moves[index][2] is None):
            misplaced.append(
                f"move {index + 1}: {'has a time, but was the only legal action' if lone else 'has no time'}"
            )
    check(record, game)
    return misplaced[:1]
