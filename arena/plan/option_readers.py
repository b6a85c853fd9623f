"""Read the values of options, as they come from TOML or as texts from the command line.

Each reader returns the value that the arena works with, or raises ValueError that says what was expected. Pure, except
that `environment` and `beginning` look at the environment and at the clock.
"""

import contextlib
import math
import os
import re
import shlex
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from datetime import time as dt_time
from pathlib import Path
from typing import Any, Final

from arena.plan.max_voids import SHARE, MaxVoids
from arena.plan.sandbox import Level
from arena.plan.sprt import LARGEST_ELO
from arena.plan.time_control import ClockError, parse_tc
from arena.plan.tokens import is_token_hash
from arena.support.address import AddressError, parse_address
from arena.support.suggestion import did_you_mean
from engine.ruleset import RULE_SETS, RuleSet
from protocol.framing import MAX_LINE
from protocol.names import NAME_RULE, name_problem

Reader = Callable[[Any], Any]
_LARGEST: Final = 999_999_999


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text in quotes")
    return value


def whole_number(least: int) -> Reader:
    def read(value: Any) -> int:
        if isinstance(value, str) and re.fullmatch("[0-9]{1,100}", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"a whole number, {least} or more")
        if value > _LARGEST:
            raise ValueError(f"a whole number, {_LARGEST} or less")
        return value

    return read


def max_voids(value: Any) -> MaxVoids:
    if value == SHARE:
        return SHARE
    with contextlib.suppress(ValueError):
        return int(whole_number(0)(value))
    raise ValueError(f"a whole number, or {SHARE}")


def even_number(least: int, most: int) -> Reader:
    def read(value: Any) -> int:
        with contextlib.suppress(ValueError):
            if (found := int(whole_number(least)(value))) <= most and found % 2 == 0:
                return found
        raise ValueError(f"an even number from {least} to {most}")

    return read


