"""How the person's screen looks: exactly as many lines as their window has. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from arena.human.marks import newly_placed
from arena.human.screen import PlayScreen, Stage
from arena.human.words import time_left, wrapped
from arena.replay.board import WIDTH, board
from arena.replay.positions import ReplayStep
from arena.replay.screens import filled
from arena.support.text import cropped, padded, printable
from engine.phase import Phase

_MESSAGE_LINES: Final = 4
_AT_HOME: Final = """\
  u             take back your last decision; such a round is not rated
  Ctrl-C        stop the match; the round is played again when you resume it"""
_AT_SERVER: Final = "  Ctrl-C        leave; you lose the round unless you connect again in time"
_ENOUGH: Final = 24  # lines; nearly always, and what terminals have
_HELP: Final = """\
  left, right   choose another card, stone or deck
  up, down      go to the row above or below, such as from the card to its stone
  1 to 9        choose that stone, from any row
  Enter         play what is shown behind >>
  c             claim the stone; the reason why the claim holds is shown before
  ?             why the move is illegal
  :             type a move, such as  play r5 3  or  claim 4 ; Enter plays it
  h             this help, and back
{more}

  You are below the stones. Cards are a colour (r o y g b p) and a value.
  mud is mud-fight, blind is blind-mans-bluff, shield is the shield-bearer.
  A star marks what is new. [3] is unclaimed, (3) is on its owner's side, and
  >3< is the one you chose. The arrow of [3]^ or [3]v points to the side that
  was complete first. Behind a ! is what you cannot choose now."""


def drawn(screen: PlayScreen, width: int, height: int, seconds: float = 0.0) -> list[str]:
    """As many lines as the window has. `seconds` have passed since the decision was asked."""
    below = [] if screen.help else _below(screen, width)[: max(3, height - 2)]  # a line is for the title
    space = max(0, height - 1 - len(below))
    title, table = _title(screen), _help(screen) if screen.help else _board(screen)
    if len(table) >= space and not screen.help:
        table = _board(screen, steady=False)
    if len(table) >= space or width < WIDTH:
        needed = max(_ENOUGH, len(table) + len(below) + 2)
        title = f"Too small: this needs {WIDTH} x {needed}, the window has {width} x {height}."
    news = [] if screen.help else [line for text in screen.news for line in wrapped(text, width)]
    room = max(space - 1 - len(table), _least_news(screen, width))
    news = news[-room:] if room else []
    above = [title, *table][: max(0, space - len(news))]
    body = [*above, *news][-space:] if space else []
    return filled([*body, *[""] * (space - len(body)), *below], _status(screen, seconds), width, height)


def _least_news(screen: PlayScreen, width: int) -> int:
    """How many lines of the news hide the board where there is no room for both: the result."""
    is_over = screen.stage in (Stage.OVER, Stage.ENDED) and not screen.help
    return len(wrapped(screen.news[-1], width)) if is_over and screen.news else 0


def _title(screen: PlayScreen) -> str:
    if not screen.rounds:
        return f"{printable(screen.name)}: waiting for a match"
    left = f"Round {screen.round} of {screen.rounds}  {screen.rules.name}  {printable(screen.name)} - {screen.them}"
    right = f"points {screen.points[0]} - {screen.points[1]}"
    right = f"not rated  {right}" if screen.hints or screen.has_taken_back else right
    return f"{padded(left, WIDTH - len(right) - 2)}  {right}"


def _help(screen: PlayScreen) -> list[str]:
    return _HELP.format(more=_AT_SERVER if screen.at_server else _AT_HOME).splitlines()


def _board(screen: PlayScreen, *, steady: bool = True) -> list[str]:
    if screen.position is None:
        return []
    moved = newly_placed(screen.before, screen.position)
    step = ReplayStep(number=0, position=screen.position, movements=moved)
    lines = board((screen.name, screen.opponent), step, steady=steady)
    stone = screen.choice.stone if screen.choice is not None else None
    return lines if stone is None else [line.replace(f"[{stone}]", f">{stone}<") for line in lines]


def _below(screen: PlayScreen, width: int) -> list[str]:
    """What the person decides, and what there is to know about it."""
    about = [line for text in (screen.hint, screen.message) if text for line in wrapped(text, width)[:_MESSAGE_LINES]]
    match screen.stage:
        case Stage.CHOOSING:
            return [*_chooser(screen), *about]
        case Stage.THINKING:
            return [*about, f"{screen.them} decides …"]
        case Stage.OVER if not screen.at_server:
            return [*about, "Enter: the next round" if screen.round < screen.rounds else "Enter: leave"]
        case Stage.ENDED if not screen.at_server:
            return [*about, "Enter: leave"]
        case _:
            return [*about, "waiting …"]


def _chooser(screen: PlayScreen) -> list[str]:
    assert screen.choice is not None
    rows = []
    for place, slot in enumerate(screen.choice.slots):
        options = [
            f"[{option}]" if option == slot.chosen else f"!{option}" if option in slot.closed else option
            for option in slot.options
        ]
        rows.append(_row("> " if place == screen.choice.focus else "  ", slot.label, options))
    if screen.typed is not None:
        return [*rows, f">> {screen.typed}_"]
    legal = screen.choice.move in screen.choice.view.legal
    return [*rows, f">> {screen.choice.move}" + ("" if legal else "   (illegal; ? says why)")]


def _status(screen: PlayScreen, seconds: float) -> str:
    if screen.typed is not None:
        return "type a move, then Enter; Escape leaves"
    times = time_left(screen.clock, seconds) if screen.clock is not None else ""
    return times + "  ".join(_keys(screen))


def _keys(screen: PlayScreen) -> Iterator[str]:
    """The keys that do something now."""
    if screen.help:
        yield "h back"
    elif screen.choice is not None:
        yield "arrows, 1-9 choose  Enter plays"
        yield from ["c claim"] * (screen.choice.view.phase is Phase.CLAIM)
        yield "? why"
        yield from ["u take back"] * (screen.decided > 0 and not screen.at_server)
        yield ": type  h help"
    else:
        yield "h help"
    yield "Ctrl-C stop"


def _row(mark: str, label: str, options: Sequence[str]) -> str:
    """The options of a slot in one line; those far from the chosen one are left out if there are too many."""
    start = f"{mark}{label:<7} "
    chosen = next(place for place, option in enumerate(options) if option.startswith("["))
    first = 0
    while first < chosen and len(start + " ".join(options[first : chosen + 1])) > WIDTH - 8:
        first += 1
    left_out = "… " if first else ""
    return cropped(start + left_out + " ".join(options[first:]), WIDTH)
