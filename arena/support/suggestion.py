"""What a mistyped word was probably meant to be. Pure."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The end of an error message that names the known word nearest to `word`; empty if none is near."""
    near = difflib.get_close_matches(word, known, n=1) if isinstance(word, str) else []
    return f"; did you mean {near[0]}?" if near else ""
