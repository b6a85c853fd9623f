"""`arena regress`: leads a bot through the recorded decisions of another version of itself.

The bot gets the matches, rounds and requests of the journal, in their order, by the real protocol. Whatever it answers,
the recorded move is played, so it sees exactly what the other version saw, and is asked for every decision once. A bot
that fails is started again and asked for the next decision, with all events of the round so far.
"""

from collections.abc import Callable, Iterable

import attrs
import trio

from arena.bots.conversation import LinkClosed
from arena.bots.link import Link
from arena.bots.player import LeftBetweenRounds, LocalPlayer, StartFailure, with_last_words
from arena.bots.trio_driver import TrioProcesses, driven
from arena.journal.bot_history import RecordedMatch, RecordedRound
from arena.journal.endings import Fault
from arena.journal.lines import game_record
from arena.match.host import Host
from arena.match.referee import Ask, Referee
from arena.match.round_clock import RoundClock
from arena.plan.bot_spec import BotSpec
from arena.support.signals import calling_on_signals
from engine.actions import parse
from engine.cards import Seat, other
from engine.errors import EngineError
from engine.game import Game
from engine.record import GameRecord
from engine.scoring import Score
from protocol.errors import RemoteProtocolError
from protocol.messages import Action

Matches = Iterable[tuple[Seat, RecordedMatch]]


@attrs.frozen
class AnswerFault:
    """Why an answer would have lost the round."""

    ending: Fault
    detail: str

    def __str__(self) -> str:
        return f"{self.ending.value}: {self.detail}"


@attrs.frozen
class Decision:
    """The recorded decision in one position, and the bot's decision now."""

    round: str
    position: int  # its number for `arena replay --at`
    phase: str
    recorded: str
    move: str | None  # None if there was no answer
    fault: AnswerFault | None = None

    @property
    def differs(self) -> bool:
        return self.move != self.recorded or self.fault is not None


@attrs.frozen
class RegressResult:
    """Whether every decision was asked for, and if not, why."""

    stopped: bool = False  # by a signal
    failure: str | None = None  # why the bot could not be started


def lead_through(matches: Matches, spec: BotSpec, tell: Callable[[Decision], None]) -> RegressResult:
    """Asks the bot for every recorded decision; calls `tell` with each one as soon as it is made."""
    return trio.run(_until_stopped, matches, spec, tell)


async def _until_stopped(matches: Matches, spec: BotSpec, tell: Callable[[Decision], None]) -> RegressResult:
    went = RegressResult(stopped=True)
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel), trio.open_nursery() as nursery:
            went = await _lead(matches, LocalPlayer(spec, TrioProcesses(nursery), lambda _: None), tell)
            nursery.cancel_scope.cancel()
    return went


async def _lead(matches: Matches, player: LocalPlayer, tell: Callable[[Decision], None]) -> RegressResult:
    try:
        for seat, match in matches:
            await _lead_match(seat, match, player, tell)
    except StartFailure as failure:
        return RegressResult(failure=str(failure))
    await driven(player.leave())
    return RegressResult()


async def _lead_match(seat: Seat, match: RecordedMatch, player: LocalPlayer, tell: Callable[[Decision], None]) -> None:
    host = Host(
        player,
        seat,
        match=match.id,
        opponent=match.bots[other(seat)],
        rounds=match.planned,
        rules=match.rules,
        clock=player.spec.limits.for_match(),
    )
    for recorded in match.rounds:
        score = await _RepeatedRound(recorded, host, player, tell).lead()
    if end := host.end_match(score):
        await driven(player.tell(end))


