"""Every option of a tournament: its name, its help, and how its value is read, from TOML or from the command line."""

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from datetime import time as dt_time
from pathlib import Path
from typing import Any, Final

import attrs

from arena.plan.bot_spec import MOST_PROCESSES, Restart
from arena.plan.schedule import Format
from arena.plan.time_control import ClockError, parse_tc
from arena.plan.tokens import is_token_hash
from arena.support.address import AddressError, parse_address
from arena.support.suggestion import did_you_mean
from engine.ruleset import RULE_SETS, RuleSet
from protocol.framing import MAX_LINE
from protocol.names import NAME_RULE, name_problem

Reader = Callable[[Any], Any]  # raises ValueError that says what was expected


@attrs.frozen
class Option:
    name: str
    read: Reader
    help: str
    metavar: str = "TEXT"
    flag: bool = False  # on the command line it stands alone and means true
    value_if_alone: str | None = None  # on the command line it may stand alone, and then means this
    several: bool = False  # on the command line it may be given more than once
    secret: bool = False  # its value is not shown in messages
    choices: tuple[str, ...] = ()  # the words that a shell offers


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text in quotes")
    return value


def _number(least: int) -> Reader:
    def read(value: Any) -> int:
        if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"a whole number, {least} or more")
        return value

    return read


def _seconds(value: Any) -> int | None:
    """Milliseconds; None is no limit."""
    if value == "none":
        return None
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1
    if isinstance(value, bool) or not 0 < seconds < 1e6:
        raise ValueError('a number of seconds, such as 0.5, or "none"')
    return round(seconds * 1000)


def _positive_seconds(value: Any) -> float:
    with contextlib.suppress(ValueError):
        if (ms := _seconds(value)) is not None:
            return ms / 1000
    raise ValueError("a number of seconds, such as 30")


def _seconds_or_none(value: Any) -> float:
    return 0.0 if value in (0, "0") and not isinstance(value, bool) else _positive_seconds(value)


def _line_length(value: Any) -> int:
    length = int(_number(1)(value))
    if not 512 <= length <= MAX_LINE:
        raise ValueError(f"a number of bytes from 512 to {MAX_LINE}")
    return length


def _buffer_size(value: Any) -> int:
    return min(_size(value), 1 << 30)  # more than any system gives to a socket


def _path(value: Any) -> Path:
    return Path(_text(value))


def _yes_or_no(value: Any) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    if isinstance(value, str) and value in words:
        return words[value]
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _one_of(choices: Iterable[Any]) -> Reader:
    by_name = {choice.value: choice for choice in choices}

    def read(value: Any) -> Any:
        if value not in by_name:
            raise ValueError(" or ".join(by_name))
        return by_name[value]

    return read


def _values(choices: Iterable[Any]) -> tuple[str, ...]:
    return tuple(choice.value for choice in choices)


def _rules(value: Any) -> RuleSet:
    if not isinstance(value, str) or value not in RULE_SETS:
        raise ValueError(", ".join(RULE_SETS) + did_you_mean(value, RULE_SETS))
    return RULE_SETS[value]


