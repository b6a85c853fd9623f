"""Hide what one seat may not see of a round: the opponent's hand, what it draws and returns, and its notes. Pure."""

import attrs

from arena.replay.movements import DECKS, Movement, back_of, movements, places_of
from arena.replay.positions import DrawnCard, Replay, ReplayStep
from engine.actions import parse
from engine.cards import Seat, other
from engine.position import Position


def one_seats_view(replay: Replay, seat: Seat) -> Replay:
    """The replay as the seat saw the round while it was played. `replay` must show everything."""
    assert replay.view is None
    steps = []
    for index, step in enumerate(replay.steps):
        before = replay.steps[max(0, index - 1)].position.seen_by(seat)
        steps.append(_masked_step(step, before, seat))
    return attrs.evolve(replay, view=seat, steps=tuple(steps))


def _masked_step(step: ReplayStep, before: Position, seat: Seat) -> ReplayStep:
    rival = other(seat)
    theirs = step.seat == rival
    fault = step.fault
    face_down = {*DECKS.values(), f"hand{rival}"}
    carry = [(_face(each), each.source, each.target) for each in step.movements]
    return attrs.evolve(
        step,
        move=parse(step.move).public_text if theirs and step.move else step.move,
        note=None if theirs else step.note,
        drawn=tuple(DrawnCard(d.seat, back_of(d.card) if d.seat == rival else d.card) for d in step.drawn),
        fault=attrs.evolve(fault, detail="") if fault and fault.seat != seat else fault,
        movements=tuple(movements(places_of(before), face_down, carry)),
        position=step.position.seen_by(seat),
    )


def _face(movement: Movement) -> str:
    """The face of the card, unless it lies face down both before and after the movement."""
    return movement.after if movement.before in DECKS else movement.before
