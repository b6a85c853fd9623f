"""One round with two bots: asks the bot that has to decide until the round is over, and turns every failure of a bot
into a value. Whatever a bot does, the referee gets exactly one report for each question: an answer, or a forfeit with
its reason.

Theory of operation. A question has a deadline, which the watchdog enforces (watchdog.py). An answer that comes after it
loses the round, with two exceptions, both only if the arena itself stood still at the moment of the deadline:

* The answer is there when the arena runs again. It is unknown when it came, so it counts as just in time. The round
  continues, so a bot gains nothing by being late on purpose.
* The answer is not there yet, because the whole machine stood still, including the bot. If it comes within the time
  that the bot had left when the stall began, the round is void. Such voids are counted for each bot, and limited.
"""

import enum
from collections.abc import Callable, Sized

import attrs
import trio

from arena.bots.link import Link, LinkClosed
from arena.bots.player import Gone, Player
from arena.journal.endings import Fault
from arena.match.host import Host
from arena.match.referee import Referee
from arena.match.round_clock import RoundClock
from arena.match.watchdog import Deadline, Watchdog
from engine.cards import SEATS, Seat
from protocol.errors import RemoteProtocolError
from protocol.messages import Action, BotMessage, Clock, Request
from protocol.session import State

Players = tuple[Player, Player]
Hosts = tuple[Host, Host]
# The spectators, and what to call after a move while there are any.
Watched = tuple[Sized, Callable[[], None]]


@attrs.frozen
class Void:
    """Why a round does not count, and the seat whose lateness was excused, if that is the reason."""

    reason: str
    excused: Seat | None = None


class _Stopped(enum.Enum):
    """Why `_ask` stopped asking."""

    OVER = enum.auto()
    EXCUSED = enum.auto()  # a late answer counted; the watchdog may have cancelled the scope by now
    LATE = enum.auto()


class RoundPlay:
    """Plays one round. `may_excuse` says whether a void may be granted to the bot with this name."""

    def __init__(
        self,
        referee: Referee,
        players: Players,
        hosts: Hosts,
        watch: Watchdog,
        may_excuse: Callable[[str], bool],
        watched: Watched,
    ):
        self._referee = referee
        self._players = players
        self._hosts = hosts
        self._watch = watch
        self._may_excuse = may_excuse
        self._watched = watched
        self._clock = RoundClock((players[0].spec.limits, players[1].spec.limits))
        self._seat = SEATS[0]  # the seat that was asked last
        self._asked = trio.current_time()  # when it was asked, in trio's time

    async def play(self) -> Void | None:
        """Play the round to its end. Returns why it is void; None if it counts."""
        while True:
            stopped = _Stopped.LATE  # if the watchdog cancels the block
            with self._watch.deadline() as deadline:
                try:
                    stopped = await self._ask(deadline)
                except RemoteProtocolError as error:
                    if overrun := self._players[self._seat].overrun:  # the keeper killed it in the middle of a line
                        self._referee.forfeit(self._seat, overrun.ending, overrun.words)
                    else:
                        self._referee.forfeit(self._seat, Fault.MALFORMED, str(error), code=error.code)
                    stopped = _Stopped.OVER
                except Gone as gone:
                    self._referee.forfeit(self._seat, gone.ending, str(gone))
                    stopped = _Stopped.OVER
            match stopped:
                case _Stopped.OVER:
                    return None
                case _Stopped.LATE:
                    return await self._late()
                case _Stopped.EXCUSED:
                    pass

    async def _ask(self, deadline: Deadline) -> _Stopped:
        """Ask and apply answers as long as they come in time. Raises RemoteProtocolError or Gone if the bot fails."""
        referee, clock, now = self._referee, self._clock, trio.current_time
        watchers, look = self._watched
        while ask := referee.ask():
            self._seat = seat = ask.seat
            player = self._players[seat]
            link = player.link
            assert link is not None
            request = self._hosts[seat].ask(ask, clock.as_message(seat))
            line = link.line_for(request)
            budget = clock.budget_ms(seat)
            self._asked = asked = now()  # as late as possible: what the arena does before is not the bot's time
            deadline.at = asked + budget / 1000
            try:
                action = await link.ask(line)
            except LinkClosed as closed:
                action = await self._ask_again(request, closed)
            took = (now() - asked) * 1000
            in_time = took <= budget
            if not in_time:
                if self._watch.stall_at(deadline.at) is None:
                    return _Stopped.LATE
                took = budget
            assert isinstance(action, Action)  # the session allows nothing else here
            clock.spend(seat, took)
            referee.answer(action.move, round(took), action.note)
            if watchers:
                look()
            if not in_time:
                return _Stopped.EXCUSED
        return _Stopped.OVER

    async def _ask_again(self, request: Request, closed: LinkClosed) -> BotMessage:
        """Repeat the request each time the bot has reconnected. Raises Gone or RemoteProtocolError if the bot fails."""
        player, host = self._players[self._seat], self._hosts[self._seat]
        while True:
            await player.come_back(str(closed))
            for message in host.start_again():
                await player.tell(message)
            link = player.link
            assert link is not None
            try:
                return await link.ask(link.line_for(host.ask_again(request)))
            except LinkClosed as again:
                closed = again

    async def _late(self) -> Void | None:
        """Forfeit the round for the bot whose time ran out, or return why the round is void."""
        seat, player, clock = self._seat, self._players[self._seat], self._clock
        link = player.link
        allowed = _allowed(clock.as_message(seat))
        if link is None:
            gone = f"its connection was lost, and its time ran out before it was back ({allowed})"
            self._referee.forfeit(seat, Fault.DISCONNECTED, gone)
            return None
        deadline = self._asked + clock.budget_ms(seat) / 1000
        stall = self._watch.stall_at(deadline)
        if stall and link.session.state is State.THINKING and self._may_excuse(player.spec.name):
            left = deadline - stall.since
            if await _answers_within(link, left):
                ms = (stall.until - stall.since) * 1000
                return Void(f"the arena stood still for {ms:.0f} ms when the time of {player.spec.name} ran out", seat)
        took = (trio.current_time() - self._asked) * 1000
        silence = link.unfinished_line() or f"no answer after {took:.0f} ms"
        self._referee.forfeit(seat, Fault.TIMEOUT, f"{silence}; the limit was {allowed}")
        return None


async def _answers_within(link: Link, seconds: float) -> bool:
    try:
        with trio.move_on_after(seconds):
            await link.hear()
            return True
    except (RemoteProtocolError, LinkClosed):
        pass  # what the bot sent instead of an answer does not matter now
    return False


def _allowed(clock: Clock) -> str:
    parts = [f"{clock.move_ms} ms for an answer"] if clock.move_ms is not None else []
    parts += [f"{clock.bank_ms} ms left in the bank"] if clock.bank_ms is not None else []
    return " and ".join(parts)
