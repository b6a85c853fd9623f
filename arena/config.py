"""The TOML file and the command line become one frozen config.

Every option is one entry of a table here, and is read the same way from either place: a value of TOML, or a text.
"""

import os
import re
import resource
import secrets
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from arena.bots import OWN_BOTS, BotError, BotSpec, Restart, command_of, missing_program, name_from, parse_bot
from arena.clock import ClockError, Limits, parse_tc
from arena.schedule import Format, PlannedMatch, schedule
from engine.errors import NotationError
from engine.ruleset import Begins, RuleSet
from protocol.messages import is_name


class ConfigError(Exception):
    """A mistake in a tournament file or on the command line: what was found, and what was expected."""


@attrs.frozen
class Config:
    bots: tuple[BotSpec, ...]
    rules: RuleSet
    form: Format
    cycles: int
    rounds: int
    mirrored: bool
    seed: str
    max_faults: int
    event: str
    site: str
    concurrency: int
    journal: Path | None
    kept: bool = True  # the journal stays; false for one that is written to a temporary place

    def recorded(self) -> dict[str, Any]:
        """What the journal keeps: all that decides which rounds are played and how. Where and how fast is not part of
        it, so a tournament may go on elsewhere, with other concurrency."""
        return {
            "event": self.event,
            "site": self.site,
            "rules": self.rules.name,
            "format": self.form.value,
            "cycles": self.cycles,
            "rounds": self.rounds,
            "mirror": self.mirrored,
            "seed": self.seed,
            "max_faults": self.max_faults,
            "bots": [bot.recorded() for bot in self.bots],
        }


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
    Option("rules", _rules, "The rule set: base, expert, tactics, tactics-expert, classic.  [base]", "NAME"),
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
    Option("journal", _text, "The file that everything is written to.", "FILE"),
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
    Option("memory", _size, "Memory that each process of a bot may use.", "SIZE"),
    Option("cpu", _number(1), "Seconds of processor time that each process of a bot may use.", "SECONDS"),
)
# Of one bot only.
OWN: Final = (
    Option("cmd", _words, "The command, or the name of a bot that comes along."),
    Option("args", _words, "More words for the command."),
    Option("name", _name, "The name it plays under."),
)


def _by_name(*tables: Iterable[Option]) -> dict[str, Option]:
    return {option.name: option for table in tables for option in table}


@attrs.frozen
class Source:
    """Values as they were written, and where, for error messages."""

    values: Mapping[str, Any]
    where: Callable[[str], str]  # of a key: "cup.toml:3" or "--rounds"

    def read(self, options: Mapping[str, Option]) -> dict[str, Any]:
        found = {}
        for key, value in self.values.items():
            if key not in options:
                raise ConfigError(f"{self.where(key)}: {key!r} is no option here; there are: {', '.join(options)}")
            try:
                found[key] = options[key].read(value)
            except ValueError as error:
                raise ConfigError(f"{self.where(key)}: {key} = {value!r}, but expected {error}") from None
        return found


def _flag(key: str) -> str:
    return f"--{key}" if key in _by_name(TOURNAMENT, BOT) else "the command line"


def from_command_line(bots: Iterable[str], specs: Iterable[str], options: Mapping[str, str]) -> Config:
    """BOT arguments, `--bot` texts of key=value words, and the options that were given."""
    values = Source(options, _flag).read(_by_name(TOURNAMENT, BOT))
    each = {option.name: values.pop(option.name) for option in BOT if option.name in values}
    players = []
    for text in bots:
        try:
            spec = parse_bot(text)
        except BotError as error:
            raise ConfigError(str(error)) from None
        players.append(_bot(each | {"name": spec.name, "cmd": spec.command}, repr(text), Path()))
    for text in specs:
        where = f"--bot {text!r}"
        players.append(_bot(each | _spec_keys(text, where), where, Path()))
    return _config(values, players, _flag)


def _spec_keys(text: str, where: str) -> dict[str, Any]:
    try:
        words = dict(word.partition("=")[::2] for word in shlex.split(text))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; expected words like cmd=./mybot name=mine") from None
    return Source(words, lambda _key: where).read(_by_name(BOT, OWN))


