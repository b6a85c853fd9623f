"""How a round can end in the arena: by the rules, or by a fault of a bot. Pure."""

from typing import TYPE_CHECKING, Final, Literal

from engine.cards import SEATS
from engine.errors import RecordError
from engine.game import Game
from engine.record import GameRecord, check_outcome, replay
from engine.scoring import Ending, Forfeit


class Fault(Forfeit):
    """What a bot did wrong. The order is that of the columns in tables."""

    ILLEGAL_MOVE = "illegal-move"
    MALFORMED = "malformed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    FAILED_TO_START = "failed-to-start"
    DISCONNECTED = "disconnected"
    OUT_OF_MEMORY = "out-of-memory"
    OUT_OF_CPU = "out-of-cpu"
    OUT_OF_PROCESSES = "out-of-processes"


RoundEnding = Ending | Fault
ENDINGS: Final[dict[str, RoundEnding]] = {ending.value: ending for kind in (Ending, Fault) for ending in kind}
if TYPE_CHECKING:
    EndingName = str
else:  # a msgspec struct with a field of this type refuses any other text
    EndingName = Literal[tuple(ENDINGS)]

_BY_THE_MOVER: Final = (Fault.ILLEGAL_MOVE, Fault.MALFORMED, Fault.TIMEOUT)


WITHDRAWN: Final = "withdrawn"  # how lists name the ending of a round that a withdrawn bot lost without playing


def seats_at_fault(ending: RoundEnding, winner: int | None, charged: int | None) -> tuple[int, ...]:
    """The seats whose fault ended a round. `charged` is the one that the fault is charged to, if the journal says."""
    if not isinstance(ending, Fault):
        return ()
    if winner is None:  # neither bot could play
        return 0, 1
    return (1 - winner if charged is None else charged,)


def verify(record: GameRecord) -> None:
    """Replay the record. Raises RecordError, which says precisely where it is wrong, unless it is a complete round by
    the rules, or one that followed the rules until a bot's fault ended it."""
    check(record, replay(record))


def check(record: GameRecord, game: Game) -> None:
    """Like `verify`, if the caller has already played the moves: `game` is the game after them. Raises RecordError."""
    if record.outcome is not None and isinstance(record.outcome.ending, Fault) and game.outcome is None:
        _check_fault(record, record.outcome.ending, game)
    check_outcome(record, game)


def _check_fault(record: GameRecord, fault: Fault, game: Game) -> None:
    """Raise RecordError if the winner or the moves contradict the fault."""
    assert record.outcome is not None
    winner = record.outcome.winner
    neither_started = winner is None and fault is Fault.FAILED_TO_START
    if winner not in SEATS and not neither_started:
        raise RecordError(f"the record says {fault.value}, but names no seat as the winner")
    if fault in _BY_THE_MOVER and winner == game.to_move:
        raise RecordError(f"the record says {fault.value}, but seat {winner}, who won, was the one to move")
    if fault is Fault.FAILED_TO_START and record.moves:
        raise RecordError(f"the record says failed-to-start, but has {len(record.moves)} moves")
