"""`arena regress`: leads a bot through the recorded decisions of another version of itself.

The bot gets the matches, rounds and requests of the journal, in their order, by the real protocol. Whatever it answers,
the recorded move is played (match/led_round.py), so it sees exactly what the other version saw, and is asked for every
decision once, also for the one at which the other version failed. A bot that fails is started again and asked for the
next decision, with all events of the round so far.
"""

from collections.abc import Callable, Iterable

import attrs
import trio

from arena.bots.player import EarlyExitError, LocalPlayer, StartError
from arena.bots.trio_driver import TrioProcesses, driven
from arena.bots.watchdog import Watchdog
from arena.journal.bot_history import RecordedMatch, RecordedRound
from arena.journal.endings import Fault
from arena.journal.lines import game_record
from arena.match.led_round import LedAnswer, LedFault, LedReferee, RecordedMove, led_play
from arena.match.match_messages import MatchMessages
from arena.match.referee import Referee
from arena.plan.bot_spec import BotSpec
from arena.support.signals import calling_on_signals
from engine.cards import Seat, other
from engine.record import GameRecord
from engine.scoring import Score

Matches = Iterable[tuple[Seat, RecordedMatch]]


@attrs.frozen
class RepeatedDecision:
    """The recorded decision in one position, and the bot's decision now."""

    round: str
    answer: LedAnswer
    recorded_fault: Fault | None = None  # at this decision

    @property
    def position(self) -> int:
        """Its number for `arena replay --at`."""
        return self.answer.position

    @property
    def fault(self) -> LedFault | None:
        return self.answer.fault

    @property
    def came_again(self) -> bool:
        """Whether the fault of the recorded bot is repeated here."""
        return self.recorded_fault is not None and self.fault is not None and self.fault.ending is self.recorded_fault

    @property
    def differs(self) -> bool:
        if self.recorded_fault is not None:
            return not self.came_again
        return self.answer.move != self.answer.recorded or self.fault is not None


@attrs.frozen
class RegressResult:
    """Whether every decision was asked for, and if not, why."""

    stopped: bool = False  # by a signal
    failure: str | None = None  # why the bot could not be started


Tell = Callable[[RepeatedDecision], None]


def lead_through(matches: Matches, spec: BotSpec, tell: Tell) -> RegressResult:
    """Asks the bot for every recorded decision; calls `tell` with each one as soon as it is made."""
    return trio.run(_until_stopped, matches, spec, tell)


async def _until_stopped(matches: Matches, spec: BotSpec, tell: Tell) -> RegressResult:
    went, watch = RegressResult(stopped=True), Watchdog()
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel), trio.open_nursery() as nursery:
            nursery.start_soon(watch.run)
            went = await _lead(matches, LocalPlayer(spec, TrioProcesses(nursery), lambda _: None), watch, tell)
            nursery.cancel_scope.cancel()
    return went


async def _lead(matches: Matches, player: LocalPlayer, watch: Watchdog, tell: Tell) -> RegressResult:
    try:
        for seat, match in matches:
            await _lead_match(seat, match, player, watch, tell)
    except StartError as failure:
        return RegressResult(failure=str(failure))
    await driven(player.leave())
    return RegressResult()


async def _lead_match(seat: Seat, match: RecordedMatch, player: LocalPlayer, watch: Watchdog, tell: Tell) -> None:
    messages = MatchMessages(
        player,
        seat,
        match=match.id,
        opponent=match.bots[other(seat)],
        rounds=match.planned,
        rules=match.rules,
        clock=player.spec.limits.for_match(),
    )
    for recorded in match.rounds:
        score = await _RepeatedRound(recorded, messages, player, watch, tell).lead()
    if end := messages.end_match(score):
        await driven(player.tell(end))


class _RepeatedRound:
    """One recorded round, played again with the bot in the seat of the recorded one."""

    def __init__(
        self, recorded: RecordedRound, messages: MatchMessages, player: LocalPlayer, watch: Watchdog, tell: Tell
    ):
        self._recorded = recorded
        self._record: GameRecord = game_record(recorded.line)
        self._moves = tuple(RecordedMove(*move) for move in recorded.line.moves)
        self._score = Score(self._record.rules, self._record.first, recorded.points)  # before the round
        self._messages = messages
        self._player = player
        self._watch = watch
        self._tell = tell
        self._fault = recorded.fault_at_decision_of(messages.seat)

    async def lead(self) -> Score:
        """Plays the round. Returns the score after it. Raises StartError if the bot does not start."""
        start: int | None = 0
        while start is not None:
            start = await self._lead_from(start)
        assert self._record.outcome is not None
        if end := self._messages.end_round(self._record.outcome, [self._recorded.deal]):
            await driven(self._player.tell(end))
        return self._score.after(self._record.outcome)

    async def _lead_from(self, start: int) -> int | None:
        """Starts the bot if necessary, and asks it for all decisions from this position on. Returns where to go on with
        another process, because this one failed; None if the round is over. Raises StartError."""
        # Find the next decision without the bot first: if none is left, no process is started again.
        due = self._led(self._referee(), start)
        if due.ask() is None and start:
            return None
        try:
            await driven(self._player.arrive(self._bot_seed))
        except EarlyExitError as left:
            if due.ask() is None:
                return start
            due.forfeit(self._messages.seat, left.ending, str(left))
            return due.position + 1
        if start_match := self._messages.start_match():
            await driven(self._player.tell(start_match))
        referee = self._referee()
        start_round = self._messages.start_round(referee, self._recorded.deal, self._score, self._bot_seed)
        await driven(self._player.tell(start_round))
        led = self._led(referee, start)
        await driven(led_play(led, self._player, self._messages, self._watch).play(), self._watch)
        if not led.has_failed:
            return None
        await driven(self._player.leave())
        return led.position + 1

    @property
    def _bot_seed(self) -> int:
        return self._recorded.bot_seeds[self._messages.seat]

    def _referee(self) -> Referee:
        return Referee(self._record.rules, self._record.deal, self._record.first)

    def _led(self, referee: Referee, start: int) -> LedReferee:
        return LedReferee(
            referee,
            self._messages.seat,
            self._moves,
            self._hear,
            asks_last=self._fault is not None,
            goes_on=True,
            start=start,
        )

    def _hear(self, answer: LedAnswer) -> None:
        failed = self._fault if answer.recorded is None else None
        self._tell(RepeatedDecision(self._recorded.address, answer, failed))
