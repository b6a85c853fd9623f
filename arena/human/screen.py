"""What the person at the table sees, and what each key does, independent of a terminal. Pure: a message or a key turns
a screen into a new one."""

import enum
import textwrap
from collections.abc import Sequence
from typing import Final

import attrs

from arena.human.choice import DONE, Choice
from arena.human.marks import newly_placed
from arena.human.view import opening, view_of
from arena.replay.board import WIDTH, board
from arena.replay.positions import Step
from arena.replay.screens import filled
from arena.support.text import cropped, padded, printable
from engine.phase import Phase
from engine.position import Position
from engine.ruleset import RuleSet
from protocol.messages import (
    Clock,
    Error,
    Event,
    MatchEnd,
    MatchStart,
    Request,
    RoundEnd,
    RoundStart,
    ServerMessage,
    Welcome,
)

_KEYS: Final = "arrows choose  Enter plays  c claim  ? why  u take back  : type  h help"
_MESSAGE_LINES: Final = 4
_NEWS_LINES: Final = 3
_LONGEST_MOVE: Final = 40  # characters that can be typed
_HELP: Final = """\
  left, right   choose another card, stone or deck
  up, down      go to the row above or below, such as from the card to its stone
  Enter         play what is shown behind >>
  c             claim the stone; before you do, the reason why the claim holds is
                shown
  ?             why the move is illegal
  :             type a move, such as  play r5 3  or  claim 4 ; Enter plays it
  u             take back your last decision; such a round is not rated
  h             this help, and back
  Ctrl-C        stop the match; the round is played again when you resume it

  You are below the stones. Cards are a colour (r o y g b p) and a value.
  mud is mud-fight, blind is blind-mans-bluff, shield is the shield-bearer.
  A star marks what is new. [3] is unclaimed, (3) is on its owner's side, and
  >3< is the one you chose. The arrow of [3]^ or [3]v points to the side that
  was complete first. Behind a ! is what you cannot choose now."""
_NO_TAKE_BACK: Final = "At a server nothing can be taken back: the opponent has seen it, and the round is rated."
_BASE: Final = RuleSet()
_RESULTS: Final = {"win": "You win", "loss": "You lose", "draw": "A draw:"}


class Stage(enum.Enum):
    """What the person waits for, or what the screen waits for."""

    WAITING = "waiting"  # for a match or a round
    CHOOSING = "choosing"
    THINKING = "thinking"  # the opponent
    OVER = "over"  # the round; Enter leads on
    ENDED = "ended"  # the match; Enter leaves


@attrs.frozen
class Move:
    """The person plays this move."""

    text: str


class Wish(enum.Enum):
    """What the person wants instead of a move."""

    TAKE_BACK = "take back"