def _seed(value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(value)
    if not text:
        raise ValueError("a text; without a seed the deals come from a secret")
    return text


def _name(value: Any) -> str:
    if problem := name_problem(value):
        raise ValueError(f"{NAME_RULE} ({problem})")
    return str(value)


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise ValueError(f"a command line ({error})") from None
    if not isinstance(value, list) or not all(isinstance(word, str) and "\0" not in word for word in value):
        raise ValueError("a text, or a list of texts")
    return tuple(value)


def _environment(value: Any) -> tuple[tuple[str, str], ...]:
    """Names with their values. A list may hold a name alone, which gets the value that it has in our own environment.
    A text may not: on the command line a forgotten value would pass on a variable unnoticed."""
    if isinstance(value, str) and (alone := [word for word in _words(value) if word and "=" not in word]):
        name = alone[0]
        raise ValueError(f'{name}=VALUE, or, to pass on your own {name}, a tournament file with env = ["{name}"]')
    if isinstance(value, str | list):
        words = [word.partition("=") for word in _words(value)]
        if missing := [name for name, equals, _ in words if not equals and name not in os.environ]:
            raise ValueError(f"{missing[0]} to be set in the environment of arena, or {missing[0]}=VALUE")
        value = {name: text if equals else os.environ[name] for name, equals, text in words}
    if not isinstance(value, dict) or not all(_is_variable(key, text) for key, text in value.items()):
        raise ValueError('a table of texts, such as {DEPTH = "3"}, or "DEPTH=3 SPEED=2" on the command line')
    return tuple(sorted(value.items()))


def _is_variable(name: str, value: Any) -> bool:
    return bool(name) and isinstance(value, str) and "=" not in name and "\0" not in name + value


def _tc(value: Any) -> tuple[int, int]:
    try:
        return parse_tc(str(value))
    except ClockError as error:
        raise ValueError(error.expected) from None


_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def _size(value: Any) -> int:
    found = re.fullmatch(r"(\d{1,12})([KMG]?)", str(value))
    if not found or isinstance(value, bool):
        raise ValueError('a number of bytes, such as "512M" or "2G"')
    return int(found[1]) * _UNITS[found[2]]


def _clock_time(value: Any) -> str | datetime:
    """all, key, or a moment; a time of day is the next one."""
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


def _address(value: Any) -> str:
    try:
        parse_address(_text(value))
    except AddressError:
        raise ValueError("an address such as 127.0.0.1:4000 or [::1]:4000") from None
    return str(value)


def _token_hash(value: Any) -> str:
    if not is_token_hash(value):
        raise ValueError("the hash of a token, which `arena token NAME` makes; the token itself is for the author only")
    return str(value)


# Of the tournament as a whole.
TOURNAMENT: Final = (
    Option(
        "rules",
        _rules,
        "base, expert, tactics, tactics-expert, classic or another of SPEC.md.  [base]",
        "NAME",
        choices=tuple(RULE_SETS),
    ),
    Option(
        "format",
        _one_of(Format),
        "roundrobin, or gauntlet: the first bot against the others.  [roundrobin]",
        "NAME",
        choices=_values(Format),
    ),
    Option("cycles", _number(1), "How many matches each pair plays.  [1]", "N"),
    Option("rounds", _number(1), "How many rounds a match has; even if they are mirrored.  [10]", "N"),
    Option(
        "mirror",
        _yes_or_no,
        "Play every deal twice with the seats exchanged: only for bots that you trust not to remember.  [false]",
        "[true|false]",
        value_if_alone="true",
        choices=("true", "false"),
    ),
    Option(
        "seed",
        _seed,
        "Decides all deals, for repeatable experiments. It is public; without it they come from a secret.",
    ),
    Option("max-faults", _number(0), "Faults in a row after which a bot is withdrawn; 0 is never.  [5]", "N"),
    Option("max-voids", _number(0), "How often a bot's lateness may be excused by a stalled host.  [20]", "N"),
    Option("concurrency", _number(1), "How many matches are played at once.  [number of cores]", "N"),
    Option("event", _text, "The name of the tournament."),
    Option("site", _text, "Where it is played."),
    Option("journal", _text, "The file that everything is written to.  [beside a file; tournament.jsonl]", "FILE"),
)
# Of each bot; on the command line and under [each] they are for all bots.
BOT: Final = (
    Option("tc", _tc, "Time for a round and increment for each answer, in seconds.", "10+0.1"),
    Option("st", _seconds, "Seconds for each answer, or none.  [10]", "SECONDS"),
    Option("start", _seconds, "Seconds to start and say hello.  [10]", "SECONDS"),
    Option("timemargin", _number(0), "Milliseconds that an answer may be late.  [50]", "MS"),
    Option(
        "restart",
        _one_of(Restart),
        "When a bot is started anew: never, match or round.  [never]",
        "WHEN",
        choices=_values(Restart),
    ),
    Option("dir", _path, "The folder a bot runs in.", "DIR"),
    Option(
        "env",
        _environment,
        "Variables for a bot's environment. Only their names are recorded, not their values.",
        "'NAME=VALUE …'",
        secret=True,
        several=True,
    ),
    Option(
        "inherit-env",
        _yes_or_no,
        "Pass on the whole environment, not only PATH, HOME, LANG and TMPDIR.  [false]",
        flag=True,
    ),
    Option("memory", _size, "Real memory that a bot may use with all its children, such as 512M or 2G.", "SIZE"),
    Option("cpu", _number(1), "Seconds of processor time for a bot and all its children, from its start.", "SECONDS"),
    Option("processes", _number(1), f"Processes that a bot may be at once.  [{MOST_PROCESSES}]", "N"),
)
# Of a bot that a command starts without a tournament around it.
STARTED: Final = tuple(option for option in BOT if option.name in ("env", "inherit-env", "memory", "cpu", "processes"))
# Of one bot only.
OWN: Final = (
    Option("cmd", _words, "The command, or the name of a bot that comes along."),
    Option("args", _words, "More words for the command."),
    Option("name", _name, "The name it plays under."),
    Option("token", _token_hash, "The hash of a token: the bot connects from outside (arena serve)."),
)
# Of the server; in a file they stand under [server].
SERVER: Final = (
    Option("public-seed", _yes_or_no, "Allow --seed, though whoever knows it knows all deals.  [false]", flag=True),
    Option("listen", _address, "Where to listen, such as 0.0.0.0:4000; port 0 is any that is free.", "HOST:PORT"),
    Option("open", _yes_or_no, "Let in anyone under a free name; cup.names keeps whose it is.  [false]", flag=True),
    Option("forever", _yes_or_no, "Begin another cycle, among those who are there, when one ends.  [false]", flag=True),
    Option(
        "begin",
        _clock_time,
        "When to begin: all (are there), key (Enter), or a time: 20:30.  [all]",
        "WHEN",
        choices=("all", "key"),
    ),
    Option(
        "grace",
        _positive_seconds,
        "Seconds that a bot may be away before it forfeits matches.  [60]",
        "SECONDS",
    ),
    Option("drain", _positive_seconds, "Seconds for running matches to end after the first signal.  [60]", "SECONDS"),
    Option("cert", _path, "The server's certificate chain: TLS. With --key.", "FILE"),
    Option("key", _path, "The key of the certificate.", "FILE"),
    Option("watch-delay", _seconds_or_none, "Seconds that watchers are behind.  [0]", "SECONDS"),
    Option("show-hands", _yes_or_no, "Show hands to watchers while a round is played.  [false]", flag=True),
    Option("watchers", _number(0), "Watchers at once.  [100]", "N"),
    Option("connections", _number(1), "Bots and watchers connected at once.  [2000]", "N"),
    Option("per-address", _number(1), "Of them from one address.  [250]", "N"),
    Option("per-second", _number(1), "Connections greeted in a second, all addresses in turn.  [2000]", "N"),
    Option("hello", _positive_seconds, "Seconds to say hello.  [10]", "SECONDS"),
    Option("line", _line_length, "Bytes that a line of a bot may have.  [65536]", "BYTES"),
    Option("unread", _buffer_size, "Bytes on their way to a bot that does not read them.  [256K]", "SIZE"),
    Option("late-answers", _number(0), "Answers of one connection that nobody asked for.  [1000]", "N"),
    Option("wrong-tokens", _number(1), "Wrong tokens of an address in a minute that are answered at once.  [10]", "N"),
)


def by_name(*tables: Iterable[Option]) -> dict[str, Option]:
    return {option.name: option for table in tables for option in table}
