"""One match between two bots: seats them, announces each round, plays it (round_play.py) and sends them the result.
Pure: it says what it wants (bots/wants.py), and a driver does it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from arena.bots.player import EarlyExitError, StartError, TakenBack
from arena.bots.wants import Both, Logic, Run
from arena.journal.endings import Fault, seats_at_fault
from arena.journal.lines import AssistedLine
from arena.match.audience import Audience, Scene, Sight
from arena.match.match_messages import MatchMessages
from arena.match.referee import Move, Referee
from arena.match.round_play import Players, RoundPlay, Void, Watched
from arena.plan.deals import Dealt
from arena.plan.round_clock import RoundClock
from arena.plan.schedule import PlannedMatch, PlannedRound
from arena.support.timekeeping import Stalls
from engine.cards import SEATS, Seat, other
from engine.ruleset import RuleSet
from engine.scoring import Score
from protocol.fairness import hash_of
from protocol.messages import Error, RevealedDeal

# A stall excuses a bot only if it took at least this part of the bot's time to start: a bot that had all but a few
# milliseconds of its time is too slow.
_NOTABLE_PART_OF_START: Final = 0.1

NotSeated = StartError | EarlyExitError
Moves = tuple[Sequence[Move], Mapping[int, str]]  # and the notes, by index


@attrs.frozen
class PlayedRound:
    planned: PlannedRound
    first: Seat
    dealt: Dealt
    referee: Referee
    started: str
    void: Void | None  # why it does not count; None if it does
    bundle: str | None = None  # the folder with details of a fault
    withdrawn: bool = False  # the round was not played, because a bot is withdrawn
    begun: bool = False  # both bots came, and were told of the round
    assisted: AssistedLine | None = None  # the help that a person had


def _nothing() -> Logic[None]:
    yield from ()


class Match:
    """A match in progress. The caller passes the score before each round.

    `may_excuse` says whether lateness of the bot with this name, or the death of its keeper, may still make a round
    void. `keep_fault` is called while the bots are still running, and returns the folder in which it saved details of
    the fault. `before_deal` runs each time before the bots see a deal.
    """

    def __init__(
        self,
        planned: PlannedMatch,
        rules: RuleSet,
        players: Players,
        stalls: Stalls,
        keep_fault: Callable[[PlayedRound, Players], str | None],
        may_excuse: Callable[[str], bool],
        audience: Audience | None = None,
        before_deal: Callable[[], Logic[None]] = _nothing,
    ):
        self.planned = planned
        self._rules = rules
        self._players = players
        self._stalls = stalls
        self._keep_fault = keep_fault
        self._may_excuse = may_excuse
        self._audience = audience
        self._before_deal = before_deal
        self._of_voids: list[RevealedDeal] = []  # to be revealed with the next round
        self._messages_by_seat = self._messages(SEATS[0]), self._messages(SEATS[1])

    def _messages(self, seat: Seat) -> MatchMessages:
        player = self._players[seat]
        return MatchMessages(
            player,
            seat,
            match=self.planned.id,
            opponent=self._players[other(seat)].spec.name,
            rounds=self.planned.length,
            rules=self._rules.name,
            clock=player.spec.limits.for_match(),
        )

    def play_round(self, planned: PlannedRound, score: Score, dealt: Dealt, started: str) -> Logic[PlayedRound]:
        """Play one round. `score` is the score before it; its `first` begins. `started` is the time of day."""
        deal = dealt.revealed(planned.number)
        taken_back: list[Seat] = []
        played_before: Moves = ((), {})
        while True:
            referee = Referee(self._rules, dealt.deal, score.first)
            try:
                void, begun = yield from self._play_from(referee, played_before, planned, score, dealt, deal)
                void = void or self._killed(referee)
                break
            except TakenBack:
                taken_back.append(referee.game.to_move)
                played_before = referee.before_last_decision(referee.game.to_move), referee.notes
                for player in self._players:  # no bot can forget what it has seen, so it starts again
                    yield from player.leave()
        help_ = self._assisted(taken_back)
        played = PlayedRound(planned, score.first, dealt, referee, started, void, begun=begun, assisted=help_)
        if void is not None:
            self._of_voids.append(deal)
            return played
        if referee.fault:
            played = attrs.evolve(played, bundle=self._keep_fault(played, self._players))
        yield from self._tell_result(played, score, deal)
        for player, messages in zip(self._players, self._messages_by_seat, strict=True) if begun else ():
            player.note_round(planned.id, dealt.bot_seed(messages.seat))
        return played

    def _play_from(
        self,
        referee: Referee,
        played_before: Moves,
        planned: PlannedRound,
        score: Score,
        dealt: Dealt,
        deal: RevealedDeal,
    ) -> Logic[tuple[Void | None, bool]]:
        """Play the round to its end, from the deal or from a decision that was taken back. In the latter case both bots
        get the start of the round and then requests from its middle, as after a lost connection. Returns why it is
        void, and whether both bots were told of the round. Raises TakenBack."""
        void = yield from self._seat_both(referee, dealt)
        if void is not None or referee.outcome is not None:
            return void, False
        yield from self._before_deal()
        deal_hash = hash_of(deal)
        for player, messages in zip(self._players, self._messages_by_seat, strict=True):
            seed = dealt.bot_seed(messages.seat)
            yield from player.tell(messages.start_round(referee, deal, score, seed, deal_hash=deal_hash))
        referee.lead(*played_before)
        watched = self._watched(planned, referee, score)
        clock = RoundClock((self._players[0].spec.limits, self._players[1].spec.limits))
        for seat, _, ms in referee.moves:  # played before
            if ms is not None:
                clock.spend(seat, ms)
        play = RoundPlay(referee, self._players, self._messages_by_seat, self._stalls, self._may_excuse, watched, clock)
        return (yield Run(play.play())), True

    def _assisted(self, taken_back: Sequence[Seat]) -> AssistedLine | None:
        """The help that a person had in a round in which these seats took back a decision each."""
        for seat in SEATS:
            if taken_back.count(seat) or self._players[seat].has_hints:
                return AssistedLine(seat, taken_back.count(seat), self._players[seat].has_hints)
        return None

    def _watched(self, planned: PlannedRound, referee: Referee, score: Score) -> Watched:
        audience = self._audience
        if audience is None:
            return (), lambda: None
        scene = self._scene(planned, score)
        return audience.watchers, lambda: audience.look(scene, Sight(referee.game, referee.moves, referee.outcome))

    def _scene(self, planned: PlannedRound, score: Score) -> Scene:
        names = self._players[0].spec.name, self._players[1].spec.name
        return Scene(self.planned.id, planned.number, self._rules.name, names, score.first, score.points)

    def _seat_both(self, referee: Referee, dealt: Dealt) -> Logic[Void | None]:
        """Get both bots to the table. A bot that does not come loses the round; if neither comes, there is no winner.
        Returns why the round is void if a bot was late because the arena stood still."""
        if all(self._players[seat].is_here and self._messages_by_seat[seat].between_rounds for seat in SEATS):
            return None  # as in every round but the first
        came = yield Both(self._seat_one(SEATS[0], dealt), self._seat_one(SEATS[1], dealt))
        failures: dict[Seat, NotSeated] = {seat: came[seat] for seat in SEATS if came[seat] is not None}
        for player, messages in zip(self._players, self._messages_by_seat, strict=True):
            if messages.seat not in failures and (start := messages.start_match()):
                yield from player.tell(start)
        for seat, failure in failures.items():
            if void := self._excused(seat, failure):
                return void
        if len(failures) == len(SEATS):
            referee.nobody_started(*(str(failures[seat]) for seat in SEATS))
        for seat, failure in failures.items() if len(failures) == 1 else ():
            if isinstance(failure, EarlyExitError):
                referee.forfeit(seat, failure.ending, str(failure), between_rounds=True)
            else:
                referee.forfeit(seat, Fault.FAILED_TO_START, str(failure))
        return None

    def _seat_one(self, seat: Seat, dealt: Dealt) -> Logic[NotSeated | None]:
        """Get one bot to the table, where it waits for the other one. Returns why it did not come."""
        player = self._players[seat]
        try:
            yield from player.arrive(dealt.bot_seed(seat))
        except (StartError, EarlyExitError) as failure:
            return failure
        player.stop()
        return None

    def _excused(self, seat: Seat, failure: NotSeated) -> Void | None:
        time_was_up = failure.time_was_up if isinstance(failure, StartError) else None
        spec = self._players[seat].spec
        if time_was_up is None or spec.limits.start_ms is None or not self._may_excuse(spec.name):
            return None
        stall = self._stalls.stall_at(time_was_up)
        lost_ms = 0 if stall is None else (stall.until - stall.since) * 1000
        if lost_ms < spec.limits.start_ms * _NOTABLE_PART_OF_START:
            return None
        return Void(f"the arena stood still for {lost_ms:.0f} ms when the time of {spec.name} to start ran out", seat)

    def _killed(self, referee: Referee) -> Void | None:
        """Why the round is void, if the bot that would be charged was killed by something else than itself or its
        limits. A bot without a sandbox can kill its keeper, so that is excused only a number of times. If the kernel
        killed it, nobody knows who took the memory, so the arena failed."""
        if referee.fault is None:
            return None
        assert referee.outcome is not None
        for seat in seats_at_fault(referee.fault.ending, referee.outcome.winner, referee.fault.seat):
            player = self._players[seat]
            if (killed := player.killed) is None:
                continue
            reason = f"{player.spec.name} was ended: {killed.words}"
            if killed.is_shortage:
                return Void(reason)
            if self._may_excuse(player.spec.name):
                return Void(reason, Seat(seat), killed=True)
        return None

    def _tell_result(self, played: PlayedRound, score: Score, deal: RevealedDeal) -> Logic[None]:
        """Send the result to both bots. A bot at fault also gets an error, and has to start again."""
        fault, outcome = played.referee.fault, played.referee.outcome
        assert outcome is not None
        if self._audience is not None:
            self._audience.round_over(self._scene(played.planned, score), outcome)
        # With the round that counts, the deals of its void attempts are revealed, too.
        deals, self._of_voids = [*self._of_voids, deal], []
        for player, messages in zip(self._players, self._messages_by_seat, strict=True):
            at_fault = fault is not None and fault.seat == messages.seat and player.link is not None
            if fault and at_fault:
                yield from player.tell(Error(fault.code or fault.ending.value, fault.detail, fatal=True))
            if end := messages.end_round(outcome, deals):
                yield from player.tell(end)
            if at_fault:
                yield from player.leave()

    def conclude(self, score: Score) -> Logic[None]:
        """Send the result of the match to both bots."""
        for player, messages in zip(self._players, self._messages_by_seat, strict=True):
            if end := messages.end_match(score):
                yield from player.tell(end)