class _RepeatedRound:
    """One recorded round, played again with the bot in the seat of the recorded one."""

    def __init__(self, recorded: RecordedRound, host: Host, player: LocalPlayer, tell: Callable[[Decision], None]):
        self._recorded = recorded
        self._record: GameRecord = game_record(recorded.line)
        self._score = Score(self._record.rules, self._record.first, recorded.points)  # before the round
        self._host = host
        self._seat = host.seat
        self._player = player
        self._tell = tell
        self._clock = RoundClock((player.spec.limits, player.spec.limits))
        self._seated = False
        self._gone: AnswerFault | None = None  # the fault of a bot that left before the round began

    async def lead(self) -> Score:
        """Plays the round. Returns the score after it. Raises StartFailure if the bot does not start."""
        referee = await self._sit_down(0)
        while (ask := referee.ask()) and (position := len(referee.moves)) < len(self._record.moves):
            _, text = self._record.moves[position]
            if ask.seat == self._seat:
                if not self._seated:
                    referee = await self._sit_down(position)  # a new process: it gets the round from the beginning
                move, fault = await self._answer(referee, ask)
                phase = referee.game.phase.value
                self._tell(Decision(self._recorded.address, position, phase, text, move, fault))
            referee.answer(text, 0)
        assert self._record.outcome is not None
        if end := self._host.end_round(self._record.outcome, self._recorded.revealed):
            await driven(self._player.tell(end))
        return self._score.after(self._record.outcome)

    async def _sit_down(self, position: int) -> Referee:
        """Starts the bot if necessary and begins the round. Returns its referee, `position` moves into the round.
        Raises StartFailure if the bot does not start."""
        try:
            await driven(self._player.arrive())
        except LeftBetweenRounds as left:
            self._gone = AnswerFault(left.ending, str(left))
            await driven(self._player.arrive())
        if start := self._host.start_match():
            await driven(self._player.tell(start))
        record = self._record
        referee = Referee(record.rules, record.deal, record.first)
        await driven(self._player.tell(self._host.start_round(referee, self._recorded.deal, self._score)))
        self._seated = True
        while referee.ask() and (played := len(referee.moves)) < position:
            referee.answer(record.moves[played][1], 0)
        return referee

    async def _answer(self, referee: Referee, ask: Ask) -> tuple[str | None, AnswerFault | None]:
        """Asks the bot. Returns its move, and the fault that the answer would have been."""
        if self._gone is not None:
            fault, self._gone = self._gone, None
            return None, fault
        link, clock, seat = self._link, self._clock, self._seat
        request = self._host.ask(ask, clock.as_message(seat))
        asked, budget = trio.current_time(), clock.budget_ms(seat)
        try:
            with trio.fail_after(budget / 1000):
                action = await link.ask(link.line_for(request))
        except trio.TooSlowError:
            return None, await self._failed(
                Fault.TIMEOUT, link.unfinished_line() or f"no answer within {budget:.0f} ms"
            )
        except RemoteProtocolError as error:
            return None, await self._failed(Fault.MALFORMED, str(error))
        except LinkClosed as closed:
            words = await self._last_words(str(closed))
            return None, await self._failed(Fault.CRASHED, words)
        assert isinstance(action, Action)  # the session allows nothing else here
        clock.spend(seat, (trio.current_time() - asked) * 1000)
        return action.move, _illegal(referee.game, action.move)

    @property
    def _link(self) -> Link:
        assert isinstance(self._player.link, Link)
        return self._player.link

    async def _failed(self, ending: Fault, detail: str) -> AnswerFault:
        if overrun := self._player.overrun:
            ending, detail = overrun.ending, overrun.words
        await driven(self._player.leave())
        self._seated = False
        self._clock = RoundClock((self._player.spec.limits, self._player.spec.limits))
        return AnswerFault(ending, detail)

    async def _last_words(self, closed: str) -> str:
        process = self._player.process
        assert process is not None
        wrote = await driven(process.last_words())
        return with_last_words(process.state.ended_words or closed, wrote)


def _illegal(game: Game, text: str) -> AnswerFault | None:
    """The fault of a move that the rules do not allow; None if they allow it."""
    try:
        game.copy().apply(parse(text))
    except EngineError as error:
        return AnswerFault(Fault.ILLEGAL_MOVE, str(error))
    return None
