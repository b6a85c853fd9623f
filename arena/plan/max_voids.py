"""How often a bot may be excused (option max-voids). Pure."""

from typing import Final, Literal

# A number, or a share of the rounds that the bot has finished.
MaxVoids = int | Literal["1%"]

SHARE: Final = "1%"
_LEAST: Final = 3  # of a share: a tournament of some rounds has stalls as well


def most_voids(max_voids: MaxVoids, rounds: int) -> int:
    """How often a bot may be excused that has finished this number of rounds."""
    return max(_LEAST, rounds // 100) if isinstance(max_voids, str) else max_voids


def in_words(max_voids: MaxVoids) -> str:
    return f"1% of its rounds, at least {_LEAST}" if isinstance(max_voids, str) else str(max_voids)
