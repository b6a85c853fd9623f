"""One round: answers in, questions out, and at the end what there is to log. Pure.

Theory of operation. `ask()` says whom to ask what next, after applying every decision that has only one legal action;
it is None once the round is over. For each question the caller reports exactly one thing: `answer` (the bot named a
move), or `forfeit` (it failed in any other way). An illegal move is a forfeit too, with the engine's own words as the
reason. The referee never waits and never measures: the caller passes the milliseconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs
from msgspec import Struct

from arena.journal.endings import Fault
from arena.match.request_fields import RequestFields
from engine.actions import Action, parse
from engine.cards import SEATS, Seat, other
from engine.deal import Deal
from engine.errors import EngineError
from engine.game import Game
from engine.legality import ActionRow, legal_rows
from engine.ruleset import RuleSet
from engine.scoring import Outcome
from protocol.messages import Clock, EncodedNews, EncodedRequest, Points

# Notes are for the bot's author, but all of them are in the journal: no bot may fill the disk.
LONGEST_NOTE: Final = 500  # characters
MOST_NOTES: Final = 10_000  # characters of one bot in a round


def shortened(note: str, room: int = MOST_NOTES) -> str:
    """The part of a note that is kept, at most `room` characters, and the number of characters that were cut off."""
    most = max(0, min(LONGEST_NOTE, room))
    return note if len(note) <= most else f"{note[:most]}… ({len(note) - most} more)"


class Question(Struct, frozen=True, gc=False):
    """Which seat has to choose between which actions."""

    seat: Seat
    rows: list[ActionRow]
    _referee: "Referee"  # of which it is asked

    @property
    def legal(self) -> list[Action]:
        return [action for row in self.rows for action in row.actions]

    def request(self, number: int, points: Points, clock: Clock, *, with_legal: bool = True) -> EncodedRequest:
        """The question as a message, with the events since the seat's last request. Call it once."""
        rows = self.rows if with_legal else ()
        return EncodedRequest(number, self._referee.request_line(number, self.seat, rows, points, clock))


@attrs.frozen
class ChargedFault:
    """The fault by which a bot lost the round."""

    seat: Seat
    ending: Fault
    detail: str
    code: str | None = None  # of the protocol error, if it was one
    other_detail: str | None = None  # what happened to the other bot, where neither started
    between_rounds: bool = False  # the bot ended before the round began


# A move as the journal writes it: the seat, its text, and the milliseconds of thought, which are None where the referee
# applied the only legal action. A plain tuple, because each decision makes one.
Move = tuple[Seat, str, int | None]


class Referee:
    def __init__(self, rules: RuleSet, deal: Deal, first: Seat):
        self.game = Game.new(rules, deal, first)
        self.moves: list[Move] = []
        self.notes: dict[int, str] = {}  # by index into `moves`
        self._note_room = [MOST_NOTES, MOST_NOTES]  # characters that each bot may still note
        self.outcome: Outcome | None = None
        self.fault: ChargedFault | None = None
        self._fields = RequestFields(self.game)
        self._told = [0, 0]  # by seat: the moves that its requests have told

    def ask(self) -> Question | None:
        """The next question; None once the round is over. Applies decisions that have only one legal action."""
        while self.outcome is None:
            rows = legal_rows(self.game)
            if len(rows) > 1 or len(rows[0].actions) > 1:
                return Question(self.game.to_move, rows, self)
            self._apply(rows[0].actions[0], None)
        return None

    def request_line(self, number: int, seat: Seat, rows: Sequence[ActionRow], points: Points, clock: Clock) -> bytes:
        """The line of a request, with the events since the seat's last one."""
        moves = self.moves
        news = moves[self._told[seat] :]
        self._told[seat] = len(moves)
        return self._fields.request(number, seat, rows, points, news, clock)

    def last_news(self, seat: Seat, points: Points) -> EncodedNews:
        """The last position as the seat sees it, with the events since its last request. Call it once, at the end."""
        news = self.moves[self._told[seat] :]
        return EncodedNews(self._fields.state(seat, points), self._fields.events(seat, news))

    def answer(self, text: str, ms: int, note: str | None = None) -> None:
        """Apply the move that the bot named. It forfeits the round if the move is illegal."""
        try:
            self._apply(parse(text), ms)
        except EngineError as error:
            self.forfeit(self.game.to_move, Fault.ILLEGAL_MOVE, str(error))
            return
        if note is not None:
            seat, _, _ = self.moves[-1]
            self.notes[len(self.moves) - 1] = shortened(note, self._note_room[seat])
            self._note_room[seat] -= min(len(note), LONGEST_NOTE)

    def lead(self, moves: Iterable[Move], notes: Mapping[int, str]) -> None:
        """Play moves that were played before, with their times and notes."""
        for index, (seat, text, ms) in enumerate(moves):
            self._apply(parse(text), ms)
            if index in notes:
                self.notes[index] = notes[index]
                self._note_room[seat] -= min(len(notes[index]), LONGEST_NOTE)

    def before_last_decision(self, seat: Seat) -> list[Move]:
        """The moves before the last decision of the seat; all of them if it has not decided anything yet."""
        decisions = [index for index, (by, _, ms) in enumerate(self.moves) if by == seat and ms is not None]
        return self.moves[: decisions[-1]] if decisions else self.moves

    def forfeit(
        self, seat: Seat, ending: Fault, detail: str, code: str | None = None, *, between_rounds: bool = False
    ) -> None:
        """End the round: the seat loses it by a fault. `code` is that of a protocol error."""
        self.fault = ChargedFault(seat, ending, detail, code, between_rounds=between_rounds)
        self.outcome = Outcome.of(other(seat), ending, self.game.owners)

    def nobody_started(self, detail: str, other_detail: str) -> None:
        """End the round without a winner, because neither bot started, for these reasons by seat."""
        self.fault = ChargedFault(SEATS[0], Fault.FAILED_TO_START, detail, other_detail=other_detail)
        self.outcome = Outcome.of(None, Fault.FAILED_TO_START, self.game.owners)

    def _apply(self, action: Action, ms: int | None) -> None:
        game = self.game
        seat = game.to_move
        game.apply(action)
        self.moves.append((seat, action.text, ms))
        self.outcome = game.outcome
