"""Texts of unknown origin made fit for a terminal: bots choose their names and notes, journals can be edited. Pure."""

import re

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"


def printable(text: str) -> str:
    """The same text with everything written out that could move the cursor, change the direction or hide something."""
    return text if text.isprintable() else "".join(char if char.isprintable() else _escaped(char) for char in text)


def printable_lines(text: str) -> str:
    """The same for a text of several lines: newlines and tabs stay."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _escaped(char: str) -> str:
    return " " if char in "\t\n" else ascii(char)[1:-1]


def cropped(text: str, width: int) -> str:
    """At most so many columns wide. Wide characters count as two."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def padded(text: str, width: int) -> str:
    """Exactly so many columns wide."""
    return set_cell_size(cropped(text, width), width)


def counted(number: int, thing: str) -> str:
    """The number with its noun: 1 round, 2 rounds."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def folder_name(text: str) -> str:
    """A text as a file name: bots may be called anything."""
    return re.sub(r"[^\w.+-]", "_", text, flags=re.ASCII)[:80]
