"""A round as the list of its positions, with what happened on the way from each to the next. Pure values.

Position 0 is after the deal; each move of the log makes one more; a fault that ended the round is the last step and
moves nothing. `arena.replay.build` makes them from a journal, `arena.replay.seat_view` hides what one seat may not see.
"""

import enum
import json
from typing import Any, Final

import attrs

from arena.replay.claim_reasons import Reason
from arena.replay.movements import CLAN, TACTIC, Change, Movement, Places
from engine.cards import SEATS

OVER: Final = "over"  # the phase in which nobody decides


@attrs.frozen
class StonePosition:
    sides: tuple[tuple[str, ...], tuple[str, ...]]  # by seat, the newest card last
    owner: int | None
    modes: tuple[str, ...]
    needs: int  # cards that make a side complete
    complete_first: int | None  # the seat whose side has been complete the longer
    complete_since: tuple[int | None, int | None]  # by seat, the position with which it became complete


@attrs.frozen
class Position:
    stones: tuple[StonePosition, ...]
    hands: tuple[tuple[str, ...], tuple[str, ...]]
    clan_deck: int
    tactic_deck: int
    discard: tuple[str, ...]
    tactics_played: tuple[tuple[str, ...], tuple[str, ...]]
    phase: str  # what has to be decided
    to_move: int | None  # and by whom
    draws_left: int  # of a recruiter that is being played
    returns_left: int

    @property
    def stones_held(self) -> tuple[int, int]:
        a, b = (sum(stone.owner == seat for stone in self.stones) for seat in SEATS)
        return a, b

    def places(self) -> Places:
        """Every place with the cards in it, as they look there."""
        places = {
            "deck": [CLAN] * self.clan_deck,
            "tactics": [TACTIC] * self.tactic_deck,
            "discard": list(self.discard),
            **{f"hand{seat}": list(self.hands[seat]) for seat in SEATS},
        }
        for number, stone in enumerate(self.stones, 1):
            places[f"mode{number}"] = list(stone.modes)
            for seat in SEATS:
                places[f"stone{number}.{seat}"] = list(stone.sides[seat])
        return places


@attrs.frozen
class DrawnCard:
    seat: int
    card: str


@attrs.frozen
class RoundFault:
    seat: int | None  # None where neither bot could play
    ending: str
    detail: str


@attrs.frozen(kw_only=True)
class Step:
    """How a position came about, and the position."""

    number: int  # of the position
    turn: int = 0  # from 1; 0 is the deal
    seat: int | None = None  # who decided; None for the deal
    decision: str | None = None  # the phase in which it was decided
    move: str | None = None
    ms: int | None = None  # of thought; None where the referee applied the only legal move
    note: str | None = None
    drawn: tuple[DrawnCard, ...] = ()  # named by the move or drawn by themselves
    claim: Reason | None = None  # why the claim holds
    reason: str | None = None  # the same in words
    fault: RoundFault | None = None
    stones_held: tuple[int, int] = (0, 0)
    movements: tuple[Movement, ...] = ()
    changes: tuple[Change, ...] = ()
    position: Position

    @property
    def by_referee(self) -> bool:
        """It was the only legal move, so nobody was asked."""
        return self.move is not None and self.ms is None


@attrs.frozen
class Replay:
    id: str
    match: str
    round: int
    rules: str
    bots: tuple[str, str]
    first: int
    started: str
    winner: int | None
    ending: str
    points: tuple[int, int]
    view: int | None  # the seat whose view this is; None shows all
    steps: tuple[Step, ...]


def json_text(replay: Replay, at: int | None = None) -> str:
    """All positions, or the one of this number, as JSON with a line for each."""
    header = _plain(replay)
    steps = header.pop("steps") if at is None else [header.pop("steps")[at]]
    lines = ",\n".join(json.dumps(step) for step in steps)
    return f'{json.dumps(header)[:-1]}, "steps": [\n{lines}\n]}}'


def _plain(replay: Replay) -> dict[str, Any]:
    """Without what leads from one position to the next: each has everything in it."""
    return attrs.asdict(
        replay,
        filter=lambda field, _: field.name not in ("movements", "changes"),
        value_serializer=lambda _, __, value: value.value if isinstance(value, enum.Enum) else value,
    )
