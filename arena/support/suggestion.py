"""What a mistyped word was probably meant to be. Pure."""

from collections.abc import Iterable


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The end of an error message that names the known word nearest to `word`; empty if none is near."""
    if not isinstance(word, str):
        return ""
    import difflib  # only mistakes need it

    near = difflib.get_close_matches(word, known)
    alike = [each for each in near if each[0] == word[0]]  # people rarely mistype the first letter
    return f"; did you mean {(alike or near)[0]}?" if near else ""
