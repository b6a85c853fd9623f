"""What is on the screen and what each key does, independent of a terminal. Pure: a key turns a screen into a new
one."""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from arena.journal.index import ListedRound
from arena.replay import board, opinion
from arena.replay.analysis import Analysis
from arena.replay.positions import Replay, ReplayStep
from arena.replay.seat_view import one_seats_view
from arena.support.text import counted, cropped, padded, printable
from engine.cards import SEATS

_BOARD_KEYS: Final = "arrows step  c claim  m mistake  e curve  v view  ? help  q quit"
_WORTH_WORDS: Final = 0.005  # the least loss of a decision that is worth a sentence: a half per cent
_LIST_KEYS: Final = "arrows or a number, Enter: open   q: quit"
_LEAVE: Final = ("q", "escape", "ctrl-c", "ctrl-d")
_HELP: Final = """\
  right, space, n   next position            left, backspace, p   previous one
  down, pagedown    next end of a turn       up, pageup           previous one
  c                 next claim               C                    previous one
  g, home           the deal                 G, end               the end
  number, Enter     that position            v                    next view
  m                 next marked decision     M                    previous one
  e                 the curve, and back
  ?                 this help, and back      q, escape            quit

  Views: both hands, then what seat 0 could see, then what seat 1 could see.

  Cards are a colour (r o y g b p) and a value. mud is mud-fight, blind is
  blind-mans-bluff, shield is the shield-bearer. A star marks what just moved.
  [3] is unclaimed, (3) is on its owner's side. The arrow of [3]^ or [3]v
  points to the side that was complete first.
  > shows who decides next, and what.
  The curve is what seat 0, or the seat of the view, can expect in the opinion
  of the bundled counting bot; ! marks the decisions that lost most by it."""


@attrs.frozen
class BoardScreen:
    """One round. `views` are the replay with both hands, and as each seat sees it."""

    views: tuple[Replay, ...]
    view: int = 0
    index: int = 0
    typed: str = ""
    help: bool = False
    curve: bool = False
    analyses: tuple[Analysis, ...] = ()  # one for each view; empty until the round is evaluated

    @staticmethod
    def of(replay: Replay, view: int | None = None) -> "BoardScreen":
        """The screen of a replay. `view` is the seat whose view is shown first, or None for both hands."""
        views = (replay, *(one_seats_view(replay, seat) for seat in SEATS))
        return BoardScreen(views, 0 if view is None else 1 + view)

    def evaluated(self, analysis: Analysis) -> "BoardScreen":
        """The same screen with the evaluation of its replay."""
        return attrs.evolve(self, analyses=(analysis, *(analysis.seen_by(seat) for seat in SEATS)))

    @property
    def replay(self) -> Replay:
        return self.views[self.view]

    @property
    def step(self) -> ReplayStep:
        return self.replay.steps[self.index]

    @property
    def analysis(self) -> Analysis | None:
        return self.analyses[self.view] if self.analyses else None

    def lines(self, width: int, height: int) -> list[str]:
        body = [board.title(self.replay, self.step), ""]
        if self.help:
            return filled(body + _HELP.splitlines(), self._status(), width, height)
        if self.curve and self.analysis:
            body += opinion.curve_page(self.analysis, self.replay, self.index)
            return filled(body, self._status(), width, height)
        body += board.board(self.replay.bots, self.step, steady=True)
        words = [*board.happened(self.replay, self.step), *self._verdict()]
        space = height - 1 - len(body)
        if space < len(words) + 1:
            body.remove("")  # the first empty line, because the cards are more important
        else:
            body.append("")
        body += words
        curve = self._small_curve()
        if len(body) + len(curve) < height:
            body += [""] * (height - 1 - len(body) - len(curve)) + curve
        return filled(body, self._status(), width, height)

    def _verdict(self) -> list[str]:
        """What the evaluator thinks of the decision that led here, if it was one that lost something."""
        decision = self.analysis.at(self.step.number) if self.analysis else None
        if self.analysis is None or decision is None or decision.loss < _WORTH_WORDS:
            return []
        return opinion.wrapped(opinion.verdict(self.analysis, decision))

    def _small_curve(self) -> list[str]:
        if self.analysis is None:
            return []
        marks = [each.number for each in self.analysis.worst()]
        return opinion.small_curve(self.analysis.curve(self.replay.view), marks, board.WIDTH - 8, self.index)

    def _status(self) -> str:
        if self.typed:
            return f"position {self.typed}, then Enter"
        return f"{self._view_text()}   {_BOARD_KEYS}"

    def _view_text(self) -> str:
        seat = self.replay.view
        return "both hands" if seat is None else f"seat {seat}'s view"

    def press(self, key: str) -> "BoardScreen | None":
        """The screen after a key was pressed; None to quit."""
        if key in _LEAVE:
            above = self.help or self.typed or self.curve
            return attrs.evolve(self, help=False, typed="", curve=False) if above else None
        if key.isdecimal() and len(key) == 1:
            return attrs.evolve(self, typed=(self.typed + key)[-6:])
        if key == "enter" and self.typed:
            return self._at(int(self.typed))
        if key == "backspace" and self.typed:
            return attrs.evolve(self, typed=self.typed[:-1])
        if key == "?":
            return attrs.evolve(self, help=not self.help, typed="")
        if key == "v":
            return attrs.evolve(self, view=(self.view + 1) % len(self.views), typed="")
        if key == "e":
            return attrs.evolve(self, curve=not self.curve, help=False, typed="")
        if key in ("m", "M"):
            return self._at_mistake(forwards=key == "m")
        if key in _MOVES:
            return self._at(_MOVES[key](self.replay.steps, self.index))
        return self

    def _at_mistake(self, forwards: bool) -> "BoardScreen":
        marks = [each.number for each in self.analysis.worst()] if self.analysis else []
        there = [n for n in marks if n > self.index] if forwards else [n for n in marks[::-1] if n < self.index]
        return self._at(there[0] if there else self.index)

    def _at(self, index: int) -> "BoardScreen":
        last = len(self.replay.steps) - 1
        return attrs.evolve(self, index=min(max(index, 0), last), typed="", help=False)


