"""The frozen config of a tournament, made from options and bots; each mistake is reported with its place."""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from arena.plan.bot_spec import (
    BUNDLED_BOTS,
    MOST_PROCESSES,
    AnySpec,
    BotError,
    BotSpec,
    RemoteSpec,
    Restart,
    command_of,
    missing_program,
    name_from,
    parse_bot,
    split_name,
)
from arena.plan.deals import SCHEME, DealKey
from arena.plan.names import twin_of
from arena.plan.options import BOT, OWN, SERVER, STARTED, TOURNAMENT, Option, by_name
from arena.plan.recorded_config import RecordedConfig, recorded_bot
from arena.plan.schedule import Format
from arena.plan.time_control import TimeLimits
from arena.support.suggestion import did_you_mean
from engine.ruleset import Begins, RuleSet
from protocol.names import NAME_RULE, name_problem


class ConfigError(Exception):
    """A mistake in a tournament file or on the command line: what was found, and what was expected."""


@attrs.frozen
class Config:
    bots: tuple[AnySpec, ...]
    rules: RuleSet
    form: Format
    cycles: int
    rounds: int
    mirrored: bool
    seed: str  # a public one that somebody named; empty if the deals come from a secret
    max_faults: int
    max_voids: int
    event: str
    site: str
    concurrency: int
    journal: Path | None
    first_cycle: int = 1  # its number; a server that plays for ever goes on counting
    kept: bool = True  # the journal stays; false for one that is written to a temporary place
    key: DealKey | None = None  # of the deals; known once the tournament begins or goes on

    @property
    def paired(self) -> bool:
        """Whether two rounds, in which each player begins once, are a unit of statistics."""
        return self.rules.begins is Begins.ALTERNATE

    def recorded(self) -> RecordedConfig:
        """What the journal keeps. Where and how fast it is played is not part of it, so a tournament may be resumed
        elsewhere, with other concurrency. Of the key of the deals it has only the hash, unless the key is public."""
        key = self.key
        return RecordedConfig(
            event=self.event,
            site=self.site,
            rules=self.rules.name,
            format=self.form,
            cycles=self.cycles,
            rounds=self.rounds,
            mirror=self.mirrored,
            pairs=self.paired,
            max_faults=self.max_faults,
            max_voids=self.max_voids,
            bots=tuple(map(recorded_bot, self.bots)),
            first_cycle=self.first_cycle,
            deals=SCHEME if key else None,
            seed=key.text if key and key.is_public else None,
            seed_hash=key.hash if key and not key.is_public else None,
        )


@attrs.frozen
class Source:
    """Values as they were written, and where, for error messages."""

    values: Mapping[str, Any]
    where: Callable[[str], str]  # of a key: "cup.toml:3" or "--rounds"

    def read(self, options: Mapping[str, Option], elsewhere: Callable[[str], str] = lambda _key: "") -> dict[str, Any]:
        """The value of each option. `elsewhere` says where a key belongs that is not one of these options, if it knows.
        Raises ConfigError."""
        found = {}
        for key, value in self.values.items():
            if key not in options:
                hint = elsewhere(key) or f"there are: {', '.join(options)}{did_you_mean(key, options)}"
                raise ConfigError(f"{self.where(key)}: {key!r} is no option here; {hint}")
            try:
                found[key] = options[key].read(value)
            except ValueError as error:
                said = ":" if options[key].secret else f" = {value!r}, but"
                raise ConfigError(f"{self.where(key)}: {key}{said} expected {error}") from None
        return found


def flag_of(key: str) -> str:
    return f"--{key}" if key in by_name(TOURNAMENT, BOT, SERVER) else "the command line"


def from_command_line(bots: Iterable[str], specs: Iterable[str], options: Mapping[str, str]) -> Config:
    """BOT arguments, `--bot` texts of key=value words, and the options that were given."""
    values = Source(options, flag_of).read(by_name(TOURNAMENT, BOT))
    each = {option.name: values.pop(option.name) for option in BOT if option.name in values}
    players: list[AnySpec] = [_bot_argument(text, each) for text in bots]
    places = [repr(text) for text in bots]
    named = [bool(split_name(text)[0]) for text in bots]
    for text in specs:
        where = f"--bot {text!r}"
        keys = each | _spec_keys(text, where)
        players.append(bot_of(keys, where, Path()))
        places.append(where)
        named.append("name" in keys)
    check_programs(zip(places, players, strict=True))
    return assembled(values, _with_numbers(players, named), flag_of)


def _with_numbers(players: list[AnySpec], named: list[bool]) -> list[AnySpec]:
    """A bot without a name of its own gets a number if its command gives it the name of another: greedy, greedy-2."""
    taken = {player.name for player, has_name in zip(players, named, strict=True) if has_name}
    found = list(players)
    for place, player in enumerate(players):
        name, number = player.name, 2
        while not named[place] and name in taken:
            name, number = f"{player.name}-{number}", number + 1
        if name_problem(name) is None:  # else the name is too long for a number, and refused as a double
            found[place] = attrs.evolve(player, name=name)
        taken.add(name)
    return found


def bot_from_command_line(bot: str, options: Mapping[str, str]) -> BotSpec:
    """One BOT argument, and the options of bots that were given."""
    spec = _bot_argument(bot, Source(options, flag_of).read(by_name(BOT)))
    check_programs([(repr(bot), spec)])
    return spec


