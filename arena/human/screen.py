"""What the person who plays sees, and what each key does, independent of a terminal. Pure: a message or a key turns
a screen into a new one."""

import enum
from typing import Final

import attrs

from arena.human.choice import DONE, Choice, Cursor
from arena.human.view import DecisionView, last_view, opening, view_of
from arena.human.words import news_of, result_of_match, result_of_round
from arena.support.text import cropped, printable
from engine.phase import Phase
from engine.position import Position
from engine.ruleset import RuleSet
from protocol.messages import (
    Clock,
    Error,
    MatchEnd,
    MatchStart,
    Request,
    RoundEnd,
    RoundStart,
    ServerMessage,
    Welcome,
)

_NEWS_LINES: Final = 3
_LONGEST_MOVE: Final = 40  # characters that can be typed
_NO_TAKE_BACK: Final = "At a server nothing can be taken back: the opponent has seen it, and the round is rated."
_BASE: Final = RuleSet()
_YOU: Final = "You: "  # before the person's own moves
_NOT_RATED: Final = "Taken back; this round is not rated now."


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
class PlayScreen:
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
    cursor: Cursor = attrs.field(factory=Cursor)  # where the next choice begins
    clock: Clock | None = None  # of the decision
    news: tuple[str, ...] = ()
    hint: str = ""
    message: str = ""
    typed: str | None = None  # None unless a move is being typed
    help: bool = False
    decided: int = 0  # decisions of the person in this round
    kept: int | None = None  # while the round is led back to a decision: the decisions before it, which stay
    has_taken_back: bool = False  # in this round
    hints: bool = False
    at_server: bool = False  # the opponent is not ours: nothing is taken back, and nobody waits for us

    # What the server says

    def told(self, message: ServerMessage) -> "PlayScreen":
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

    def _round_started(self, start: RoundStart) -> "PlayScreen":
        if self.kept is not None:
            return attrs.evolve(self, stage=Stage.THINKING, decided=self.kept)
        begins = "You begin." if start.first == "you" else f"{self.them} begins."
        result = self.news if self.at_server and self.round else ()  # of the round before: nobody waited for Enter
        return attrs.evolve(
            self,
            round=start.round,
            points=(start.points.yours, start.points.theirs),
            stage=Stage.THINKING,
            position=opening(self.rules, start),
            before=None,
            choice=None,
            cursor=Cursor(),
            news=(*result, begins),
            message="",
            decided=0,
            has_taken_back=False,
        )

    def asked(self, request: Request) -> "PlayScreen":
        """The screen for a decision. Raises EngineError if the request cannot come from a round."""
        view = view_of(self.rules, request)
        choice = Choice.begun(view, self.cursor)
        return attrs.evolve(
            self,
            stage=Stage.CHOOSING,
            position=view.position,
            before=self.position,
            choice=choice,
            clock=request.clock,
            news=self._news_with(request, view),
            hint="",
            message=self._reason(choice),
            typed=None,
            kept=None,
        )

    def _news_with(self, request: Request, view: DecisionView) -> tuple[str, ...]:
        decided = bool(self.decided) and self.kept is None
        new = news_of(view, request.events, self.them, decided=decided)
        if self.kept is not None:  # the events are those of the whole round
            return (*[each for each in new if each.startswith(f"{self.them}: ")][-1:], _NOT_RATED)
        if self.at_server and not self.decided:
            return (*self.news, *new)
        return tuple(new[-_NEWS_LINES:]) or self.news

    def _round_over(self, end: RoundEnd) -> "PlayScreen":
        points = self.points[0] + end.points.yours, self.points[1] + end.points.theirs
        over = attrs.evolve(self._idle(Stage.OVER), points=points)
        if end.state is not None and self.kept is None:
            view = last_view(self.rules, end.state)
            has_decided = self.decided > 0 and self.stage is Stage.THINKING
            last = news_of(view, end.events, self.them, decided=has_decided)
            over = attrs.evolve(over, position=view.position, before=self.position, news=(*self.news, *last))
        return attrs.evolve(over, news=(*over.news, result_of_round(end, self.them)))

    def _match_over(self, end: MatchEnd) -> "PlayScreen":
        points = end.points.yours, end.points.theirs
        news = (*self.news, result_of_match(end.result, points))
        return attrs.evolve(self._idle(Stage.ENDED), news=news, points=points)

    def _idle(self, stage: Stage) -> "PlayScreen":
        cursor = self.choice.left_at if self.choice is not None else self.cursor
        idle = attrs.evolve(self, stage=stage, choice=None, clock=None, hint="", typed=None, kept=None)
        return attrs.evolve(idle, cursor=cursor)

    @property
    def them(self) -> str:
        return cropped(printable(self.opponent), 24)

    # What the person presses

    def press(self, key: str) -> "PlayScreen | Move | Wish":
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
            case "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9":
                return self._choosing(self.choice.at_stone(key))
            case "enter":
                return self._play(self.choice.move)
            case "c":
                return self._claim(self.choice)
            case "?":
                return self._explained(self.choice)
            case ":":
                return attrs.evolve(self, typed="", message="")
        return self

    def _choosing(self, choice: Choice) -> "PlayScreen":
        return attrs.evolve(self, choice=choice, message=self._reason(choice), help=False)

    def _reason(self, choice: Choice) -> str:
        """For a claim that holds, why it does."""
        why = choice.view.why_claim(choice.move, self.them)
        return f"{choice.move}: {why}" if why else ""

    def _play(self, move: str) -> "PlayScreen | Move":
        assert self.choice is not None
        if move in self.choice.view.legal:
            return Move(move)
        return attrs.evolve(self, typed=None, message=printable(self.choice.view.refusal(move)))

    def _claim(self, choice: Choice) -> "PlayScreen | Move":
        """Claim the chosen stone. In another phase, or if `done` is chosen, say what to do instead."""
        if choice.view.phase is Phase.CLAIM and choice.move == DONE:
            return self._choosing(choice.with_first(choice.view.legal[0].split()[-1]))
        return self._play(choice.move if choice.view.phase is Phase.CLAIM else f"claim {choice.stone or 1}")

    def _explained(self, choice: Choice) -> "PlayScreen":
        move = choice.move
        if move not in choice.view.legal:
            explained = self._play(move)
            assert isinstance(explained, PlayScreen)
            return explained
        return attrs.evolve(self, message=self._reason(choice) or f"{move}: this is legal; Enter plays it")

    def _taken_back(self) -> "PlayScreen | Wish":
        if self.at_server:
            return attrs.evolve(self, message=_NO_TAKE_BACK)
        if self.stage is not Stage.CHOOSING:
            return attrs.evolve(self, message="Wait until it is your turn; then you can take back.")
        if not self.decided:
            return attrs.evolve(self, message="There is no decision of yours to take back in this round.")
        return Wish.TAKE_BACK

    def _type(self, key: str) -> "PlayScreen | Move | Wish":
        assert self.typed is not None
        match key:
            case "enter":
                return self._play(" ".join(self.typed.split())) if self.typed.strip() else self._typing(None)
            case "escape":
                return self._typing(None)
            case "backspace":
                return self._typing(self.typed[:-1] if self.typed else None)
        return self._typing((self.typed + key)[:_LONGEST_MOVE]) if len(key) == 1 and key.isprintable() else self

    def _typing(self, typed: str | None) -> "PlayScreen":
        return attrs.evolve(self, typed=typed)

    # What the person did

    def played(self, move: str) -> "PlayScreen":
        """The screen after the person's move, until the server says more."""
        assert self.choice is not None
        view = self.choice.view
        why = view.why_claim(move, self.them)
        turn = self.news[0] + ", " if self.news and self.news[0].startswith(_YOU) else _YOU
        return attrs.evolve(
            self._idle(Stage.THINKING),
            position=view.after(move),
            before=self.position,
            news=(f"{turn}{move} ({why})" if why else f"{turn}{move}",),
            message="",
            decided=self.decided + 1,
        )

    def took_back(self) -> "PlayScreen":
        waiting = self._idle(Stage.WAITING)
        return attrs.evolve(waiting, kept=self.decided - 1, has_taken_back=True, news=(), message=_NOT_RATED)
