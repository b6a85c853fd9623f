"""One round with two bots: asks the bot that has to decide until the round is over, and turns every failure of a bot
into a value. Whatever a bot does, the referee gets exactly one report for each question: an answer, or a forfeit with
its reason. Pure: it says what it wants (bots/wants.py), and a driver does it.

Theory of operation. A question has a deadline, which the driver enforces. An answer that comes after it loses the
round, with two exceptions, both only if the arena itself stood still at the moment of the deadline
(support/timekeeping.py):

* The answer is there when the arena runs again. It is unknown when it came, so it counts as just in time. The round
  continues, so a bot gains nothing by being late on purpose.
* The answer is not there yet, because the whole machine stood still, including the bot. If it comes within the time
  that the bot had left when the stall began, the round is void. Such voids are counted for each bot, and limited.
"""

from collections.abc import Callable, Sized
from typing import Protocol

import attrs

from arena.bots.conversation import LinkClosedError
from arena.bots.player import BotGoneError, Player
from arena.bots.wants import Ask, BotLink, Logic
from arena.journal.endings import Fault
from arena.match.match_messages import MatchMessages
from arena.match.referee import Question
from arena.plan.round_clock import RoundClock, TimeLeft, limits_text
from arena.support.timekeeping import Stalls, TimeIsUpError
from engine.cards import SEATS, Seat
from protocol.errors import RemoteProtocolError
from protocol.messages import BotAction, BotMessage, EncodedRequest
from protocol.session import State

Players = tuple[Player, Player]
MessagesBySeat = tuple[MatchMessages, MatchMessages]
# The spectators, and what to call after a move while there are any.
Watched = tuple[Sized, Callable[[], None]]


@attrs.frozen
class Void:
    """Why a round does not count, and the seat of the bot that is excused, if it counts for that bot."""

    reason: str
    excused: Seat | None = None
    killed: bool = False  # something killed the bot; otherwise it was late


class Questions(Protocol):
    """Says what to ask, and hears exactly one thing for each question: a Referee, or a LedReferee (led_round.py)."""

    def ask(self) -> Question | None: ...

    def answer(self, text: str, ms: int, note: str | None = None) -> None: ...

    def forfeit(self, seat: Seat, ending: Fault, detail: str, code: str | None = None) -> None: ...


class TimeKeeper(Protocol):
    """The time that each seat has left: a RoundClock, or a RecordedClock (led_round.py)."""

    def left(self, seat: Seat) -> TimeLeft: ...

    def spend(self, seat: Seat, ms: float) -> None: ...


class RoundPlay:
    """Plays one round. `may_excuse` says whether a void may be granted to the bot with this name."""

    def __init__(
        self,
        referee: Questions,
        players: Players,
        messages: MessagesBySeat,
        stalls: Stalls,
        may_excuse: Callable[[str], bool],
        watched: Watched,
        clock: TimeKeeper | None = None,
    ):
        self._referee = referee
        self._players = players
        self._messages_by_seat = messages
        self._stalls = stalls
        self._may_excuse = may_excuse
        self._watched = watched
        self._clock: TimeKeeper = clock or RoundClock((players[0].spec.limits, players[1].spec.limits))
        one, two = players
        # Of the bot at each seat; None where a bot is led through a round (led_round.py), which plays at both.
        self._opponents: tuple[Player | None, Player | None] = (two, one) if one is not two else (None, None)
        self._seat = SEATS[0]  # the seat that was asked last
        self._question: Ask | None = None  # what it was asked

    def play(self) -> Logic[Void | None]:
        """Play the round to its end. Returns why it is void; None if it counts. Raises TakenBack."""
        try:
            yield from self._ask_until_over()
        except TimeIsUpError as late:
            return (yield from self._late(late.at))
        except RemoteProtocolError as error:
            if overrun := self._players[self._seat].overrun:  # the keeper killed it in the middle of a line
                self._referee.forfeit(self._seat, overrun.ending, overrun.words)
            else:
                self._referee.forfeit(self._seat, Fault.MALFORMED, str(error), code=error.code)
        except BotGoneError as gone:
            self._referee.forfeit(self._seat, gone.ending, str(gone))
        return None

    def _ask_until_over(self) -> Logic[None]:
        """Ask and apply answers as long as they come in time. Raises TimeIsUpError, RemoteProtocolError or BotGoneError
        if the bot fails."""
        referee, clock, messages = self._referee, self._clock, self._messages_by_seat
        watchers, look = self._watched
        while to_ask := referee.ask():
            self._seat = seat = to_ask.seat
            player, opponent = self._players[seat], self._opponents[seat]
            link = player.link
            assert link is not None
            shown, budget = clock.left(seat)
            request = messages[seat].ask(to_ask, shown)
            self._question = question = Ask(link.line_for(request), budget / 1000)
            if opponent is not None:
                question.meanwhile = opponent.stop_late
                if opponent.turns.stops_early:
                    opponent.stop()
            if player.is_stopped:
                player.go_on()
            try:
                action = yield from link.ask(question)
            except LinkClosedError as closed:
                action, question = yield from self._ask_again(request, question, closed)
            took = (question.heard - question.asked) * 1000
            if took > budget:
                if self._stalls.stall_at(question.until) is None:
                    raise TimeIsUpError(question.heard)
                took = budget
            assert isinstance(action, BotAction)  # the session allows nothing else here
            clock.spend(seat, took)
            if opponent is not None:
                opponent.turns.opponent_took(took)
            referee.answer(action.move, round(took), action.note)
            if watchers:
                look()

    def _ask_again(
        self, request: EncodedRequest, question: Ask, closed: LinkClosedError
    ) -> Logic[tuple[BotMessage, Ask]]:
        """Repeat the request each time the bot has reconnected. Raises TimeIsUpError, BotGoneError or
        RemoteProtocolError if the bot fails."""
        player, messages = self._players[self._seat], self._messages_by_seat[self._seat]
        while True:
            yield from player.come_back(str(closed), question.until)
            for message in messages.start_again():
                yield from player.tell(message)
            link = player.link
            assert link is not None
            self._question = question = question.again(link.line_for(messages.ask_again(request)))
            try:
                return (yield from link.ask(question)), question
            except LinkClosedError as again:
                closed = again

    def _late(self, now: float) -> Logic[Void | None]:
        """Forfeit the round for the bot whose time ran out, or return why the round is void."""
        seat, player, question = self._seat, self._players[self._seat], self._question
        assert question is not None
        link = player.link
        shown, _ = self._clock.left(seat)
        allowed = limits_text(shown)
        if link is None:
            gone = f"its connection was lost, and its time ran out before it was back ({allowed})"
            self._referee.forfeit(seat, Fault.DISCONNECTED, gone)
            return None
        stall = self._stalls.stall_at(question.until)
        if stall and link.session.state is State.THINKING and self._may_excuse(player.spec.name):
            left = question.until - stall.since
            if (yield from _answers_until(link, now + left)):
                ms = (stall.until - stall.since) * 1000
                return Void(f"the arena stood still for {ms:.0f} ms when the time of {player.spec.name} ran out", seat)
            now = player.now()
        silence = link.unfinished_line() or f"no answer after {question.seconds_at(now) * 1000:.0f} ms"
        self._referee.forfeit(seat, Fault.TIMEOUT, f"{silence}; the limit was {allowed}")
        return None


def _answers_until(link: BotLink, until: float) -> Logic[bool]:
    try:
        yield from link.listen(until)
    except (RemoteProtocolError, LinkClosedError, TimeIsUpError):
        return False  # what the bot sent instead of an answer does not matter now
    return True
