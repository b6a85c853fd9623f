"""`arena regress`: a bot is led through the recorded decisions of another version of itself.

It plays by the real protocol: matches, rounds, requests, in the order of the journal. Whatever it answers, the recorded
move is the one that is played, so it sees exactly what the other version saw, and every decision is asked for once. A
bot that fails is started anew and asked for the next decision, with all events of the round so far.
"""

from collections.abc import Callable, Iterable

import attrs
import trio

from arena.bots.link import Link, LinkClosed
from arena.bots.player import LeftBetweenRounds, LocalPlayer, StartFailure
from arena.journal.bot_history import RecordedMatch, RecordedRound
from arena.journal.lines import game_record
from arena.match import translate
from arena.match.referee import Ask, Referee
from arena.match.round_clock import RoundClock
from arena.plan.bot_spec import BotSpec
from arena.support.signals import calling_on_signals
from engine.actions import parse
from engine.cards import SEATS, Seat, card_texts
from engine.errors import EngineError
from engine.game import Game
from engine.record import GameRecord
from engine.scoring import Ending
from protocol.errors import RemoteProtocolError
from protocol.fairness import hash_of
from protocol.messages import Action, MatchEnd, MatchStart, RoundStart
from protocol.session import State

Matches = Iterable[tuple[Seat, RecordedMatch]]


@attrs.frozen
class AnswerFault:
    """Why an answer would have lost the round."""

    ending: Ending
    detail: str

    def __str__(self) -> str:
        return f"{self.ending.value}: {self.detail}"


@attrs.frozen
class Decision:
    """What was decided then and now, in one position."""

    round: str
    position: int  # as `arena replay --at` counts them
    phase: str
    recorded: str
    move: str | None  # None if there was no answer
    fault: AnswerFault | None = None

    @property
    def differs(self) -> bool:
        return self.move != self.recorded or self.fault is not None


@attrs.frozen
class Went:
    """How far it went."""

    stopped: bool = False  # by a signal
    failure: str | None = None  # why the bot could not be asked any more


def lead_through(matches: Matches, spec: BotSpec, tell: Callable[[Decision], None]) -> Went:
    """Each decision is told as soon as it is made."""
    return trio.run(_until_stopped, matches, spec, tell)


async def _until_stopped(matches: Matches, spec: BotSpec, tell: Callable[[Decision], None]) -> Went:
    went = Went(stopped=True)
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel), trio.open_nursery() as nursery:
            went = await _lead(matches, LocalPlayer(spec, nursery, lambda _: None), tell)
            nursery.cancel_scope.cancel()
    return went


async def _lead(matches: Matches, player: LocalPlayer, tell: Callable[[Decision], None]) -> Went:
    try:
        for seat, match in matches:
            await _lead_match(seat, match, player, tell)
    except StartFailure as failure:
        return Went(failure=str(failure))
    await player.leave()
    return Went()


async def _lead_match(seat: Seat, match: RecordedMatch, player: LocalPlayer, tell: Callable[[Decision], None]) -> None:
    opponent = match.bots[1 - seat]
    start = MatchStart(match.id, opponent, match.planned, match.rules, player.spec.limits.for_match())
    points = (0, 0)
    for recorded in match.rounds:
        await _RoundOnceMore(recorded, seat, player, start, tell).lead()
        won = recorded.line.result.points
        points = (recorded.points[0] + won[0], recorded.points[1] + won[1])
    if player.link and player.link.session.state is State.MATCH:
        winner = None if points[0] == points[1] else SEATS[points[1] > points[0]]
        await player.tell(MatchEnd(match.id, translate.result(winner, seat), translate.points(points, seat)))


