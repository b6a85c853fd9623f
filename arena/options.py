"""Every option of a tournament: its name, its help, and how its value is read, from TOML or from the command line."""

import re
import resource
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import attrs

from arena.bots import Restart
from arena.clock import ClockError, parse_tc
from arena.schedule import Format
from engine.errors import NotationError
from engine.ruleset import RuleSet
from protocol.messages import is_name

Reader = Callable[[Any], Any]  # raises ValueError that says what was expected


@attrs.frozen
class Option:
    name: str
    read: Reader
    help: str
    metavar: str = "TEXT"


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


def _rules(value: Any) -> RuleSet:
    try:
        return RuleSet.named(value)
    except (NotationError, TypeError) as error:
        raise ValueError(str(error).partition("there are: ")[2] or "the name of a rule set in quotes") from None


def _seed(value: Any) -> str:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _name(value: Any) -> str:
    if not is_name(value):
        raise ValueError("1 to 64 printable characters, words separated by single spaces")
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
    pairs = dict(word.partition("=")[::2] for word in _words(value)) if isinstance(value, str) else value
    if not isinstance(pairs, dict) or not all(_is_variable(key, text) for key, text in pairs.items()):
        raise ValueError('a table of texts, such as {DEPTH = "3"}, or "DEPTH=3 SPEED=2" on the command line')
    return tuple(sorted(pairs.items()))


def _is_variable(name: str, value: Any) -> bool:
    return bool(name) and isinstance(value, str) and "=" not in name and "\0" not in name + value


def _tc(value: Any) -> tuple[int, int]:
    try:
        return parse_tc(str(value))
    except ClockError as error:
        raise ValueError(str(error).partition("; expected ")[2]) from None


_UNITS: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def _size(value: Any) -> int:
    found = re.fullmatch(r"(\d{1,12})([KMG]?)", str(value))
    if not found or isinstance(value, bool):
        raise ValueError('a number of bytes, such as "512M" or "2G"')
    size, most = int(found[1]) * _UNITS[found[2]], resource.getrlimit(resource.RLIMIT_AS)[1]
    if most != resource.RLIM_INFINITY and size > most:
        raise ValueError(f"at most {most} bytes, which is the limit of this machine")
    return size


def _folder(value: Any) -> Path:
    return Path(_text(value))


# Of the tournament as a whole.
TOURNAMENT: Final = (
    Option(
        "rules",
        _rules,
        "base, expert, tactics, tactics-expert, classic or another of SPEC.md.  [base]",
        "NAME",
    ),
    Option(
        "format", _one_of(Format), "roundrobin, or gauntlet: the first bot against the others.  [roundrobin]", "NAME"
    ),
    Option("cycles", _number(1), "How many matches each pair plays.  [1]", "N"),
    Option("rounds", _number(1), "How many rounds a match has; even if they are mirrored.  [10]", "N"),
    Option("mirror", _yes_or_no, "Play every deal twice with the seats exchanged.  [true]", "true|false"),
    Option("seed", _seed, "Decides all deals. Chosen at random if left out, and kept in the journal.", "TEXT"),
    Option("max-faults", _number(0), "Faults in a row after which a bot is withdrawn; 0 is never.  [5]", "N"),
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
    Option("restart", _one_of(Restart), "When a bot is started anew: never, match or round.  [never]", "WHEN"),
    Option("dir", _folder, "The folder a bot runs in.", "DIR"),
    Option("env", _environment, "Added to a bot's environment.", "NAME=VALUE"),
    Option("memory", _size, "Memory that each process of a bot may use, such as 512M or 2G.", "SIZE"),
    Option("cpu", _number(1), "Seconds of processor time that each process of a bot may use.", "SECONDS"),
)
# Of one bot only.
OWN: Final = (
    Option("cmd", _words, "The command, or the name of a bot that comes along."),
    Option("args", _words, "More words for the command."),
    Option("name", _name, "The name it plays under."),
)


def by_name(*tables: Iterable[Option]) -> dict[str, Option]:
    return {option.name: option for table in tables for option in table}
