"""One match between two bots: its rounds in order, every failure of a bot turned into a value here.

This is the only place that waits for moves. Whatever a bot does, the referee hears of exactly one thing for each
question: an answer, or a forfeit with its reason.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final

import attrs
import msgspec
import trio

from arena import wire
from arena.clock import RoundClock
from arena.gallery import Gallery, Scene, Watcher
from arena.link import Link, LinkClosed
from arena.player import Gone, LeftBetweenRounds, Player, StartFailure
from arena.referee import Referee
from arena.schedule import PlannedMatch, PlannedRound, RoundId, deal_for, salt_for
from arena.watch import Watch
from engine.cards import SEATS, Seat
from engine.deal import Deal
from engine.ruleset import RuleSet
from engine.scoring import Ending
from protocol.errors import RemoteProtocolError
from protocol.fairness import hash_of
from protocol.messages import Action, BotMessage, Clock, Error, MatchEnd, MatchStart, Request, RevealedDeal, RoundStart
from protocol.session import State

Players = tuple[Player, Player]
# Those who look on, and what to call after a move while there are any.
Watched = tuple[Sequence[Watcher], Callable[[], None]]
# How often the arena's own delay excuses a late answer in one round; a bot that is late every time is late.
_MOST_EXCUSES: Final = 3


@attrs.frozen
class PlayedRound:
    planned: PlannedRound
    first: Seat
    seed: str
    deal: Deal
    referee: Referee
    started: str
    void: str | None  # why it does not count, if it does not
    bundle: str | None = None  # where more is kept of a fault


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class Match:
    """The state of a match under way; points and deals of rounds played before a resume come in from outside."""

    def __init__(
        self,
        planned: PlannedMatch,
        rules: RuleSet,
        seed: str,
        players: Players,
        watch: Watch,
        keep_fault: Callable[[PlayedRound, Players], str | None],
        gallery: Gallery | None = None,
    ):
        self.planned = planned
        self._rounds = planned.rounds
        self.points = (0, 0)
        self.winner: Seat | None = None  # of the round before
        self.first = SEATS[0]  # of the round before
        self._rules = rules
        self._seed = seed
        self._players = players
        self._watch = watch
        self._keep_fault = keep_fault  # called while the bots are still there
        self._gallery = gallery
        self._dealt: dict[int, Deal] = {}  # by number of round; those of before a resume are made again when needed
        self._excused: Counter[RoundId] = Counter()  # how often a round was void because the arena was late
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

    async def play_round(self, planned: PlannedRound, first: Seat) -> PlayedRound:
        seed, deal = deal_for(planned, self._seed, self._rules)
        return await self.play_dealt(planned, first, seed, deal)

    async def play_dealt(self, planned: PlannedRound, first: Seat, seed: str, deal: Deal) -> PlayedRound:
        self._dealt[planned.number] = deal
        referee = Referee(self._rules, deal, first)
        started = utc_now()
        void = None
        if await self._all_seated(referee):
            await self._announce(planned, referee, deal, first)
            may_excuse = self._excused[planned.id] < _MOST_EXCUSES
            watched = self._watched(planned, referee, first)
            void = await _play(referee, self._players, self.points, self._watch, may_excuse, watched)
            self._excused[planned.id] += void is not None
        played = PlayedRound(planned, first, seed, deal, referee, started, void)
        if void is not None:
            return played
        if referee.fault:
            played = attrs.evolve(played, bundle=self._keep_fault(played, self._players))
        self.count(played)
        await self._tell_result(played)
        return played

    def _watched(self, planned: PlannedRound, referee: Referee, first: Seat) -> Watched:
        if self._gallery is None:
            return (), lambda: None
        return self._gallery.watchers, partial(self._gallery.look, self._scene(planned, first), referee)

    def _scene(self, planned: PlannedRound, first: Seat) -> Scene:
        names = self._players[0].spec.name, self._players[1].spec.name
        return Scene(self.planned.id, planned.number, self._rules.name, names, first, self.points)

    def count(self, played: PlayedRound) -> None:
        outcome = played.referee.outcome
        assert outcome is not None
        self.points = (self.points[0] + outcome.points[0], self.points[1] + outcome.points[1])
        self.winner, self.first = outcome.winner, played.first

    async def _all_seated(self, referee: Referee) -> bool:
        """Whether both bots are there; a bot that is not has lost, and nobody wins where neither is."""
        if all(self._players[seat].sits(self._starts[seat]) for seat in SEATS):
            return True  # as in every round but the first
        reasons: dict[Seat, tuple[Ending, str]] = {}

        async def seat_one(seat: Seat) -> None:
            try:
                await self._players[seat].sit_down(self._starts[seat])
            except StartFailure as failure:
                reasons[seat] = (Ending.FAILED_TO_START, str(failure))
            except LeftBetweenRounds as left:
                reasons[seat] = (left.ending, str(left))

        async with trio.open_nursery() as nursery:
            for seat in SEATS:
                nursery.start_soon(seat_one, seat)
        for seat, (ending, reason) in sorted(reasons.items()):
            referee.forfeit(seat, ending, reason)
        if len(reasons) == len(SEATS):
            both = "; ".join(
                f"{self._players[seat].spec.name}: {reason}" for seat, (_, reason) in sorted(reasons.items())
            )
            referee.nobody_started(both)
        return not reasons

    async def _announce(self, planned: PlannedRound, referee: Referee, deal: Deal, first: Seat) -> None:
        promised = hash_of(self._reveal(planned, deal))
        for seat in SEATS:
            await self._players[seat].begin_round(
                RoundStart(
                    round=planned.number,
                    seat=0 if seat == SEATS[0] else 1,
                    first="you" if seat == first else "opponent",
                    hand=wire.card_texts(tuple(referee.game.hands[seat])),
                    points=wire.points(self.points, seat),
                    deal_hash=promised,
                )
            )

    def _reveal(self, planned: PlannedRound, deal: Deal) -> RevealedDeal:
        salt = salt_for(planned.id, self._seed)
        return RevealedDeal(planned.number, wire.card_texts(deal.clan), wire.card_texts(deal.tactics), salt)

    async def _tell_result(self, played: PlayedRound) -> None:
        """A bot at fault is told so and has to start anew."""
        fault, outcome = played.referee.fault, played.referee.outcome
        assert outcome is not None
        if self._gallery is not None:
            self._gallery.round_over(self._scene(played.planned, played.first), outcome)
        deals = self._deals_to_reveal(played)
        for seat in SEATS:
            player = self._players[seat]
            if player.link is None:
                continue
            at_fault = fault is not None and fault.seat == seat
            if fault and at_fault:
                await player.tell(Error(fault.code or fault.ending.value, fault.detail, fatal=True))
            if player.link.session.state in (State.ROUND, State.THINKING):  # else the round never began for it
                await player.tell(wire.round_end(played.planned.number, outcome, seat, deals))
            if at_fault:
                await player.leave()

    def _deals_to_reveal(self, played: PlayedRound) -> list[RevealedDeal]:
        """Its own deal, unless the mirrored round is still to come; then both at the end of that one."""
        planned = played.planned
        twins = [other for other in self._rounds if other.pair == planned.pair]
        if any(twin.number > planned.number for twin in twins):
            return []
        return [self._reveal(twin, self._dealt.get(twin.number) or self._deal(twin)) for twin in twins]

    def _deal(self, planned: PlannedRound) -> Deal:
        return deal_for(planned, self._seed, self._rules)[1]

    async def conclude(self) -> None:
        """The match is over: both bots are told the result."""
        a, b = self.points
        winner = None if a == b else SEATS[b > a]
        for seat in SEATS:
            player = self._players[seat]
            if player.link is not None and player.link.session.state is State.MATCH:  # else it never sat down
                result = wire.result(winner, seat)
                await player.tell(MatchEnd(self.planned.id, result, wire.points(self.points, seat)))


async def _play(
    referee: Referee,
    players: Players,
    points: tuple[int, int],
    watch: Watch,
    may_excuse: bool,
    watched: Watched,
) -> str | None:
    """Plays the round to its end. Returns why it is void, if it is."""
    clock = RoundClock((players[0].spec.limits, players[1].spec.limits))
    watchers, look = watched
    now, asked, seat = trio.current_time, trio.current_time(), SEATS[0]
    with watch.deadline() as deadline:
        try:
            while ask := referee.ask():
                seat = ask.seat
                player = players[seat]
                number = _link_of(player).session.last_id + 1
                request = referee.request(ask, number, points, clock.shown(seat), with_legal=player.wants_legal)
                budget = clock.budget_ms(seat)
                asked = now()
                deadline.at = asked + budget / 1000
                try:
                    action = await _link_of(player).ask(request)
                except LinkClosed as closed:
                    action = await _ask_again(player, request, closed)
                took = (now() - asked) * 1000
                if took > budget:
                    break
                assert isinstance(action, Action)  # the session allows nothing else here
                clock.spend(seat, took)
                referee.answer(action.move, round(took), action.note)
                if watchers:
                    look()
            else:
                return None
        except RemoteProtocolError as error:
            if overrun := players[seat].overrun:  # it was ended in the middle of a line
                referee.forfeit(seat, overrun.ending, overrun.words)
            else:
                referee.forfeit(seat, Ending.MALFORMED, str(error), code=error.code)
            return None
        except Gone as gone:
            referee.forfeit(seat, gone.ending, str(gone))
            return None
    return await _late(referee, players[seat], seat, asked, clock, watch if may_excuse else None)


async def _ask_again(player: Player, request: Request, closed: LinkClosed) -> BotMessage:
    """Whenever the bot lost its connection and came back. Raises Gone, RemoteProtocolError."""
    while True:
        await player.come_back(str(closed))
        link = _link_of(player)
        number = max(request.id, link.session.last_id + 1)  # a connection that has played before has ids of its own
        try:
            return await link.ask(msgspec.structs.replace(request, id=number))
        except LinkClosed as again:
            closed = again


async def _late(
    referee: Referee, player: Player, seat: Seat, asked: float, clock: RoundClock, watch: Watch | None
) -> str | None:
    """The answer came too late, or not yet. If the arena itself was as late, nobody is to blame."""
    link = player.link
    if link is None:
        gone = f"its connection was lost, and its time ran out before it was back ({_allowed(clock.shown(seat))})"
        referee.forfeit(seat, Ending.DISCONNECTED, gone)
        return None
    delay = watch.worst_delay_since(asked) if watch else 0.0
    if link.session.state is State.THINKING:
        excused = delay > 0 and await _answers_within(link, delay)
    else:
        excused = trio.current_time() <= asked + clock.budget_ms(seat) / 1000 + delay
    if excused:
        return f"{player.spec.name} was late by no more than the arena itself ({delay * 1000:.0f} ms)"
    took = (trio.current_time() - asked) * 1000
    silence = link.unfinished_line() or f"no answer after {took:.0f} ms"
    referee.forfeit(seat, Ending.TIMEOUT, f"{silence}; allowed were {_allowed(clock.shown(seat))}")
    return None


async def _answers_within(link: Link, seconds: float) -> bool:
    try:
        with trio.move_on_after(seconds):
            await link.hear()
            return True
    except (RemoteProtocolError, LinkClosed):
        pass  # whatever it says now is no answer
    return False


def _link_of(player: Player) -> Link:
    assert player.link is not None
    return player.link


def _allowed(clock: Clock) -> str:
    parts = [f"{clock.move_ms} ms for an answer"] if clock.move_ms is not None else []
    parts += [f"{clock.bank_ms} ms left in the bank"] if clock.bank_ms is not None else []
    return " and ".join(parts)
