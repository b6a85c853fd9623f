"""`arena show`: parse, call, print."""

from typing import TextIO

import click

from arena.cli.painting import color_option, echo_painted, painter
from arena.cli.shared import InputError
from arena.replay.position_report import NAMES, position_report, title_of
from arena.support.text import printable
from engine.cards import SEATS
from engine.errors import PositionError
from engine.position_text import position_from_text, with_line

_LONGEST = 64 * 1024  # characters; the longest position has about a thousand
_SEATS = {name: seat for seat in SEATS for name in (str(seat), NAMES[seat])}


@click.command()
@click.argument("file", metavar="POSITION-FILE", type=click.File(encoding="utf-8"))
@click.option(
    "--seat", metavar="0|1|you|opponent", type=click.Choice(list(_SEATS)), help="Show only what this seat sees."
)
@color_option
def show(file: TextIO, seat: str | None, color: bool | None) -> None:
    """Draw a position on a board, with its legal moves and the referee's answer to each claim.

    POSITION-FILE is a text such as `arena replay JOURNAL ROUND --at N --position` prints; - reads it from stdin.
    SPEC.md describes the text; most of its lines can be left out. Seat 0, "you", sits below. An error message names
    the line of a mistake, and the exit status is 2.

    \b
    Examples:
      arena show position.txt
      arena replay cup.jsonl 1.1-2.3 --at 17 --position | arena show -
      arena show position.txt --seat opponent
    """
    name = printable(file.name)
    text = _read(file, name)
    try:
        shown = position_report(position_from_text(text), None if seat is None else _SEATS[seat], title_of(text))
    except PositionError as error:
        located = with_line(error, text)
        where = name if located.line is None else f"{name}:{located.line}"
        raise InputError(f"{where}: {printable(located.problem)}") from None
    echo_painted(shown, painter(color))


def _read(file: TextIO, name: str) -> str:
    try:
        text = file.read(_LONGEST + 1)
    except UnicodeDecodeError:
        raise InputError(f"{name}: this is not UTF-8 text") from None
    if len(text) > _LONGEST:
        raise InputError(f"{name}: this is too long for a position: more than {_LONGEST} characters")
    return text