class _RoundOnceMore:
    def __init__(
        self,
        recorded: RecordedRound,
        seat: Seat,
        player: LocalPlayer,
        start: MatchStart,
        tell: Callable[[Decision], None],
    ):
        self._recorded = recorded
        self._record: GameRecord = game_record(recorded.line)
        self._seat = seat
        self._player = player
        self._start = start
        self._tell = tell
        self._clock = RoundClock((player.spec.limits, player.spec.limits))
        self._seated = False
        self._gone: AnswerFault | None = None  # why it was not there when the round began

    async def lead(self) -> None:
        referee = self._referee_after(0)
        await self._sit_down()
        while (ask := referee.ask()) and (position := len(referee.moves)) < len(self._record.moves):
            _, text = self._record.moves[position]
            if ask.seat == self._seat:
                if not self._seated:
                    await self._sit_down()
                    referee = self._referee_after(position)  # it knows nothing of the round: all of it is news
                move, fault = await self._answer(referee, ask)
                phase = referee.game.phase.value
                self._tell(Decision(self._recorded.address, position, phase, text, move, fault))
            referee.answer(text, 0)
        await self._finish()

    def _referee_after(self, moves: int) -> Referee:
        record = self._record
        referee = Referee(record.rules, record.deal, record.first)
        while len(referee.moves) < moves:
            referee.ask()  # applies what is the only legal action
            if (position := len(referee.moves)) < moves:
                referee.answer(record.moves[position][1], 0)
        return referee

    async def _sit_down(self) -> None:
        """Raises StartFailure."""
        try:
            await self._player.sit_down(self._start)
        except LeftBetweenRounds as left:
            self._gone = AnswerFault(left.ending, str(left))
            await self._player.sit_down(self._start)
        record, recorded = self._record, self._recorded
        await self._player.tell(
            RoundStart(
                round=recorded.line.round,
                seat=0 if self._seat == SEATS[0] else 1,
                first="you" if self._seat == record.first else "opponent",
                hand=card_texts(tuple(Game.new(record.rules, record.deal, record.first).hands[self._seat])),
                points=translate.points(recorded.points, self._seat),
                deal_hash=hash_of(recorded.deal),
            )
        )
        self._seated = True

    async def _answer(self, referee: Referee, ask: Ask) -> tuple[str | None, AnswerFault | None]:
        """The move, and what is wrong with it."""
        if self._gone is not None:
            fault, self._gone = self._gone, None
            return None, fault
        link, clock, seat = self._link, self._clock, self._seat
        number = link.session.last_id + 1
        legal = self._player.wants_legal
        request = referee.request(ask, number, self._recorded.points, clock.shown(seat), with_legal=legal)
        asked, budget = trio.current_time(), clock.budget_ms(seat)
        try:
            with trio.fail_after(budget / 1000):
                await link.say(request)
                action = await link.hear()
        except trio.TooSlowError:
            return None, await self._failed(
                Ending.TIMEOUT, link.unfinished_line() or f"no answer within {budget:.0f} ms"
            )
        except RemoteProtocolError as error:
            return None, await self._failed(Ending.MALFORMED, str(error))
        except LinkClosed as closed:
            words = await self._last_words(str(closed))
            return None, await self._failed(Ending.CRASHED, words)
        assert isinstance(action, Action)  # the session allows nothing else here
        clock.spend(seat, (trio.current_time() - asked) * 1000)
        return action.move, _illegal(referee.game, action.move)

    @property
    def _link(self) -> Link:
        assert self._player.link is not None
        return self._player.link

    async def _failed(self, ending: Ending, detail: str) -> AnswerFault:
        if overrun := self._player.overrun:
            ending, detail = overrun.ending, overrun.words
        await self._player.leave()
        self._seated = False
        self._clock = RoundClock((self._player.spec.limits, self._player.spec.limits))
        return AnswerFault(ending, detail)

    async def _last_words(self, closed: str) -> str:
        process = self._player.process
        assert process is not None
        await process.last_words()
        wrote, ended = process.stderr_tail.strip(), process.ended_words or closed
        return f"{ended}; on stderr: {wrote.splitlines()[-1]}" if wrote else ended

    async def _finish(self) -> None:
        link, outcome = self._player.link, self._record.outcome
        assert outcome is not None
        if link and link.session.state is State.ROUND:
            line = self._recorded.line
            await self._player.tell(translate.round_end(line.round, outcome, self._seat, self._recorded.revealed))


def _illegal(game: Game, text: str) -> AnswerFault | None:
    """Why the rules do not allow it, if they do not."""
    try:
        game.copy().apply(parse(text))
    except EngineError as error:
        return AnswerFault(Ending.ILLEGAL_MOVE, str(error))
    return None
