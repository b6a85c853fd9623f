"""What one seat may see of a round: not the faces of the other's hand, nor what it draws and returns, nor what it notes
for its author. Pure."""

import attrs

from arena.replay.movements import DECKS, HAND_ORDER, Movement, back_of, movements
from arena.replay.positions import DrawnCard, Position, Replay, Step
from engine.actions import parse
from engine.cards import Seat, other


def one_seats_view(replay: Replay, seat: Seat) -> Replay:
    """What the seat could see while it was played, of a replay that shows all."""
    assert replay.view is None
    steps = []
    for index, step in enumerate(replay.steps):
        before = _masked_position(replay.steps[max(0, index - 1)].position, seat)
        steps.append(_masked_step(step, before, seat))
    return attrs.evolve(replay, view=seat, steps=tuple(steps))


def _masked_position(position: Position, seat: Seat) -> Position:
    rival = tuple(sorted(map(back_of, position.hands[other(seat)]), key=HAND_ORDER.__getitem__))
    own = position.hands[seat]
    return attrs.evolve(position, hands=(own, rival) if seat == 0 else (rival, own))


def _masked_step(step: Step, before: Position, seat: Seat) -> Step:
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
        movements=tuple(movements(before.places(), face_down, carry)),
        position=_masked_position(step.position, seat),
    )


def _face(movement: Movement) -> str:
    """The card itself: one of the two ends shows it, unless it lies face down at both."""
    return movement.after if movement.before in DECKS else movement.before
