"""Browse rounds on the terminal: show a screen, wait for a key, show the next screen."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from arena.cli.painting import Paint
from arena.cli.terminal import Terminal
from arena.evaluation.counting import bundled_evaluator
from arena.journal.index import ListedRound
from arena.journal.lines import JournalError
from arena.replay.analysis import analyse
from arena.replay.load import load_replay
from arena.replay.positions import Replay
from arena.replay.screens import BoardScreen, ListScreen
from arena.support.text import counted
from engine.cards import Seat


def browse_round(replay: Replay, view: Seat | None, paint: Paint) -> None:
    """Shows one round until the user leaves it; `view` is the seat whose view is shown first, None for both hands."""
    with Terminal(paint) as terminal:
        _look_at(terminal, BoardScreen.of(replay, view))


def browse_list(journal: Path, rounds: Sequence[ListedRound], problems: Sequence[str], paint: Paint) -> None:
    """Shows the list, and each round that the user chooses from it."""
    screen = ListScreen(
        tuple(rounds), message=f"{counted(len(problems), 'problem')}: {problems[0]}" if problems else ""
    )
    with Terminal(paint) as terminal:
        while True:
            width, height = terminal.size()
            screen = screen.fitted(height)
            terminal.show(screen.lines(width, height))
            match screen.press(terminal.key()):
                case ListScreen() as screen:
                    pass
                case ListedRound() as opened:
                    message = _open(terminal, journal, opened)
                    screen = attrs.evolve(screen, cursor=rounds.index(opened), typed="", message=message)
                case None:
                    return


def _open(terminal: Terminal, journal: Path, opened: ListedRound) -> str:
    """Shows a round of the list. Returns why it cannot be shown, or an empty text."""
    try:
        replay = load_replay(journal, opened.address)
    except JournalError as error:
        return str(error)
    _look_at(terminal, BoardScreen.of(replay))
    return ""


def _look_at(terminal: Terminal, screen: BoardScreen) -> None:
    """Shows one round until the user leaves it."""
    terminal.show(screen.lines(*terminal.size()))  # the user can look at the board while the round is evaluated
    shown: BoardScreen | None = screen.evaluated(analyse(screen.views[0], bundled_evaluator()))
    while shown is not None:
        terminal.show(shown.lines(*terminal.size()))
        shown = shown.press(terminal.key())