def _number(value: Any) -> float:
    """A finite number. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not math.isfinite(found := float(value)):
        raise ValueError("a number")
    return found


def elo(value: Any) -> float:
    with contextlib.suppress(ValueError, OverflowError):
        if abs(found := _number(value)) <= LARGEST_ELO:
            return found
    raise ValueError(f"a number from -{LARGEST_ELO} to {LARGEST_ELO}")


def probability(value: Any) -> float:
    with contextlib.suppress(ValueError, OverflowError):
        if 0 < (found := _number(value)) < 1:
            return found
    raise ValueError("a number between 0 and 1, such as 0.05")


def time_limit(value: Any) -> int | None:
    """A limit given in seconds, as milliseconds; None means no limit."""
    if value == "none":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1
    if isinstance(value, bool) or not 0 < seconds < 1e6:
        raise ValueError('a number of seconds, such as 0.5, or "none"')
    return round(seconds * 1000)


def seconds(value: Any) -> float:
    with contextlib.suppress(ValueError):
        if (ms := time_limit(value)) is not None:
            return ms / 1000
    raise ValueError("a number of seconds, such as 30")


def seconds_or_zero(value: Any) -> float:
    return 0.0 if value in (0, "0") and not isinstance(value, bool) else seconds(value)


def line_length(value: Any) -> int:
    with contextlib.suppress(ValueError):
        if 512 <= (length := int(whole_number(1)(value))) <= MAX_LINE:
            return length
    raise ValueError(f"a number of bytes from 512 to {MAX_LINE}")


def buffer_size(value: Any) -> int:
    return min(size(value), 1 << 30)  # more than any system gives to a socket


def path(value: Any) -> Path:
    return Path(text(value))


def yes_or_no(value: Any) -> bool:
    meanings = {"true": True, "yes": True, "false": False, "no": False}
    if isinstance(value, str) and value in meanings:
        return meanings[value]
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def sandbox_level(value: Any) -> Level:
    if value == "try":
        return Level.TRY
    try:
        return Level.FULL if yes_or_no(value) else Level.NONE
    except ValueError:
        raise ValueError('true, false or "try"') from None


def scratch_size(value: Any) -> int:
    with contextlib.suppress(ValueError):
        if 2**16 <= (found := size(value)) <= 2**32:
            return found
    raise ValueError("a size from 64K to 4G, such as 16M")


def user_name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("the name of a user")
    return value


def paths(value: Any) -> tuple[Path, ...]:
    words = command_words(value)
    if not all(words):
        raise ValueError("paths that are not empty")
    return tuple(map(Path, words))


def patterns(value: Any) -> tuple[str, ...]:
    words = command_words(value)
    if not all(words):
        raise ValueError("patterns that are not empty, such as *.py")
    return words


def one_of(choices: Iterable[Any]) -> Reader:
    by_name = {choice.value: choice for choice in choices}

    def read(value: Any) -> Any:
        if value not in by_name:
            raise ValueError(" or ".join(by_name))
        return by_name[value]

    return read


def rule_set(value: Any) -> RuleSet:
    if not isinstance(value, str) or value not in RULE_SETS:
        raise ValueError(", ".join(RULE_SETS) + did_you_mean(value, RULE_SETS))
    return RULE_SETS[value]


def seed(value: Any) -> str:
    found = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
    if not found:
        raise ValueError("a text; without a seed the deals come from a secret")
    return found


def bot_name(value: Any) -> str:
    if problem := name_problem(value):
        raise ValueError(f"{NAME_RULE} ({problem})")
    return str(value)


def command_words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise ValueError(f"a command line ({error})") from None
    if not isinstance(value, list) or not all(isinstance(word, str) and "\0" not in word for word in value):
        raise ValueError("a text, or a list of texts")
    return tuple(value)


def environment(value: Any) -> tuple[tuple[str, str], ...]:
    """Names with their values. A list may hold a name alone, which gets the value that it has in our own environment.
    A text may not: on the command line a forgotten value would pass on a variable unnoticed."""
    if isinstance(value, str) and (alone := [word for word in command_words(value) if word and "=" not in word]):
        name = alone[0]
        raise ValueError(f'{name}=VALUE, or, to pass on your own {name}, a tournament file with env = ["{name}"]')
    if isinstance(value, str | list):
        words = [word.partition("=") for word in command_words(value)]
        if missing := [name for name, equals, _ in words if not equals and name not in os.environ]:
            raise ValueError(f"{missing[0]} to be set in the environment of arena, or {missing[0]}=VALUE")
        value = {name: given if equals else os.environ[name] for name, equals, given in words}
    if not isinstance(value, dict) or not all(_is_variable(name, given) for name, given in value.items()):
        raise ValueError('a table of texts, such as {DEPTH = "3"}, or "DEPTH=3 SPEED=2" on the command line')
    return tuple(sorted(value.items()))


def _is_variable(name: str, value: Any) -> bool:
    return bool(name) and isinstance(value, str) and "=" not in name and "\0" not in name + value


def time_control(value: Any) -> tuple[int, int]:
    try:
        return parse_tc(str(value))
    except ClockError as error:
        raise ValueError(error.expected) from None


_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def size(value: Any) -> int:
    found = re.fullmatch(r"(\d{1,12})([KMG]?)", str(value))
    if not found or isinstance(value, bool):
        raise ValueError('a number of bytes, such as "512M" or "2G"')
    return int(found[1]) * _UNITS[found[2]]


def memory_size(value: Any) -> int:
    """The memory of a bot. No program runs in less than 1M, so a small number lacks its unit."""
    if (found := size(value)) < _UNITS["M"]:
        meant = f"; {value} bytes? write {value}M" if str(value).isdigit() and found < _UNITS["K"] * 100 else ""
        raise ValueError(f"1M or more{meant}")
    return found


def beginning(value: Any) -> str | datetime:
    """When a server begins: "all", "key" or a moment. A time of day means the next such moment."""
    if value in ("all", "key"):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone()
    now = datetime.now().astimezone()
    with contextlib.suppress(TypeError, ValueError):
        if isinstance(value, str) and "T" not in value and "-" not in value:
            value = dt_time.fromisoformat(value)
        if isinstance(value, dt_time):
            days = (now.date() + timedelta(days=number) for number in range(3))
            moments = (datetime.combine(day, value).astimezone() for day in days)  # each in the offset of its own day
            return next(moment for moment in moments if moment >= now)
        return datetime.fromisoformat(value).astimezone()
    raise ValueError("all, key, or a time such as 20:30 or 2027-01-31T20:30")


def address(value: Any) -> str:
    try:
        parse_address(text(value))
    except AddressError:
        raise ValueError("an address such as 127.0.0.1:4000 or [::1]:4000") from None
    return str(value)


def token_hash(value: Any) -> str:
    if not is_token_hash(value):
        raise ValueError("the hash of a token, which `arena token NAME` makes; the token itself is for the author only")
    return str(value)
