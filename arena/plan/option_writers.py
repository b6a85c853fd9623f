"""Write the values of options as a tournament file has them, the reverse of option_readers.py. Pure."""

import enum
import json
import shlex
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from arena.plan.sandbox import Level

Writer = Callable[[Any], str]


def plain(value: Any) -> str:
    return json.dumps(value.value if isinstance(value, enum.Enum) else value, ensure_ascii=False)


def words(value: Sequence[str]) -> str:
    return plain(shlex.join(value))


def names(value: Sequence[str]) -> str:
    return plain(" ".join(value))


def seconds(ms: int) -> str:
    return f"{Decimal(ms) / 1000:f}"  # exact, and of any size: a journal can be edited


def time_control(value: Sequence[int]) -> str:
    return "+".join(map(seconds, value))


def number(value: float) -> str:
    """The shortest text that means this number: 10 instead of 10.0."""
    return short if float(short := f"{value:g}") == value else repr(value)


_UNITS: Final = ((2**30, "G"), (2**20, "M"), (2**10, "K"))


def size(count: int) -> str:
    """A number of bytes with its unit: 512M."""
    unit, sign = next(((unit, sign) for unit, sign in _UNITS if count and not count % unit), (1, ""))
    return plain(f"{count // unit}{sign}") if sign else str(count)


def sandbox_level(level: Level) -> str:
    return {Level.NONE: "false", Level.FULL: "true", Level.MISSING: '"try", but it was unavailable'}[level]
