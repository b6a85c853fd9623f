"""Find names that can be mistaken for each other. Pure, except that the table of similar characters is read once.

No library on PyPI computes the skeletons of Unicode Technical Standard 39 without a compiler, so the table of the
standard is included here (confusables.txt, written by tests/tools/confusables.py).
"""

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path


@cache
def _looks_like() -> dict[int, str]:
    table = Path(__file__).with_name("confusables.txt").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in table.splitlines()[1:])
    return {ord(char): target for target, chars in lines for char in chars}


def _look(text: str) -> str:
    return unicodedata.normalize("NFKD", text.translate(_looks_like())).casefold()


@lru_cache(8192)  # more than a server keeps: it compares each new name with all of them
def skeletons(name: str) -> frozenset[str]:
    """What the name looks like, as written and in lower case. Names that share a skeleton can be mistaken for each
    other.

    There are two because case and appearance disagree: the Cyrillic В looks like B, but its lower case в does not look
    like b; Ι and ι are one letter of Greek, but Ι looks like l. I and i count as one letter, and so do I, l and 1."""
    plain = unicodedata.normalize("NFKD", name)
    small = unicodedata.normalize("NFKD", plain.casefold())
    return frozenset(text.replace("i", "l") for text in (_look(_look(plain)), _look(small)))


def twin_of(name: str, others: Iterable[str]) -> str | None:
    """The first of `others` that `name` can be mistaken for, or None; `name` itself does not count."""
    mine = skeletons(name)
    return next((other for other in others if other != name and not mine.isdisjoint(skeletons(other))), None)
