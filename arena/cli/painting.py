"""Colours of printed text: whether the user wants them, and how they are added."""

import os
import sys
from collections.abc import Callable

import click

from arena.replay.board import coloured

Paint = Callable[[str], str]  # adds colours to a line

color_option = click.option(
    "--color/--no-color", default=None, help="With colours, or without.  [with, on a terminal, unless NO_COLOR is set]"
)


def painter(color: bool | None) -> Paint:
    """A function that adds colours, or leaves lines as they are. `color` is the option; None leaves the choice to the
    terminal."""
    wanted = color if color is not None else sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return coloured if wanted else str


def echo_painted(text: str, paint: Paint) -> None:
    """Prints `text` line by line through `paint`. Colours stay in a pipe too: `painter` has decided about them."""
    click.echo("\n".join(map(paint, text.split("\n"))), nl=False, color=True)
