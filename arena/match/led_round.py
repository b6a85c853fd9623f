"""A recorded round once more, with one of its two bots. Pure.

Theory of operation. The round is played by RoundPlay, as every round is: the same requests, the same clock, the same
faults. Only the referee is another one. A LedReferee asks one seat alone, and plays the recorded moves of both seats,
whatever the bot answers. So the bot sees exactly what the recorded bot saw, up to the decision after the last recorded
move, which is the one at which the recorded bot failed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import attrs

from arena.bots.player import Player
from arena.journal.endings import Fault
from arena.match.match_messages import MatchMessages
from arena.match.referee import Question, Referee
from arena.match.round_play import RoundPlay, TimeKeeper
from arena.plan.round_clock import RoundClock, TimeLeft
from arena.plan.time_control import TimeLimits
from arena.support.timekeeping import Stalls
from engine.actions import parse
from engine.cards import Seat
from engine.errors import EngineError


class RecordedMove(NamedTuple):
    seat: int
    text: str
    ms: int | None  # of thought; None where the referee applied the only legal action


@attrs.frozen
class LedFault:
    """Why an answer would have lost the round."""

    ending: Fault
    detail: str
    code: str | None = None  # of the protocol error, if it was one

    def __str__(self) -> str:
        return f"{self.ending.value}: {self.detail}"


@attrs.frozen
class LedAnswer:
    """What the bot did when it was asked for one decision."""

    position: int  # how many moves were made before
    phase: str
    recorded: str | None  # the move of the recorded bot; None where it failed
    move: str | None  # None if there was no answer
    ms: int | None  # that the answer took
    fault: LedFault | None = None


class LedReferee:
    """Asks one seat for its decisions, and plays the recorded moves. `tell` is called with each answer.

    `asks_last`: also ask for the decision after the last recorded move. `goes_on`: an illegal move does not end the
    round. The first decision to ask for is the one at the position `start`, or the next one after it.
    """

    def __init__(
        self,
        referee: Referee,
        seat: Seat,
        moves: Sequence[RecordedMove],
        tell: Callable[[LedAnswer], None],
        *,
        asks_last: bool,
        goes_on: bool = False,
        start: int = 0,
    ):
        self._referee = referee
        self._seat = seat
        self._moves = moves
        self._tell = tell
        self._most = len(moves) + asks_last  # positions
        self._goes_on = goes_on
        self._start = start
        self._is_over = False
        self.has_failed = False  # it gave no answer, or none that could be understood

    @property
    def position(self) -> int:
        return len(self._referee.moves)

    def ask(self) -> Question | None:
        """The next question to the bot, after playing what is recorded before it; None if there is none."""
        while not self._is_over and (ask := self._referee.ask()) and self.position < self._most:
            if ask.seat == self._seat and self.position >= self._start:
                return ask
            self._play_recorded()
        return None

    def answer(self, text: str, ms: int, note: str | None = None) -> None:  # noqa: ARG002
        """Take note of the bot's move, and play the recorded one."""
        fault = self._illegal(text)
        self._report(text, ms, fault)
        if fault and not self._goes_on:
            self._is_over = True
        else:
            self._play_recorded()

    def forfeit(self, seat: Seat, ending: Fault, detail: str, code: str | None = None) -> None:
        """Take note of the bot's failure, which ends the round."""
        assert seat == self._seat  # only this seat is asked
        self._report(None, None, LedFault(ending, detail, code))
        self._is_over = self.has_failed = True

    def _report(self, move: str | None, ms: int | None, fault: LedFault | None) -> None:
        position = self.position
        recorded = self._moves[position].text if position < len(self._moves) else None
        self._tell(LedAnswer(position, self._referee.game.phase.value, recorded, move, ms, fault))

    def _play_recorded(self) -> None:
        if self.position < len(self._moves):
            self._referee.answer(self._moves[self.position].text, 0)
        else:
            self._is_over = True

    def _illegal(self, text: str) -> LedFault | None:
        try:
            self._referee.game.copy().apply(parse(text))
        except EngineError as error:
            return LedFault(Fault.ILLEGAL_MOVE, str(error))
        return None


def led_play(
    led: LedReferee,
    player: Player,
    messages: MatchMessages,
    stalls: Stalls,
    clock: TimeKeeper | None = None,
    *,
    excuses: bool = False,
) -> RoundPlay:
    """What plays the led round with the bot. `excuses`: lateness may be excused, as in a tournament."""
    return RoundPlay(led, (player, player), (messages, messages), stalls, lambda _: excuses, ((), lambda: None), clock)


class RecordedClock:
    """The clock of a round as the bot of one seat saw it: each answer takes as long as the recorded one."""

    def __init__(self, limits: TimeLimits, seat: Seat, moves: Sequence[RecordedMove]):
        self._clock = RoundClock((limits, limits))
        self._times: Iterator[int] = iter([ms for by, _, ms in moves if by == seat and ms is not None])

    def left(self, seat: Seat) -> TimeLeft:
        return self._clock.left(seat)

    def spend(self, seat: Seat, ms: float) -> None:  # noqa: ARG002
        self._clock.spend(seat, next(self._times, 0))
