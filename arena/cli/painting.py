"""Colours of what is printed: whether they are wanted, and how a text gets them."""

import os
import sys
from collections.abc import Callable

import click

from arena.replay.board import coloured

Paint = Callable[[str], str]  # adds colours to a line

color_option = click.option(
    "--color/--no-color", default=None, help="Colours, or none.  [on a terminal, unless NO_COLOR is set]"
)


def painter(color: bool | None) -> Paint:
    """`color` is what the option says; None leaves it to the terminal."""
    wanted = color if color is not None else sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return coloured if wanted else str


def echo_painted(text: str, paint: Paint) -> None:
    click.echo("\n".join(map(paint, text.split("\n"))), nl=False, color=True)