def _turn_ends(steps: Sequence[ReplayStep]) -> list[int]:
    """The indices of the last position of each turn: the board as the other player finds it."""
    return [at for at, step in enumerate(steps) if at + 1 == len(steps) or steps[at + 1].turn != step.turn]


def _next_turn(steps: Sequence[ReplayStep], index: int) -> int:
    return next((at for at in _turn_ends(steps) if at > index), index)


def _previous_turn(steps: Sequence[ReplayStep], index: int) -> int:
    return next((at for at in reversed(_turn_ends(steps)) if at < index), index)


def _next_claim(steps: Sequence[ReplayStep], index: int) -> int:
    return next((at for at in range(index + 1, len(steps)) if steps[at].claim), index)


def _previous_claim(steps: Sequence[ReplayStep], index: int) -> int:
    return next((at for at in range(index - 1, -1, -1) if steps[at].claim), index)


_MOVES: Final[dict[str, Callable[[Sequence[ReplayStep], int], int]]] = {
    **dict.fromkeys(("right", " ", "n", "enter"), lambda _, index: index + 1),
    **dict.fromkeys(("left", "backspace", "p"), lambda _, index: index - 1),
    **dict.fromkeys(("down", "pagedown"), _next_turn),
    **dict.fromkeys(("up", "pageup"), _previous_turn),
    "c": _next_claim,
    "C": _previous_claim,
    **dict.fromkeys(("g", "home"), lambda _, __: 0),
    **dict.fromkeys(("G", "end"), lambda steps, _: len(steps) - 1),
}


@attrs.frozen
class ListScreen:
    """A list of rounds to choose from."""

    rounds: tuple[ListedRound, ...]
    cursor: int = 0
    typed: str = ""
    message: str = ""  # why the last choice could not be opened, if so
    page: int = 21  # rows that fit

    def fitted(self, height: int) -> "ListScreen":
        return attrs.evolve(self, page=max(1, height - 3))

    def lines(self, width: int, height: int) -> list[str]:
        top = self.cursor // self.page * self.page
        name_width = min(max(5, (width - 64) // 2), 30)
        bots = 2 * name_width + 4
        body = ["   " + _row(("", "Round", "Bots (* won)", "Rules", "Ending", "Points", "Moves"), bots)]
        for at, each in enumerate(self.rounds[top : top + self.page], top):
            mark = " > " if at == self.cursor else "   "
            body.append(mark + _row(_cells(at + 1, each, name_width), bots))
        return filled([*body, ""], self._status(), width, height)

    def _status(self) -> str:
        if self.typed:
            return f"number {self.typed}, then Enter"
        return self.message or f"{counted(len(self.rounds), 'round')}   {_LIST_KEYS}"

    def press(self, key: str) -> "ListScreen | ListedRound | None":
        """The screen after a key was pressed; a round to open it; None to quit."""
        last = len(self.rounds) - 1
        steps = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": self.page, " ": self.page, "pageup": -self.page}
        steps |= {"home": -last, "g": -last, "end": last, "G": last}
        if key in _LEAVE:
            return attrs.evolve(self, typed="") if self.typed else None
        if key.isdecimal() and len(key) == 1:
            return attrs.evolve(self, typed=(self.typed + key)[-7:], message="")
        if key == "backspace":
            return attrs.evolve(self, typed=self.typed[:-1])
        if key == "enter":
            return self._chosen()
        if key in steps:
            return attrs.evolve(self, cursor=min(max(self.cursor + steps[key], 0), last), typed="", message="")
        return self

    def _chosen(self) -> "ListScreen | ListedRound":
        number = int(self.typed) if self.typed else self.cursor + 1
        if 1 <= number <= len(self.rounds):
            return self.rounds[number - 1]
        message = f"there is no round {number}; rounds are numbered 1 to {len(self.rounds)}"
        return attrs.evolve(self, typed="", message=message)


def _cells(number: int, each: ListedRound, name_width: int) -> tuple[str, ...]:
    names = (cropped(printable(name), name_width) for name in each.bots)
    return (
        str(number),
        printable(each.address),
        " - ".join(name + "*" * (each.winner == seat) for seat, name in enumerate(names)),
        printable(each.rules),
        each.ending.value,
        f"{each.points[0]} - {each.points[1]}",
        str(each.moves),
    )


def _row(cells: tuple[str, ...], bots_width: int) -> str:
    number, address, bots, rules, ending, points, moves = cells
    shown = (padded(address, 11), padded(bots, bots_width), padded(rules, 9), padded(ending, 14), padded(points, 6))
    return f"{number:>5} {' '.join(shown)} {moves:>5}"


def filled(body: list[str], status: str, width: int, height: int) -> list[str]:
    """Exactly as many lines as the window has: what does not fit is cut off, and the last line is the status."""
    body = (body + [""] * height)[: max(0, height - 1)]
    return [cropped(line, width) for line in (*body, status)]
