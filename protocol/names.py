"""Which names bots may have, and which names are the same. Pure."""

import re
from collections.abc import Iterable
from typing import Annotated, Final

from msgspec import Meta

_LONGEST: Final = 32
_CHARACTERS: Final = "A-Za-z0-9._+-"
_END: Final = r"$(?!\n)"  # Python's $ alone also matches before a final newline
NAME_RULE: Final = f"1 to {_LONGEST} ASCII letters, digits and . _ - +"
Name = Annotated[str, Meta(min_length=1, max_length=_LONGEST, pattern=f"^[{_CHARACTERS}]+{_END}")]


def name_problem(text: object) -> str | None:
    """Why `text` is not a valid name for a bot; None if it is valid."""
    if not isinstance(text, str):
        return "it is not a text"
    if not 1 <= len(text) <= _LONGEST:
        return f"it has {len(text)} characters"
    if wrong := re.search(f"[^{_CHARACTERS}]", text):
        return f"it has {wrong[0]!r} at position {wrong.start() + 1}"
    return None


def twin_of(name: str, others: Iterable[str]) -> str | None:
    """The first of `others` that is the same name, or None: names that differ only in case are the same."""
    return next((other for other in others if other.lower() == name.lower()), None)
