"""The parts of a RoundLine that statistics need; decoding skips the rest, which is most of the line. Pure."""

import msgspec
from msgspec import Struct

from arena.journal.endings import ENDINGS, WITHDRAWN, EndingName, RoundEnding, seats_at_fault
from arena.journal.lines import AssistedLine, Milliseconds, PlayerIds, RoundName, RoundPoints, SeatNumber


class ResultSummary(Struct, frozen=True, gc=False):
    winner: SeatNumber | None
    ending_name: EndingName = msgspec.field(name="ending")
    points: tuple[RoundPoints, RoundPoints]

    @property
    def ending(self) -> RoundEnding:
        return ENDINGS[self.ending_name]


class FaultSummary(Struct, frozen=True, gc=False):
    seat: SeatNumber
    detail: str = ""
    withdrawn: bool | None = None

    @property
    def is_forfeit(self) -> bool:
        """Whether the bot did not play because it was withdrawn."""
        return self.withdrawn is True


class RoundResult(RoundName, frozen=True, tag_field="type", tag="round", kw_only=True):
    """Everything but thinking times: the moves, the longest part of the line, are skipped."""

    bots: tuple[str, str]
    result: ResultSummary
    pair: str = ""
    fault: FaultSummary | None = None
    players: PlayerIds | None = None
    assisted: AssistedLine | None = None  # the round is not rated then

    @property
    def ended_by(self) -> str:
        """How it ended, for lists: a round that a withdrawn bot did not play is distinguished from a failed start."""
        return WITHDRAWN if self.fault is not None and self.fault.is_forfeit else self.result.ending_name

    def seats_at_fault(self) -> tuple[int, ...]:
        """The seats whose fault ended the round."""
        return seats_at_fault(self.result.ending, self.result.winner, self.fault.seat if self.fault else None)


class RoundSummary(RoundResult, frozen=True, tag_field="type", tag="round", kw_only=True):
    moves: list[tuple[SeatNumber, str, Milliseconds | None]]