def bot_with_options(spec: BotSpec, options: Mapping[str, str]) -> BotSpec:
    """A bot that is started as it is, with the options of STARTED that were given. Raises ConfigError."""
    keys = Source(options, flag_of).read(by_name(STARTED))
    names = {"cpu": "cpu_seconds"}
    return attrs.evolve(spec, **{names.get(key, key.replace("-", "_")): value for key, value in keys.items()})


def _bot_argument(text: str, keys: Mapping[str, Any]) -> BotSpec:
    try:
        spec = parse_bot(text)
    except BotError as error:
        raise ConfigError(str(error)) from None
    return _local_bot({**keys, "name": spec.name, "cmd": spec.command}, repr(text), Path())


def _spec_keys(text: str, where: str) -> dict[str, Any]:
    expected = "expected words like cmd=./mybot name=mine"
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; {expected}") from None
    if alone := [word for word in words if "=" not in word]:
        raise ConfigError(f"{where}: {alone[0]!r} has no value; {expected}")
    return Source(dict(word.split("=", 1) for word in words), lambda _key: where).read(
        by_name(BOT, OWN), _of_the_tournament
    )


def _of_the_tournament(key: str) -> str:
    return f"it is an option of the whole tournament: --{key}" if key in by_name(TOURNAMENT) else ""


def limits_of(keys: Mapping[str, Any]) -> TimeLimits:
    bank, increment = keys.get("tc", (None, 0))
    no_move_limit = None if "tc" in keys else TimeLimits().move_ms  # with a bank, each answer may take all of it
    return TimeLimits(
        move_ms=keys.get("st", no_move_limit),
        bank_ms=bank,
        increment_ms=increment,
        start_ms=keys.get("start", TimeLimits().start_ms),
        margin_ms=keys.get("timemargin", TimeLimits().margin_ms),
    )


def bot_of(keys: Mapping[str, Any], where: str, folder: Path) -> AnySpec:
    return _remote_bot(keys, where) if "token" in keys else _local_bot(keys, where, folder)


def _local_bot(keys: Mapping[str, Any], where: str, folder: Path) -> BotSpec:
    if not keys.get("cmd"):
        raise ConfigError(f"{where}: a bot needs a cmd, the command that starts it, or a token to connect with")
    words = keys["cmd"]
    name = keys.get("name", words[0] if words[0] in BUNDLED_BOTS else name_from(list(words)))
    if problem := name_problem(name):
        raise ConfigError(f"{where}: {name!r} is no name: {problem}; expected {NAME_RULE}")
    cwd = folder / keys["dir"] if "dir" in keys else folder
    if not cwd.is_dir():
        raise ConfigError(f"{where}: dir = {str(keys.get('dir'))!r}, but expected a folder that exists")
    return BotSpec(
        name=name,
        command=(*command_of(words), *keys.get("args", ())),
        cwd=None if cwd == Path() else cwd,
        env=keys.get("env", ()),
        limits=limits_of(keys),
        restart=keys.get("restart", Restart.NEVER),
        memory=keys.get("memory"),
        cpu_seconds=keys.get("cpu"),
        inherit_env=keys.get("inherit-env", False),
        processes=keys.get("processes", MOST_PROCESSES),
    )


def check_programs(bots: Iterable[tuple[str, AnySpec]]) -> None:
    """Tells of all programs that are missing at once, each with the place of its bot. Raises ConfigError."""
    local = [(where, bot) for where, bot in bots if isinstance(bot, BotSpec)]
    if problems := [f"{where}: {problem}" for where, bot in local if (problem := missing_program(bot))]:
        raise ConfigError("\n".join(problems))


def _remote_bot(keys: Mapping[str, Any], where: str) -> RemoteSpec:
    if "cmd" in keys:
        raise ConfigError(f"{where}: a bot has a cmd, which we start, or a token, with which it connects; not both")
    if "name" not in keys:
        raise ConfigError(f"{where}: a bot with a token needs a name, too")
    return RemoteSpec(keys["name"], keys["token"], limits_of(keys))


def assembled(values: Mapping[str, Any], bots: list[AnySpec], where: Callable[[str], str], least: int = 2) -> Config:
    """`where` tells the place of a key, or of a bot."""
    if len(bots) < least:
        raise ConfigError(f"a tournament needs two bots or more, found {len(bots)}")
    names = [bot.name for bot in bots]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"{where(twice)}: two bots are named {twice!r}; give one of them another name")
    for place, name in enumerate(names):
        if twin := twin_of(name, names[:place]):
            raise ConfigError(
                f"{where(name)}: {name!r} can be taken for {twin!r}: names that look alike, in whatever case, are one "
                "bot; give one of them another name"
            )
    hashes = [bot.token_hash for bot in bots if isinstance(bot, RemoteSpec)]
    for bot in reversed(bots):
        if isinstance(bot, RemoteSpec) and hashes.count(bot.token_hash) > 1:
            raise ConfigError(f"{where(bot.name)}: {bot.name!r} has the token of another bot; each needs its own")
    rules: RuleSet = values.get("rules", RuleSet())
    winner_begins = rules.begins is Begins.WINNER
    mirrored = values.get("mirror", False)
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
        max_voids=values.get("max-voids", 20),
        event=values.get("event", ""),
        site=values.get("site", ""),
        concurrency=values.get("concurrency", len(os.sched_getaffinity(0))),
        journal=Path(journal) if journal else None,
    )
