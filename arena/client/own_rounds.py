"""The rounds of a bot at a server as lines of a journal, made from what the bot hears and says. Pure.

Theory of operation. The events in a bot's requests and in its round_end are all moves of the round, in order, and the
round_end reveals the deal. The engine plays them again, so a line is made only of a round that follows the rules, and
`arena verify` accepts it. The bot does not hear two things. How long the opponent thought: instead, the line has the
time that passed here. And which cards the opponent returned after a recruiter: the deal and the later moves tell, or
else the move gets a note that says so.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import attrs

from arena.journal.endings import ENDINGS, Fault, verify
from arena.journal.lines import VERSION, FaultLine, ResultLine, RoundLine, game_record
from engine.cards import SEATS, Seat, cards_from_texts, other
from engine.deal import Deal
from engine.errors import EngineError
from engine.game import Game
from engine.ruleset import Begins, RuleSet
from protocol.messages import (
    BotAction,
    BotMessage,
    Error,
    MatchStart,
    MoveEvent,
    Request,
    RevealedDeal,
    RoundEnd,
    RoundStart,
    ServerMessage,
    Welcome,
)

_MOST_MOVES: Final = 2000  # of a round; no round by the rules has as many
_MOST_WAITING: Final = 1000  # rounds whose deals are not revealed yet
_UNKNOWN: Final = "which card was returned is not known here"
_MASKED: Final = ("return clan", "return tactic")


@attrs.frozen
class KeptRound:
    line: RoundLine
    rounds: int  # of its match


@attrs.frozen
class NotKept:
    """What the bot heard of a round does not make a line of a journal."""

    why: str


@attrs.define
class _Heard:
    """A round, as far as the bot has heard of it."""

    match: MatchStart
    start: RoundStart
    began: str  # the time of day
    events: list[tuple[MoveEvent, int]] = attrs.field(factory=list)  # with the milliseconds that passed before it
    answers: list[tuple[int, str | None]] = attrs.field(factory=list)  # of the bot: milliseconds, and the note
    request: Request | None = None  # the last one
    end: RoundEnd | None = None
    error: str = ""  # the last one from the server

    @property
    def key(self) -> tuple[str, int, int]:
        return self.match.match, self.start.round, self.start.attempt


class OwnRounds:
    """Follows a bot from one connection to the next. Times are in seconds, by any clock."""

    def __init__(self) -> None:
        self._name = ""
        self._match: MatchStart | None = None
        self._round: _Heard | None = None
        self._waiting: dict[tuple[int, int], _Heard] = {}  # by round and attempt: over, but its deal is not revealed
        self._since = 0.0  # the last request or answer
        self._asked: int | None = None  # the id of the request that is not answered yet

    def told(self, message: ServerMessage, now: float, time_of_day: str) -> Iterator[KeptRound | NotKept]:
        """Hear a message of the server. Yields the rounds of which everything is known now."""
        heard = self._round
        match message:
            case Welcome():
                self._name = message.name
            case MatchStart():
                if self._match is None or self._match.match != message.match:
                    self._waiting.clear()
                self._match = message
            case RoundStart() if self._match is not None:
                begun = _Heard(self._match, message, time_of_day)
                if heard is None or heard.key != begun.key:  # else a lost connection is back
                    self._round, self._since = begun, now
            case Request() if heard is not None:
                self._asks(heard, message, now)
            case Error() if heard is not None:
                heard.error = message.message
            case RoundEnd() if heard is not None:
                self._hear(heard, message.events, now)
                heard.end, self._round = message, None
                self._waiting[heard.start.round, heard.start.attempt] = heard
                if len(self._waiting) > _MOST_WAITING:
                    del self._waiting[next(iter(self._waiting))]
                yield from self._revealed(message.deals)

    def said(self, message: BotMessage, now: float) -> None:
        """Hear an answer of the bot."""
        if isinstance(message, BotAction) and message.id == self._asked and self._round is not None:
            self._round.answers.append((round((now - self._since) * 1000), message.note))
            self._asked, self._since = None, now

    def _asks(self, heard: _Heard, request: Request, now: float) -> None:
        before, heard.request = heard.request, request
        if before is not None and (before.state, before.events) == (request.state, request.events):
            if self._asked is None:  # it was answered, but the answer was lost with the connection
                heard.answers.pop()
        else:
            self._hear(heard, request.events, now)
        self._asked, self._since = request.id, now

    def _hear(self, heard: _Heard, events: Sequence[MoveEvent], now: float) -> None:
        passed = round((now - self._since) * 1000)
        for event in events[: _MOST_MOVES - len(heard.events)]:
            heard.events.append((event, passed if event.by == "opponent" else 0))
            passed = passed if event.by == "you" else 0  # only the first of the opponent's moves can have taken it

    def _revealed(self, deals: Sequence[RevealedDeal]) -> Iterator[KeptRound | NotKept]:
        for deal in deals:
            if heard := self._waiting.pop((deal.round, deal.attempt), None):
                try:
                    yield KeptRound(_line_of(self._name, heard, deal), heard.match.rounds)
                except (EngineError, ValueError) as error:
                    yield NotKept(f"round {heard.match.match}.{deal.round}: {error}")


def _line_of(name: str, heard: _Heard, deal: RevealedDeal) -> RoundLine:
    """The line of a round that is over. Raises EngineError or ValueError if it was not played by the rules."""
    start, end, seat = heard.start, heard.end, SEATS[heard.start.seat]
    assert end is not None
    rules = RuleSet.named(heard.match.rules)
    first = seat if start.first == "you" else other(seat)
    begun = Game.new(rules, Deal(cards_from_texts(deal.deck), cards_from_texts(deal.tactics)), first)
    told = [(seat if event.by == "you" else other(seat), event.move, ms) for event, ms in heard.events]
    ways = list(islice(_ways(begun, told), 2))
    if not ways:
        raise ValueError("its moves do not follow from its deal")
    moves, notes = _timed(ways[0], told, seat, heard.answers)
    if len(ways) > 1:
        notes |= {str(place): _UNKNOWN for place, (_, text, _) in enumerate(told) if text in _MASKED}
    id = f"{heard.match.match}.{start.round}"
    line = RoundLine(
        v=VERSION,
        id=id,
        match=heard.match.match,
        round=start.round,
        pair=_pair(heard.match.match, start.round, rules),
        rules=rules.name,
        seed="",
        bots=_by_seat(seat, name, heard.match.opponent),
        first=first,
        deck=deal.deck,
        tactics=deal.tactics,
        moves=tuple(moves),
        notes=notes,
        result=_result(end, seat),
        started=heard.began,
        fault=_fault(heard, end, seat),
        salt=deal.salt,
        promise=start.deal_hash,
    )
    verify(game_record(line))
    return line


def _pair(match: str, number: int, rules: RuleSet) -> str:
    is_second = rules.begins is Begins.ALTERNATE and number % 2 == 0
    return f"{match}.{number - is_second}"


def _by_seat(seat: Seat, mine: str, theirs: str) -> tuple[str, str]:
    return (mine, theirs) if seat == 0 else (theirs, mine)


def _ways(game: Game, told: Sequence[tuple[Seat, str, int]]) -> Iterator[list[tuple[str, bool]]]:
    """Every way in which the game can have taken the moves that were told: their texts, and whether each was the only
    legal action. There are several if hidden cards could have been others."""
    game, found = game.copy(), list[tuple[str, bool]]()
    for place, (seat, text, _) in enumerate(told):
        legal = game.legal_actions() if game.outcome is None and game.to_move == seat else []
        fitting = [action for action in legal if text in (action.text, action.public_text)]
        if not fitting:
            return
        if text in _MASKED:
            for action in fitting:
                branch = game.copy()
                branch.apply(action)
                for rest in _ways(branch, told[place + 1 :]):
                    yield [*found, (action.text, len(legal) == 1), *rest]
            return
        game.apply(fitting[0])
        found.append((text, len(legal) == 1))
    yield found


def _timed(
    way: Sequence[tuple[str, bool]],
    told: Sequence[tuple[Seat, str, int]],
    own: Seat,
    answers: Sequence[tuple[int, str | None]],
) -> tuple[list[tuple[int, str, int | None]], dict[str, str]]:
    """The moves with their times, and the notes of the bot, by place."""
    moves, notes, left = list[tuple[int, str, int | None]](), dict[str, str](), iter(answers)
    for place, ((text, is_lone), (seat, _, ms)) in enumerate(zip(way, told, strict=True)):
        note = None
        if seat == own and not is_lone:
            ms, note = next(left, (0, None))
        moves.append((seat, text, None if is_lone else ms))
        if note:
            notes[str(place)] = note
    return moves, notes


def _result(end: RoundEnd, seat: Seat) -> ResultLine:
    winner = {"win": seat, "loss": other(seat), "draw": None}[end.result]
    owners = tuple({"you": seat, "opponent": other(seat), None: None}[side] for side in end.stones)
    points = (end.points.yours, end.points.theirs)
    return ResultLine(winner, end.ending, points if seat == 0 else points[::-1], owners)


def _fault(heard: _Heard, end: RoundEnd, seat: Seat) -> FaultLine | None:
    if not isinstance(ENDINGS.get(end.ending), Fault):
        return None
    if end.result == "loss":
        return FaultLine(seat, heard.error or "the server does not say more")
    return FaultLine(other(seat), "the server does not say more")
