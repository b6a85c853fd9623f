"""Make untrusted text safe for a terminal: bots choose their names and notes, and users can edit journals. Pure."""

import re

ELLIPSIS = "…"


def printable(text: str) -> str:
    """`text` with every character escaped that could move the cursor, change the writing direction or hide text."""
    return text if text.isprintable() else "".join(char if char.isprintable() else _escaped(char) for char in text)


def visible(text: str) -> str:
    """Like `printable`, but newlines and tabs are escaped as well: in a command they make a difference."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def printable_lines(text: str) -> str:
    """Like `printable`, but for text of several lines: newlines and tabs stay."""
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))


def _escaped(char: str) -> str:
    return " " if char in "\t\n" else ascii(char)[1:-1]


def cropped(text: str, width: int) -> str:
    """`text` shortened to at most `width` columns, ending in an ellipsis if cut. Wide characters count as two."""
    from rich.cells import cell_len, set_cell_size  # few commands need it at their start

    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def padded(text: str, width: int) -> str:
    """`text` shortened or filled with spaces to exactly `width` columns."""
    from rich.cells import set_cell_size

    return set_cell_size(cropped(text, width), width)


def with_short_words(text: str) -> str:
    """`text` without the middle of words that nobody reads to their end, such as a name of 100,000 characters."""
    return re.sub(r"(\S{100})\S{400,}(\S{20})", rf"\1{ELLIPSIS}\2", text)


def counted(number: int, thing: str, things: str | None = None) -> str:
    """The number with its noun: 1 round, 2 rounds. `things` is the plural, where it takes more than an s."""
    return f"{number} {thing if number == 1 else things or thing + 's'}"


def folder_name(text: str) -> str:
    """`text` as a safe file name, because bot names may contain any character."""
    return re.sub(r"[^\w.+-]", "_", text, flags=re.ASCII)[:80]