@attrs.frozen(eq=False)
class TableScreen:
    name: str  # of the person
    opponent: str = ""
    rules: RuleSet = _BASE
    round: int = 0
    rounds: int = 0
    points: tuple[int, int] = (0, 0)  # of the match, the person's first
    stage: Stage = Stage.WAITING
    position: Position | None = None
    before: Position | None = None  # the position that was shown before; what is new since then gets a star
    choice: Choice | None = None  # while choosing
    clock: Clock | None = None  # of the decision
    news: tuple[str, ...] = ()
    hint: str = ""
    message: str = ""
    typed: str | None = None  # None unless a move is being typed
    help: bool = False
    decided: int = 0  # decisions of the person in this round
    kept: int = 0  # decisions that stay when the round is led back to one of them
    at_server: bool = False  # the opponent is not ours: nothing is taken back, and nobody waits for us

    # What the server says

    def told(self, message: ServerMessage) -> "TableScreen":
        """The screen after a message that is not a request. Raises EngineError if it cannot come from a round."""
        match message:
            case Welcome():
                return attrs.evolve(self, name=message.name)
            case MatchStart():
                rules = RuleSet.named(message.rules)
                return attrs.evolve(self, opponent=message.opponent, rules=rules, rounds=message.rounds)
            case RoundStart():
                return self._round_started(message)
            case RoundEnd():
                return self._round_over(message)
            case MatchEnd():
                return self._match_over(message)
            case Error():
                return attrs.evolve(self, message=printable(message.message))
        return self

    def _round_started(self, start: RoundStart) -> "TableScreen":
        begins = "You begin." if start.first == "you" else f"{self._them} begins."
        result = self.news[-1:] if self.at_server and self.round else ()
        return attrs.evolve(
            self,
            round=start.round,
            points=(start.points.yours, start.points.theirs),
            stage=Stage.THINKING,
            position=opening(self.rules, start),
            before=None,
            choice=None,
            news=(*result, begins),
            message="",
            decided=self.kept,
            kept=0,
        )

    def asked(self, request: Request) -> "TableScreen":
        """The screen for a decision. Raises EngineError if the request cannot come from a round."""
        view = view_of(self.rules, request)
        choice = Choice(view)
        news = [f"{self._them}: {', '.join(moves)}" for moves in _by_opponent(request.events)]
        return attrs.evolve(
            self,
            stage=Stage.CHOOSING,
            position=view.position,
            before=self.position,
            choice=choice,
            clock=request.clock,
            news=tuple(news[-_NEWS_LINES:]) or self.news,
            hint="",
            message=self._reason(choice),
            typed=None,
        )

    def _round_over(self, end: RoundEnd) -> "TableScreen":
        ours, theirs = end.points.yours, end.points.theirs
        result = f"{_RESULTS[end.result]} the round ({end.ending}), points {ours} - {theirs}."
        return attrs.evolve(
            self._idle(Stage.OVER, result.replace(": the", " in the")),
            points=(self.points[0] + ours, self.points[1] + theirs),
        )

    def _match_over(self, end: MatchEnd) -> "TableScreen":
        result = f"{_RESULTS[end.result]} the match, points {end.points.yours} - {end.points.theirs}."
        return attrs.evolve(
            self._idle(Stage.ENDED, result.replace(": the", " in the")), points=(end.points.yours, end.points.theirs)
        )

    def _idle(self, stage: Stage, *news: str) -> "TableScreen":
        return attrs.evolve(
            self, stage=stage, choice=None, clock=None, hint="", typed=None, kept=0, news=(*self.news, *news)
        )

    @property
    def _them(self) -> str:
        return cropped(printable(self.opponent), 24)

    # What the person presses

    def press(self, key: str) -> "TableScreen | Move | Wish":
        if self.typed is not None:
            return self._type(key)
        if key == "h" or (self.help and key in ("escape", "q", "enter")):
            return attrs.evolve(self, help=not self.help)
        if self.stage in (Stage.OVER, Stage.ENDED):
            gone_on = attrs.evolve(self, stage=Stage.WAITING, message="")
            return gone_on if key in ("enter", " ", "q") else self
        if key == "q":
            return attrs.evolve(self, message="Ctrl-C stops the match.")
        if key == "u":
            return self._taken_back()
        if self.choice is None:
            return self
        match key:
            case "left" | "right" | "up" | "down" | "tab":
                return self._choosing(self.choice.pressed(key))
            case "enter":
                return self._play(self.choice.move)
            case "c":
                return self._claim(self.choice)
            case "?":
                return self._explained(self.choice)
            case ":":
                return attrs.evolve(self, typed="", message="")
        return self

    def _choosing(self, choice: Choice) -> "TableScreen":
        return attrs.evolve(self, choice=choice, message=self._reason(choice), help=False)

    def _reason(self, choice: Choice) -> str:
        """For a claim that holds, why it does."""
        why = choice.view.why_claim(choice.move, self._them)
        return f"{choice.move}: {why}" if why else ""

    def _play(self, move: str) -> "TableScreen | Move":
        assert self.choice is not None
        if move in self.choice.view.legal:
            return Move(move)
        why = self.choice.view.why_not(move) or "the server does not allow it now"
        return attrs.evolve(self, typed=None, message=f"{move}: {printable(why)}")

    def _claim(self, choice: Choice) -> "TableScreen | Move":
        """Claim the chosen stone. In another phase, or if `done` is chosen, say what to do instead."""
        if choice.view.phase is Phase.CLAIM and choice.move == DONE:
            return self._choosing(choice.with_first(choice.view.legal[0].split()[-1]))
        return self._play(choice.move if choice.view.phase is Phase.CLAIM else f"claim {choice.stone or 1}")

    def _explained(self, choice: Choice) -> "TableScreen":
        move = choice.move
        if move not in choice.view.legal:
            explained = self._play(move)
            assert isinstance(explained, TableScreen)
            return explained
        return attrs.evolve(self, message=self._reason(choice) or f"{move}: this is legal; Enter plays it")

    def _taken_back(self) -> "TableScreen | Wish":
        if self.at_server:
            return attrs.evolve(self, message=_NO_TAKE_BACK)
        if self.stage is not Stage.CHOOSING:
            return attrs.evolve(self, message="Wait until it is your turn; then you can take back.")
        if not self.decided:
            return attrs.evolve(self, message="There is no decision of yours to take back in this round.")
        return Wish.TAKE_BACK

    def _type(self, key: str) -> "TableScreen | Move | Wish":
        assert self.typed is not None
        match key:
            case "enter":
                return self._play(" ".join(self.typed.split())) if self.typed.strip() else self._typing(None)
            case "escape":
                return self._typing(None)
            case "backspace":
                return self._typing(self.typed[:-1] if self.typed else None)
        return self._typing((self.typed + key)[:_LONGEST_MOVE]) if len(key) == 1 and key.isprintable() else self

    def _typing(self, typed: str | None) -> "TableScreen":
        return attrs.evolve(self, typed=typed)

    # What the person did

    def played(self, move: str) -> "TableScreen":
        """The screen after the person's move, until the server says more."""
        assert self.choice is not None
        view = self.choice.view
        why = view.why_claim(move, self._them)
        return attrs.evolve(
            self._idle(Stage.THINKING),
            position=view.after(move),
            before=self.position,
            news=(f"You: {move}; {why}" if why else f"You: {move}",),
            message="",
            decided=self.decided + 1,
        )

    def took_back(self) -> "TableScreen":
        return attrs.evolve(self._idle(Stage.WAITING), kept=self.decided - 1, news=(), message="Taken back.")

    # How it looks

    def lines(self, width: int, height: int, seconds: float = 0.0) -> list[str]:
        """As many lines as the window has. `seconds` have passed since the decision was asked."""
        below = [] if self.help else self._below()
        body = [self._title(), *(_HELP.splitlines() if self.help else self._board())]
        space = max(0, height - 1 - len(below))
        if not self.help:
            wrapped = [line for news in self.news for line in _wrapped(news)]
            room = max(0, space - len(body))
            body += wrapped[-room:] if room else []
        body = body[:space] + [""] * (space - len(body))
        return filled([*body, *below], self._status(seconds), width, height)

    def _title(self) -> str:
        if not self.rounds:
            return f"{printable(self.name)}: waiting for a match"
        left = f"Round {self.round} of {self.rounds}  {self.rules.name}  {printable(self.name)} - {self._them}"
        right = f"points {self.points[0]} - {self.points[1]}"
        return f"{padded(left, WIDTH - len(right) - 2)}  {right}"

    def _board(self) -> list[str]:
        if self.position is None:
            return []
        moved = newly_placed(self.before, self.position)
        lines = board((self.name, self.opponent), Step(number=0, position=self.position, movements=moved), steady=True)
        stone = self.choice.stone if self.choice is not None else None
        return lines if stone is None else [line.replace(f"[{stone}]", f">{stone}<") for line in lines]

    def _below(self) -> list[str]:
        """What the person decides, and what there is to know about it."""
        about = [line for text in (self.hint, self.message) if text for line in _wrapped(text)[:_MESSAGE_LINES]]
        match self.stage:
            case Stage.CHOOSING:
                return [*self._chooser(), *about]
            case Stage.THINKING:
                return [*about, f"{self._them} decides …"]
            case Stage.OVER if not self.at_server:
                return [*about, "Enter: the next round" if self.round < self.rounds else "Enter: leave"]
            case Stage.ENDED if not self.at_server:
                return [*about, "Enter: leave"]
            case _:
                return [*about, "waiting …"]

    def _chooser(self) -> list[str]:
        assert self.choice is not None
        rows = []
        for place, slot in enumerate(self.choice.slots):
            options = [
                f"[{option}]" if option == slot.chosen else f"!{option}" if option in slot.closed else option
                for option in slot.options
            ]
            rows.append(_row("> " if place == self.choice.focus else "  ", slot.label, options))
        if self.typed is not None:
            return [*rows, f">> {self.typed}_"]
        legal = self.choice.move in self.choice.view.legal
        return [*rows, f">> {self.choice.move}" + ("" if legal else "   (illegal; ? says why)")]

    def _status(self, seconds: float) -> str:
        if self.typed is not None:
            return "type a move, then Enter; Escape leaves"
        times = _times(self.clock, seconds) if self.clock is not None else ""
        return f"{times}{_KEYS}"


def _row(mark: str, label: str, options: Sequence[str]) -> str:
    """The options of a slot in one line; those far from the chosen one are left out if there are too many."""
    start = f"{mark}{label:<7} "
    chosen = next(place for place, option in enumerate(options) if option.startswith("["))
    first = 0
    while first < chosen and len(start + " ".join(options[first : chosen + 1])) > WIDTH - 8:
        first += 1
    left_out = "… " if first else ""
    return cropped(start + left_out + " ".join(options[first:]), WIDTH)


def _times(clock: Clock, seconds: float) -> str:
    limits = [ms / 1000 for ms in (clock.move_ms, clock.bank_ms) if ms is not None]
    return f"{max(0.0, min(limits) - seconds):.0f} s left  " if limits else ""


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ")


def _by_opponent(events: Sequence[Event]) -> list[list[str]]:
    """The opponent's moves since the last decision, in groups of those that follow each other."""
    groups: list[list[str]] = []
    ours = True
    for event in events:
        if event.by == "opponent":
            if ours:
                groups.append([])
            groups[-1].append(printable(event.move))
        ours = event.by == "you"
    return groups