def from_file(path: Path, options: Mapping[str, str]) -> Config:
    """A tournament file; options of the command line take precedence over its own. Bots run in the file's folder unless
    they have a `dir`, which is relative to it, as is `journal`."""
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: the file is not UTF-8 (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    lines = _Lines(str(path), text)
    tables, each_table = document.pop("bot", []), document.pop("each", {})
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{lines.of('bot', 0, None)}: bots are written as [[bot]] tables, with two brackets")
    if not isinstance(each_table, dict):
        raise ConfigError(f"{lines.of('each', 0, None)}: what bots share is written as one [each] table")
    values = Source(document, partial(lines.of, "", 0)).read(_by_name(TOURNAMENT))
    each = Source(each_table, partial(lines.of, "each", 0)).read(_by_name(BOT))
    flags = Source(options, _flag).read(_by_name(TOURNAMENT, BOT))
    values = {"journal": path.with_suffix(".jsonl").name} | values
    values["journal"] = str(path.parent / values["journal"])
    values |= {key: value for key, value in flags.items() if key in _by_name(TOURNAMENT)}
    over = {key: value for key, value in flags.items() if key in _by_name(BOT)}
    players = []
    for number, table in enumerate(tables):
        own = Source(table, partial(lines.of, "bot", number)).read(_by_name(BOT, OWN))
        players.append(_bot(each | own | over, lines.of("bot", number, None), path.parent))
    where = partial(_where_in_file, lines, [bot.name for bot in players], options)
    return _config(values, players, where)


def _where_in_file(lines: "_Lines", names: list[str], options: Mapping[str, str], key: str) -> str:
    """Of a key, or of the second bot with a name."""
    if key in options:
        return _flag(key)
    places = [number for number, name in enumerate(names) if name == key]
    return lines.of("bot", places[-1], None) if places else lines.of("", 0, key)


class _Lines:
    """Finds the line of a key, as people write TOML: one key a line, under its [table]."""

    def __init__(self, path: str, text: str):
        self._path = path
        self._lines: dict[tuple[str, int, str | None], int] = {}
        table, counts = "", {"": 1}
        for number, line in enumerate(text.splitlines(), 1):
            if header := re.match(r"\s*\[\[?\s*([\w-]+)((?:\.[\w-]+)*)\s*\]\]?", line):
                if header[2]:  # [bot.env] belongs to the last [[bot]]
                    self._lines.setdefault((table, counts.get(table, 1) - 1, header[2].split(".")[1]), number)
                    continue
                table = header[1]
                counts[table] = counts.get(table, 0) + 1
                self._lines[table, counts[table] - 1, None] = number
            elif key := re.match(r"""\s*["']?([\w-]+)["']?\s*[=.]""", line):
                self._lines.setdefault((table, counts[table] - 1, key[1]), number)

    def of(self, table: str, place: int, key: str | None) -> str:
        number = self._lines.get((table, place, key))
        return f"{self._path}:{number}" if number else self._path


def _bot(keys: Mapping[str, Any], where: str, folder: Path) -> BotSpec:
    if not keys.get("cmd"):
        raise ConfigError(f"{where}: a bot needs a cmd, the command that starts it")
    words = keys["cmd"]
    bank, increment = keys.get("tc", (None, 0))
    no_move_limit = None if "tc" in keys else Limits().move_ms  # with a bank, each answer may take all of it
    limits = Limits(
        move_ms=keys.get("st", no_move_limit),
        bank_ms=bank,
        increment_ms=increment,
        start_ms=keys.get("start", Limits().start_ms),
        margin_ms=keys.get("timemargin", Limits().margin_ms),
    )
    name = keys.get("name", words[0] if words[0] in OWN_BOTS else name_from(list(words)))
    if not is_name(name):
        raise ConfigError(f"{where}: {name!r} is no name; it is 1 to 64 printable characters")
    cwd = folder / keys["dir"] if "dir" in keys else folder
    if not cwd.is_dir():
        raise ConfigError(f"{where}: dir = {str(keys.get('dir'))!r}, but expected a folder that exists")
    spec = BotSpec(
        name=name,
        command=(*command_of(words), *keys.get("args", ())),
        cwd=None if cwd == Path() else cwd,
        env=keys.get("env", ()),
        limits=limits,
        restart=keys.get("restart", Restart.NEVER),
        memory=keys.get("memory"),
        cpu_seconds=keys.get("cpu"),
    )
    if problem := missing_program(spec):
        raise ConfigError(f"{where}: {problem}")
    return spec


def _config(values: Mapping[str, Any], bots: list[BotSpec], where: Callable[[str], str]) -> Config:
    """`where` tells the place of a key, or of a bot."""
    if len(bots) < 2:
        raise ConfigError(f"a tournament needs two bots or more, found {len(bots)}")
    names = [bot.name for bot in bots]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{where(twice)}: two bots are named {twice!r}; give one of them another name")
    rules: RuleSet = values.get("rules", RuleSet())
    winner_begins = rules.begins is Begins.WINNER
    mirrored = values.get("mirror", not winner_begins)
    if mirrored and winner_begins:
        raise ConfigError(
            f"{where('mirror')}: rounds of {rules.name} cannot be mirrored, because the winner of a round begins the "
            "next one; leave out mirror, or set it to false"
        )
    rounds = values.get("rounds", 10)
    if mirrored and rounds % 2:
        raise ConfigError(
            f"{where('rounds')}: rounds = {rounds}, but mirrored rounds come in pairs: expected an even number"
        )
    journal = values.get("journal")
    return Config(
        bots=tuple(bots),
        rules=rules,
        form=values.get("format", Format.ROUND_ROBIN),
        cycles=values.get("cycles", 1),
        rounds=rounds,
        mirrored=mirrored,
        seed=values.get("seed", ""),
        max_faults=values.get("max-faults", 5),
        event=values.get("event", ""),
        site=values.get("site", ""),
        concurrency=values.get("concurrency", len(os.sched_getaffinity(0))),
        journal=Path(journal) if journal else None,
    )


def with_seed(config: Config, recorded: str | None) -> Config:
    """The seed that was given, or that of the journal, or a new one."""
    return config if config.seed else attrs.evolve(config, seed=recorded or secrets.token_hex(16))


def recorded_rules_and_schedule(
    recorded: Mapping[str, Any],
) -> tuple[str, RuleSet, tuple[PlannedMatch, ...], list[str]]:
    """Seed, rules, schedule and names of the bots, from what a journal keeps of a config."""
    try:
        names = [str(bot["name"]) for bot in recorded["bots"]]
        rules = RuleSet.named(recorded["rules"])
        form, cycles, rounds = Format(recorded["format"]), int(recorded["cycles"]), int(recorded["rounds"])
        if recorded["mirror"] and (rules.begins is Begins.WINNER or rounds % 2):
            raise ValueError(f"{rounds} rounds of {rules.name} cannot be mirrored")
        matches = schedule(len(names), form, cycles, rounds, bool(recorded["mirror"]), rules)
        return str(recorded["seed"]), rules, matches, names
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{type(error).__name__} {error}") from None


def differences(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two configs, a line for each."""
    found = []
    for key in [*recorded, *(key for key in now if key not in recorded)]:
        before, after = recorded.get(key), now.get(key)
        if key == "bots" and isinstance(before, list) and isinstance(after, list):
            found += _bot_differences(before, after)
        elif before != after and key != "dir":  # a tournament may go on from another place
            found.append(f"{key}: the journal has {before!r}, now it is {after!r}")
    return found


def _bot_differences(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[str]:
    old, new = ({bot.get("name"): bot for bot in bots} for bots in (before, after))
    if list(old) != list(new):
        return [f"bots: the journal has {', '.join(map(str, old))}, now there are {', '.join(map(str, new))}"]
    return [f"bot {name}: {line}" for name in old for line in differences(old[name], new[name])]
