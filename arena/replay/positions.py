"""A round as a list of positions, each with the move that led to it. Values only.

Position 0 is after the deal, and each recorded move makes one more. A fault that ended the round is the last step; it
moves nothing. `arena.replay.build` makes them from a journal, `arena.replay.seat_view` hides what one seat may not see.
"""

import enum
import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from arena.replay.claim_reasons import Reason
from arena.replay.movements import Change, Movement
from engine.cards import STONES, card_texts
from engine.position import Position

Since = tuple[int | None, int | None]  # by seat, the position with which a side became complete


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
class ReplayStep:
    """A position, and how it came about."""

    number: int  # of the position
    turn: int = 0  # from 1; 0 is the deal
    seat: int | None = None  # that decided; None for the deal
    decision: str | None = None  # the phase in which it was decided
    move: str | None = None
    ms: int | None = None  # of thinking; None where the referee applied the only legal move
    note: str | None = None
    drawn: tuple[DrawnCard, ...] = ()  # chosen by the move or drawn automatically
    claim: Reason | None = None  # why the claim holds
    reason: str | None = None  # the same in words
    fault: RoundFault | None = None
    complete_since: tuple[Since, ...] = ((None, None),) * len(STONES)
    movements: tuple[Movement, ...] = ()
    changes: tuple[Change, ...] = ()
    position: Position

    @property
    def by_referee(self) -> bool:
        """Whether it was the only legal move, so that the bot was not asked."""
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
    steps: tuple[ReplayStep, ...]
    remark: str = ""  # why it is not rated, if so
    versions: tuple[str, str] = ("", "")  # of the players, as far as the journal knows them


def json_text(replay: Replay, at: int | None = None, more: Sequence[Mapping[str, Any]] = ()) -> str:
    """All positions, or only that with the number `at`, as JSON with one line for each. `more` is what to add to each
    position of the replay."""
    header = _plain(attrs.evolve(replay, steps=()), "steps")
    added = more or [{}] * len(replay.steps)
    facts = [_step_facts(step) | dict(each) for step, each in zip(replay.steps, added, strict=True)]
    lines = ",\n".join(map(json.dumps, facts if at is None else facts[at : at + 1]))
    return f'{json.dumps(header)[:-1]}, "steps": [\n{lines}\n]}}'


def _step_facts(step: ReplayStep) -> dict[str, Any]:
    """A step for JSON, without the movements and changes, because its position is complete."""
    position = step.position
    return _plain(step, "complete_since", "movements", "changes", "position") | {
        "stones_held": position.stones_held,
        "position": {
            "stones": _stone_facts(step),
            "hands": [card_texts(hand) for hand in position.hands],
            "clan_deck": len(position.clan_deck),
            "tactic_deck": len(position.tactic_deck),
            "discard": card_texts(position.discard),
            "tactics_played": [card_texts(played) for played in position.tactics_played],
            "phase": position.phase.value,
            "to_move": position.decides,
            "draws_left": position.draws_left,
            "returns_left": position.returns_left,
        },
    }


def _stone_facts(step: ReplayStep) -> list[dict[str, Any]]:
    return [
        {
            "sides": [card_texts(side) for side in stone.sides],
            "owner": stone.owner,
            "modes": card_texts(stone.modes),
            "needs": stone.needs,
            "complete_first": stone.complete_first,
            "complete_since": since,
        }
        for stone, since in zip(step.position.stones, step.complete_since, strict=True)
    ]


def _plain(value: Replay | ReplayStep, *without: str) -> dict[str, Any]:
    return attrs.asdict(
        value,
        filter=lambda field, _: field.name not in without,
        value_serializer=lambda _, __, each: each.value if isinstance(each, enum.Enum) else each,
    )
