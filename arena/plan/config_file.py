"""Read the TOML file of a tournament. Options on the command line take precedence over those in the file."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from arena.plan.config import Config, assembled, bot_of, check_programs, limits_of
from arena.plan.options import BOT, OWN, SERVER, SPRT, TOURNAMENT, Option, by_name
from arena.plan.source import ConfigError, Source, flag_of
from arena.plan.sprt_config import as_test
from arena.plan.time_control import TimeLimits
from arena.support.suggestion import did_you_mean


def from_file(path: Path, options: Mapping[str, str], *, is_test: bool = False) -> Config:
    """Read the file of a tournament whose bots are all started by the arena. It is a sequential test if the file has
    [sprt], or with `is_test`. Raises ConfigError."""
    found = read_file(path, options)
    for bot in found.config.bots:
        if bot.may_be_away:
            raise ConfigError(
                f"{found.where(bot.name)}: {bot.name!r} has a token, so it connects: use arena serve, and no cluster, "
                "because its time is measured where it connects to"
            )
    if is_test or found.test is not None:
        return as_test(found.config, found.test or {}, found.given, found.where)
    return found.config


@attrs.frozen
class TournamentFile:
    config: Config
    given: Collection[str]  # the options of the tournament that the user chose
    server: Mapping[str, Any]  # the options of the server, from [server] and the command line
    test: Mapping[str, Any] | None  # the options of a sequential test, likewise; None if there are none
    limits: TimeLimits  # of bots that the file does not name
    where: Callable[[str], str]  # the place of a key, or of a bot


def read_file(
    path: Path, options: Mapping[str, str], least: int = 2, programs_may_be_missing: bool = False
) -> TournamentFile:
    """Read a tournament file; `options` are those of the command line. Bots run in the file's folder unless they have a
    `dir`, which is relative to it, as are `journal`, `cert` and `key`. Raises ConfigError."""
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
    _refuse_unknown_tables(document, lines)
    tables = document.pop("bot", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{lines.of('bot', 0, None)}: bots are written as [[bot]] tables, with two brackets")
    each_table = _table(document, "each", "what bots share", lines)
    server_table = _table(document, "server", "what the server does", lines)
    test_table = _table(document, "sprt", "a sequential test", lines) if "sprt" in document else None
    values = Source(document, partial(lines.of, "", 0)).read(by_name(TOURNAMENT), _where_it_belongs)
    each = Source(each_table, partial(lines.of, "each", 0)).read(by_name(BOT), _where_it_belongs)
    server = Source(server_table, partial(lines.of, "server", 0)).read(by_name(SERVER), _where_it_belongs)
    test = Source(test_table or {}, partial(lines.of, "sprt", 0)).read(by_name(SPRT), _where_it_belongs)
    flags = Source(options, flag_of).read(by_name(TOURNAMENT, BOT, SERVER, SPRT))
    values = {"journal": path.with_suffix(".jsonl").name} | values
    values["journal"] = str(path.parent / values["journal"])
    server |= {key: path.parent / server[key] for key in ("cert", "key") if key in server}
    values |= _only(flags, TOURNAMENT)
    overrides = _only(flags, BOT)
    players = []
    places = [lines.of("bot", number, None) for number in range(len(tables))]
    for number, table in enumerate(tables):
        own = Source(table, partial(lines.of, "bot", number)).read(by_name(BOT, OWN), _where_it_belongs)
        players.append(bot_of(each | own | overrides, places[number], path.parent))
    if not programs_may_be_missing:
        check_programs(zip(places, players, strict=True))
    where = partial(_where_in_file, lines, [bot.name for bot in players], options)
    config = assembled(values, players, where, least)
    server, test = server | _only(flags, SERVER), test | _only(flags, SPRT)
    is_test = bool(test) or test_table is not None
    return TournamentFile(config, values, server, test if is_test else None, limits_of(each | overrides), where)


def _only(values: Mapping[str, Any], options: Iterable[Option]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key in by_name(options)}


_TABLES: Final = ("[[bot]]", "[each]", "[server]", "[sprt]")
_PLACES: Final = (
    (TOURNAMENT, "it belongs at the top of the file, above the first table"),
    (BOT, "it belongs in [each], or in the [[bot]] that it is for"),
    (OWN, "it belongs in a [[bot]]"),
    (SERVER, "it belongs in [server]"),
    (SPRT, "it belongs in [sprt]"),
)


def _where_it_belongs(key: str) -> str:
    return next((place for options, place in _PLACES if key in by_name(options)), "")


def _refuse_unknown_tables(document: Mapping[str, Any], lines: "_Lines") -> None:
    """Raise ConfigError that names the table that was probably meant. It comes before complaints about missing bots."""
    for key, value in document.items():
        if isinstance(value, dict):
            header = f"[{key}]"
        elif isinstance(value, list) and key not in by_name(TOURNAMENT, BOT, OWN, SERVER, SPRT):
            header = f"[[{key}]]"  # or a list of texts, which is just as wrong
        else:
            continue
        if key not in ("bot", "each", "server", "sprt", "env"):
            known = f"{', '.join(_TABLES)}, and options of the tournament above them{did_you_mean(header, _TABLES)}"
            raise ConfigError(f"{lines.of(key, 0, None)}: {header} is not a table of a tournament; there are: {known}")


def _table(document: dict[str, Any], name: str, what: str, lines: "_Lines") -> dict[str, Any]:
    table = document.pop(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{lines.of(name, 0, None)}: {what} is written as one [{name}] table")
    return table


def _where_in_file(lines: "_Lines", names: list[str], options: Mapping[str, str], key: str) -> str:
    """The place of a key, or of the last bot with this name."""
    if key in options:
        return flag_of(key)
    places = [number for number, name in enumerate(names) if name == key]
    if places:
        return lines.of("bot", places[-1], None)
    return lines.of("sprt" if key in by_name(SPRT) else "", 0, key)


class _Lines:
    """Finds the line of a key in TOML as people usually write it: one key per line, under its [table]."""

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
        """FILE:LINE of a key in the table of this name at this index, or of the table itself if `key` is None."""
        number = self._lines.get((table, place, key))
        if number is None and key is None:
            number = self._lines.get(("", 0, table))  # the table is written as a key: bot = [...]
        return f"{self._path}:{number}" if number else self._path
