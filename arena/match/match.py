"""One match between two bots: seats them, announces each round, has it played (round_play.py) and tells the result."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Final

import attrs
import trio

from arena.bots.player import LeftBetweenRounds, StartFailure
from arena.match import translate
from arena.match.audience import Audience, Scene
from arena.match.referee import Referee
from arena.match.round_play import Players, RoundPlay, Void, Watched
from arena.match.watchdog import Watch
from arena.plan.deals import Dealt
from arena.plan.schedule import PlannedMatch, PlannedRound
from engine.cards import SEATS, Seat, card_texts
from engine.ruleset import RuleSet
from engine.scoring import Ending
from protocol.fairness import hash_of
from protocol.messages import Error, MatchEnd, MatchStart, RevealedDeal, RoundStart
from protocol.session import State

# Of the time to start, which a stall has to take before it excuses anything: a bot that had all but a few milliseconds
# of it is too slow.
_NOTABLE_PART_OF_START: Final = 0.1


@attrs.frozen
class PlayedRound:
    planned: PlannedRound
    first: Seat
    dealt: Dealt
    referee: Referee
    started: str
    void: Void | None  # why it does not count, if it does not
    bundle: str | None = None  # where more is kept of a fault
    withdrawn: bool = False  # nobody was asked to play it, because a bot is withdrawn


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class Match:
    """The state of a match under way; points and deals of rounds played before a resume come in from outside.

    `may_excuse` says whether the lateness of the bot of this name may still make a round void. `keep_fault` is called
    while the bots are still there, and returns where it kept more about the fault.
    """

    def __init__(
        self,
        planned: PlannedMatch,
        rules: RuleSet,
        players: Players,
        watch: Watch,
        keep_fault: Callable[[PlayedRound, Players], str | None],
        may_excuse: Callable[[str], bool],
        dealt_before: Mapping[int, Dealt],
        audience: Audience | None = None,
    ):
        self.planned = planned
        self._rounds = planned.rounds
        self.points = (0, 0)
        self.winner: Seat | None = None  # of the round before
        self.first = SEATS[0]  # of the round before
        self._rules = rules
        self._players = players
        self._watch = watch
        self._keep_fault = keep_fault
        self._may_excuse = may_excuse
        self._audience = audience
        self._dealt = dict(dealt_before)  # by number of round
        self._of_voids: list[RevealedDeal] = []  # deals that will not be played again, to be revealed next
        self._starts = tuple(
            MatchStart(
                planned.id,
                players[1 - seat].spec.name,
                planned.length,
                rules.name,
                players[seat].spec.limits.for_match(),
            )
            for seat in SEATS
        )

    async def play_round(self, planned: PlannedRound, first: Seat, dealt: Dealt) -> PlayedRound:
        self._dealt[planned.number] = dealt
        referee = Referee(self._rules, dealt.deal, first)
        started = utc_now()
        void = await self._seat_both(referee)
        if void is None and referee.outcome is None:
            await self._announce(planned, referee, dealt, first)
            watched = self._watched(planned, referee, first)
            void = await RoundPlay(referee, self._players, self.points, self._watch, self._may_excuse, watched).play()
        played = PlayedRound(planned, first, dealt, referee, started, void)
        if void is not None:
            if planned.mirrors is None:  # else the same deal comes again
                self._of_voids.append(dealt.revealed(planned.number))
            return played
        if referee.fault:
            played = attrs.evolve(played, bundle=self._keep_fault(played, self._players))
        self.count(played)
        await self._tell_result(played)
        return played

    def _watched(self, planned: PlannedRound, referee: Referee, first: Seat) -> Watched:
        if self._audience is None:
            return (), lambda: None
        return self._audience.watchers, partial(self._audience.look, self._scene(planned, first), referee)

    def _scene(self, planned: PlannedRound, first: Seat) -> Scene:
        names = self._players[0].spec.name, self._players[1].spec.name
        return Scene(self.planned.id, planned.number, self._rules.name, names, first, self.points)

    def count(self, played: PlayedRound) -> None:
        outcome = played.referee.outcome
        assert outcome is not None
        self.points = (self.points[0] + outcome.points[0], self.points[1] + outcome.points[1])
        self.winner, self.first = outcome.winner, played.first

    async def _seat_both(self, referee: Referee) -> Void | None:
        """A bot that does not come to the table has lost, and nobody wins where neither does. The round is void where a
        bot was too slow because the host stood still."""
        if all(self._players[seat].sits(self._starts[seat]) for seat in SEATS):
            return None  # as in every round but the first
        failures: dict[Seat, StartFailure | LeftBetweenRounds] = {}

        async def seat_one(seat: Seat) -> None:
            try:
                await self._players[seat].sit_down(self._starts[seat])
            except (StartFailure, LeftBetweenRounds) as failure:
                failures[seat] = failure

        async with trio.open_nursery() as nursery:
            for seat in SEATS:
                nursery.start_soon(seat_one, seat)
        for seat, failure in sorted(failures.items()):
            if void := self._excused(seat, failure):
                return void
        if len(failures) == len(SEATS):
            referee.nobody_started(*(str(failures[seat]) for seat in SEATS))
        for seat, failure in failures.items() if len(failures) == 1 else ():
            ending = failure.ending if isinstance(failure, LeftBetweenRounds) else Ending.FAILED_TO_START
            referee.forfeit(seat, ending, str(failure))
        return None

    def _excused(self, seat: Seat, failure: StartFailure | LeftBetweenRounds) -> Void | None:
        time_was_up = failure.time_was_up if isinstance(failure, StartFailure) else None
        spec = self._players[seat].spec
        if time_was_up is None or spec.limits.start_ms is None or not self._may_excuse(spec.name):
            return None
        stall = self._watch.stall_at(time_was_up)
        lost_ms = 0 if stall is None else (stall.until - stall.since) * 1000
        if lost_ms < spec.limits.start_ms * _NOTABLE_PART_OF_START:
            return None
        return Void(f"the arena stood still for {lost_ms:.0f} ms when the time of {spec.name} to start ran out", seat)

    async def _announce(self, planned: PlannedRound, referee: Referee, dealt: Dealt, first: Seat) -> None:
        promised = hash_of(dealt.revealed(planned.number))
        for seat in SEATS:
            await self._players[seat].begin_round(
                RoundStart(
                    round=planned.number,
                    seat=0 if seat == SEATS[0] else 1,
                    first="you" if seat == first else "opponent",
                    hand=card_texts(tuple(referee.game.hands[seat])),
                    points=translate.points(self.points, seat),
                    deal_hash=promised,
                    attempt=dealt.attempt,
                )
            )

    async def _tell_result(self, played: PlayedRound) -> None:
        """A bot at fault is told so and has to start anew."""
        fault, outcome = played.referee.fault, played.referee.outcome
        assert outcome is not None
        if self._audience is not None:
            self._audience.round_over(self._scene(played.planned, played.first), outcome)
        deals = self._deals_to_reveal(played.planned)
        for seat in SEATS:
            player = self._players[seat]
            if player.link is None:
                continue
            at_fault = fault is not None and fault.seat == seat
            if fault and at_fault:
                await player.tell(Error(fault.code or fault.ending.value, fault.detail, fatal=True))
            if player.link.session.state in (State.ROUND, State.THINKING):  # else the round never began for it
                await player.tell(translate.round_end(played.planned.number, outcome, seat, deals))
            if at_fault:
                await player.leave()

    def _deals_to_reveal(self, planned: PlannedRound) -> list[RevealedDeal]:
        """Its own deal, unless a mirrored round is still to come; then both at the end of that one. And those of void
        rounds, which nobody will see again."""
        of_voids, self._of_voids = self._of_voids, []
        origin = planned.mirrors or planned.id
        numbers = [each.number for each in self._rounds if origin in (each.id, each.mirrors)]
        if numbers[-1] > planned.number:
            return of_voids
        return of_voids + [self._dealt[number].revealed(number) for number in numbers]

    async def conclude(self) -> None:
        """The match is over: both bots are told the result."""
        a, b = self.points
        winner = None if a == b else SEATS[b > a]
        for seat in SEATS:
            player = self._players[seat]
            if player.link is not None and player.link.session.state is State.MATCH:  # else it never sat down
                result = translate.result(winner, seat)
                await player.tell(MatchEnd(self.planned.id, result, translate.points(self.points, seat)))
