"""A recorded round: its deal and moves reproduce the game, and RecordError names the first illegal move."""

from collections.abc import Iterator

import attrs

from engine.actions import Action, parse, quoted
from engine.arguments import A_RECORD, Given, checked
from engine.cards import SEATS, Seat
from engine.deal import Deal
from engine.errors import EngineError, IllegalActionError, NotationError, RecordError
from engine.game import Game
from engine.ruleset import RuleSet
from engine.scoring import Forfeit, Outcome


@attrs.frozen
class GameRecord:
    """A round as its deal, the seat that began, and all actions in order, each with the seat that did it."""

    rules: RuleSet
    deal: Deal
    first: Seat
    moves: tuple[tuple[Seat, str], ...]
    outcome: Outcome | None = None  # as recorded; None while the round is being played


@attrs.frozen
class Step:
    """A game, and the action that a record applies to it next."""

    game: Game  # before the action; it changes with the next step, so copy it to keep it
    action: Action


def dealt(record: Given[GameRecord]) -> Game:
    """The record's game before its first move. Raises RecordError if its deal or its first seat is not valid."""
    record = checked(record, GameRecord, A_RECORD)
    if record.first not in SEATS:
        raise RecordError(f"seat {record.first} cannot begin: seats are 0 and 1")
    try:
        return Game.new(record.rules, record.deal, record.first)
    except EngineError as error:
        raise RecordError(str(error)) from error


def steps(record: Given[GameRecord], game: Game | None = None) -> Iterator[Step]:
    """Play the record move by move. Raises RecordError at the first move that the rules do not allow.

    All steps share one game. A caller that needs it after the last step passes its own, made by `dealt`.
    """
    record = checked(record, GameRecord, A_RECORD)
    game = game or dealt(record)
    for index, (seat, text) in enumerate(record.moves):
        if game.outcome is not None:
            raise RecordError(f"{quoted(text)} comes after the end of the round ({game.outcome.ending.value})", index)
        if seat != game.to_move:
            raise RecordError(f"{quoted(text)} is by seat {seat}, but seat {game.to_move} is to decide", index)
        try:
            action = parse(text)
        except NotationError as error:
            raise RecordError(f"seat {seat}: {error}", index) from error
        yield Step(game, action)
        try:
            game.apply(action)
        except IllegalActionError as error:
            raise RecordError(f"seat {seat}, {text!r}: {error}", index) from error


def replay(record: Given[GameRecord]) -> Game:
    """The game after all moves of the record. Raises RecordError if one of them is not allowed."""
    game = dealt(record)
    for _ in steps(record, game):
        pass
    return game


def verify(record: Given[GameRecord]) -> None:
    """Check that the record is a complete round played by the rules. Raises RecordError, which says where it is not."""
    record = checked(record, GameRecord, A_RECORD)
    check_outcome(record, replay(record))


def check_outcome(record: GameRecord, game: Game) -> None:
    """Check that the recorded outcome follows from `game`, the game after all moves. Raises RecordError if not.

    A forfeited round stops before the rules end it; its points are checked as well. Whether the reason of the forfeit
    is plausible only the program that staged the round can check.
    """
    said = record.outcome
    if said is None:
        raise RecordError("the record has no result")
    if isinstance(said.ending, Forfeit):
        if game.outcome is not None:
            raise RecordError(
                f"the record says {said.ending.value}, but the moves end the round by {game.outcome.ending.value}"
            )
        if said.winner is not None and said.winner not in SEATS:
            raise RecordError(f"the record says {said.ending.value}, but names no seat as the winner")
        expected = Outcome.of(said.winner, said.ending, game.owners)
    elif game.outcome is None:
        raise RecordError(
            f"the record says {said.ending.value}, but after its {len(record.moves)} moves the round is not over"
        )
    else:
        expected = game.outcome
    for name in ("ending", "winner", "points", "owners"):
        found, right = getattr(said, name), getattr(expected, name)
        if found != right:
            raise RecordError(f"the record says {name} {_shown(found)}, but the moves give {_shown(right)}")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return str(getattr(value, "value", "none" if value is None else value))
