"""One round: answers in, questions out, and at the end what there is to log. Pure.

Theory of operation. `ask()` says whom to ask what next, after applying every decision that has only one legal action;
it is None once the round is over. For each question the caller reports exactly one thing: `answer` (the bot named a
move), or `forfeit` (it failed in any other way). An illegal move is a forfeit too, with the engine's own words as the
reason. The referee never waits and never measures: the caller passes the milliseconds.
"""

from typing import Final, NamedTuple

import attrs

from arena.journal.endings import Fault
from arena.match import translate
from engine.actions import Action, parse
from engine.cards import SEATS, Seat, other
from engine.deal import Deal
from engine.errors import EngineError
from engine.game import Game
from engine.phase import Phase
from engine.ruleset import RuleSet
from engine.scoring import Outcome
from protocol import messages

_PHASES: Final[dict[Phase, messages.Phase]] = {
    Phase.CLAIM: "claim",
    Phase.PLAY: "play",
    Phase.DRAW: "draw",
    Phase.RETURN: "return",
}


# Notes are for the bot's author, but all of them are in the journal: no bot may fill the disk.
LONGEST_NOTE: Final = 500  # characters
MOST_NOTES: Final = 10_000  # characters of one bot in a round


def shortened(note: str, room: int = MOST_NOTES) -> str:
    """The part of a note that is kept, at most `room` characters, and the number of characters that were cut off."""
    most = max(0, min(LONGEST_NOTE, room))
    return note if len(note) <= most else f"{note[:most]}… ({len(note) - most} more)"


class Ask(NamedTuple):
    """A question: which seat has to choose between which actions."""

    seat: Seat
    legal: list[Action]


@attrs.frozen
class ChargedFault:
    """The fault by which a bot lost the round."""

    seat: Seat
    ending: Fault
    detail: str
    code: str | None = None  # of the protocol error, if it was one
    other_detail: str | None = None  # what happened to the other bot, where neither started


class Move(NamedTuple):  # as the journal writes it
    seat: Seat
    text: str
    ms: int | None  # of thought; None where the referee applied the only legal action


class Referee:
    def __init__(self, rules: RuleSet, deal: Deal, first: Seat):
        self.game = Game.new(rules, deal, first)
        self.moves: list[Move] = []
        self.notes: dict[int, str] = {}  # by index into `moves`
        self._note_room = [MOST_NOTES, MOST_NOTES]  # characters that each bot may still note
        self.outcome: Outcome | None = None
        self.fault: ChargedFault | None = None
        self._translators = tuple(translate.Translator(self.game, seat) for seat in SEATS)
        self._news: tuple[list[tuple[Seat, Action]], ...] = ([], [])  # by seat, since its last question

    def ask(self) -> Ask | None:
        """The next question; None once the round is over. Applies decisions that have only one legal action."""
        while self.outcome is None:
            legal = self.game.legal_actions()
            if len(legal) > 1:
                return Ask(self.game.to_move, legal)
            self._apply(legal[0], None)
        return None

    def request(
        self, ask: Ask, number: int, points: messages.Points, clock: messages.Clock, *, with_legal: bool = True
    ) -> messages.Request:
        """The question as a message, with the events since the seat's last request. Call it once for each question."""
        news = self._news[ask.seat]
        message = messages.Request(
            id=number,
            phase=_PHASES[self.game.phase],
            legal=tuple([action.text for action in ask.legal]) if with_legal else (),
            state=self._translators[ask.seat].state(points),
            events=translate.events(news, ask.seat),
            clock=clock,
        )
        news.clear()
        return message

    def answer(self, text: str, ms: int, note: str | None = None) -> None:
        """Apply the move that the bot named. It forfeits the round if the move is illegal."""
        seat = self.game.to_move
        try:
            action = parse(text)
            self._apply(action, ms)
        except EngineError as error:
            self.forfeit(seat, Fault.ILLEGAL_MOVE, str(error))
            return
        if note is not None:
            self.notes[len(self.moves) - 1] = shortened(note, self._note_room[seat])
            self._note_room[seat] -= min(len(note), LONGEST_NOTE)

    def forfeit(self, seat: Seat, ending: Fault, detail: str, code: str | None = None) -> None:
        """End the round: the seat loses it by a fault. `code` is that of a protocol error."""
        self.fault = ChargedFault(seat, ending, detail, code)
        self.outcome = Outcome.of(other(seat), ending, self.game.owners)

    def nobody_started(self, detail: str, other_detail: str) -> None:
        """End the round without a winner, because neither bot started, for these reasons by seat."""
        self.fault = ChargedFault(SEATS[0], Fault.FAILED_TO_START, detail, other_detail=other_detail)
        self.outcome = Outcome.of(None, Fault.FAILED_TO_START, self.game.owners)

    def _apply(self, action: Action, ms: int | None) -> None:
        seat = self.game.to_move
        self.game.apply(action)
        self.moves.append(Move(seat, action.text, ms))
        for each in SEATS:
            self._news[each].append((seat, action))
        self.outcome = self.game.outcome
