"""The frozen config of a tournament, made from options and bots."""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from arena.plan.bot_spec import (
    BUNDLED_BOTS,
    HUMAN,
    AnySpec,
    BotError,
    BotSpec,
    PersonSpec,
    RemoteSpec,
    command_of,
    matching,
    missing_part,
    name_from,
    not_a_person,
    parse_bot,
    split_name,
)
from arena.plan.deals import SCHEME, DealKey
from arena.plan.max_voids import MaxVoids
from arena.plan.option_rows import fields_of, recorded_values, with_rows
from arena.plan.options import BOT, CLOCK, OWN, PROGRAM, SANDBOX, STARTED, TOURNAMENT, by_name
from arena.plan.options import OnChange as OnChange
from arena.plan.recorded_config import RecordedConfig, recorded_bot
from arena.plan.sandbox import Level, Sandbox, absolute, seen_from
from arena.plan.schedule import Format
from arena.plan.source import ConfigError as ConfigError
from arena.plan.source import Source, flag_of
from arena.plan.sprt import Sprt
from arena.plan.time_control import TimeLimits
from engine.ruleset import Begins, RuleSet
from protocol.names import NAME_RULE, name_problem, twin_of


@attrs.frozen(field_transformer=with_rows(TOURNAMENT))
class Config:
    bots: tuple[AnySpec, ...]
    rules: RuleSet
    form: Format
    cycles: int
    rounds: int
    seed: str  # a public one that the organiser chose; empty if the deals come from a secret
    max_faults: int
    max_voids: MaxVoids
    event: str
    concurrency: int | None  # matches at once, as the organiser chose it; None if the arena may choose
    journal: Path | None
    workers: int | None  # processes that play the matches; None if the arena may choose
    affinity: bool | None  # whether each of them has a core for itself and its bots; None: while it helps
    changed: OnChange  # what to do if a bot has changed since a journal's last rounds
    first_cycle: int = 1  # its number; a server that plays forever keeps counting
    kept: bool = True  # False if the journal is temporary
    sprt: Sprt | None = None  # if it is a sequential test: it ends as soon as it is decided
    key: DealKey | None = None  # of the deals; known once the tournament begins or resumes

    @property
    def most_workers(self) -> int:
        """How many processes play matches at once, if there are enough matches."""
        return self.workers or min(self.matches_at_once, len(os.sched_getaffinity(0)))

    @property
    def matches_at_once(self) -> int:
        """How many matches this machine plays at once."""
        return self.concurrency or len(os.sched_getaffinity(0))

    @property
    def person(self) -> PersonSpec | None:
        """The person who plays, if one does."""
        return next((bot for bot in self.bots if isinstance(bot, PersonSpec)), None)

    @property
    def programs(self) -> list[BotSpec]:
        """The bots that the arena starts."""
        return [bot.program for bot in self.bots if bot.program is not None]

    @property
    def paired(self) -> bool:
        """Whether two rounds in which each player begins once form a unit of statistics."""
        return self.rules.begins is Begins.ALTERNATE

    @property
    def seed_hash(self) -> str | None:
        """The hash of the secret of the deals; None if they have a public seed, or the secret is not known."""
        return self.key.hash if self.key and not self.key.is_public else None

    def recorded(self) -> RecordedConfig:
        """The configuration as the journal keeps it. It does not say where and how fast to play, so that a tournament
        can be resumed elsewhere, with other concurrency. Of the key of the deals it has only the hash, unless the key
        is public."""
        key = self.key
        return RecordedConfig(
            pairs=self.paired,
            bots=tuple(map(recorded_bot, self.bots)),
            first_cycle=self.first_cycle,
            deals=SCHEME if key else None,
            seed=key.text if key and key.is_public else None,
            seed_hash=self.seed_hash,
            sprt=self.sprt,
            **recorded_values(RecordedConfig, TOURNAMENT, self),
        )


def from_command_line(
    bots: Iterable[str], specs: Iterable[str], options: Mapping[str, str], *, with_person: bool = False
) -> Config:
    """Make a config from BOT arguments, `--bot` texts of key=value words, and other options. `with_person`: one of the
    arguments may be `human`, the person at this terminal. Raises ConfigError."""
    values = Source(options, flag_of).read(by_name(TOURNAMENT, BOT))
    each = {option.name: values.pop(option.name) for option in BOT if option.name in values}
    players: list[AnySpec] = [
        _person(text, each) if with_person and is_person(text) else _bot_argument(text, each) for text in bots
    ]
    if len(people := [player.name for player in players if isinstance(player, PersonSpec)]) > 1:
        raise ConfigError(f"{' and '.join(people)}: only one person can play at this terminal")
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
    """Add numbers to names that the user did not choose and that are already taken: greedy, greedy-2."""
    taken = {player.name for player, has_name in zip(players, named, strict=True) if has_name}
    found = list(players)
    for place, player in enumerate(players):
        name, number = player.name, 2
        while not named[place] and twin_of(name, taken):
            name, number = f"{player.name}-{number}", number + 1
        if name_problem(name) is None:  # else the name is too long for a number, and refused later as a duplicate
            found[place] = player.named(name)
        taken.add(name)
    return found


def bot_from_command_line(bot: str, options: Mapping[str, str]) -> BotSpec:
    """Make a bot from one BOT argument and the options of bots. Raises ConfigError."""
    spec = _bot_argument(bot, Source(options, flag_of).read(by_name(BOT)))
    check_programs([(repr(bot), spec)])
    return spec


def bot_with_options(spec: BotSpec, options: Mapping[str, str]) -> BotSpec:
    """Apply options of STARTED to a bot. Raises ConfigError."""
    keys = Source(options, flag_of).read(by_name(STARTED))
    sandbox = _sandbox(spec.sandbox, keys, Path(), spec.cwd or Path())
    found = attrs.evolve(spec, **fields_of(PROGRAM, keys), sandbox=sandbox)
    _check_sandbox(found, spec.name)
    return found


def is_person(text: str) -> bool:
    """Whether a BOT argument names the person at this terminal: `human`, or name=human."""
    return split_name(text)[1].strip() == HUMAN


def _person(text: str, keys: Mapping[str, Any]) -> PersonSpec:
    """The person at this terminal, who has no clock unless one was asked for."""
    name = split_name(text)[0] or HUMAN
    if problem := name_problem(name):
        raise ConfigError(f"{text!r}: {name!r} is not a name: {problem}; expected {NAME_RULE}")
    asked = "st" in keys or "tc" in keys
    return PersonSpec(name, limits_of(keys) if asked else TimeLimits(move_ms=None, start_ms=None))


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
    """The time limits that the options of a bot set, with defaults for the others."""
    fields = fields_of(CLOCK, keys)
    if bank := fields.pop("bank", None):  # each answer may take all of it
        fields = {"move_ms": None, "bank_ms": bank[0], "increment_ms": bank[1]} | fields
    return TimeLimits(**fields)


def _sandbox(sandbox: Sandbox, keys: Mapping[str, Any], folder: Path, cwd: Path) -> Sandbox:
    """The sandbox as options change it, of a bot in the folder `cwd`. Paths in them are relative to `folder`. Here they
    are relative to `cwd`, so that a journal neither shows where the tournament was played nor depends on it."""
    expose = (*sandbox.expose, *(seen_from(cwd, folder, path) for path in keys.get("expose", ())))
    return attrs.evolve(sandbox, **fields_of(SANDBOX, keys) | {"expose": expose})


def bot_of(keys: Mapping[str, Any], where: str, folder: Path) -> AnySpec:
    """Make a bot from the options in `keys`, read at `where`. Its `dir` is relative to `folder`. Raises ConfigError."""
    return _remote_bot(keys, where) if "token" in keys else _local_bot(keys, where, folder)


def _local_bot(keys: Mapping[str, Any], where: str, folder: Path) -> BotSpec:
    if not keys.get("cmd"):
        raise ConfigError(f"{where}: a bot needs a cmd, the command that starts it, or a token to connect with")
    words = keys["cmd"]
    if words[0] == HUMAN:
        raise ConfigError(not_a_person(where, words))
    name = keys.get("name", words[0] if words[0] in BUNDLED_BOTS else name_from(list(words)))
    if problem := name_problem(name):
        raise ConfigError(f"{where}: {name!r} is not a name: {problem}; expected {NAME_RULE}")
    cwd = folder / keys["dir"] if "dir" in keys else folder
    found = BotSpec(
        name=name,
        command=(*command_of(words), *keys.get("args", ())),
        limits=limits_of(keys),
        sandbox=_sandbox(Sandbox(own_dir="dir" in keys), keys, folder, cwd),
        **fields_of(PROGRAM, keys) | {"cwd": None if cwd == Path() else cwd},
    )
    _check_sandbox(found, where)
    return found


def _check_sandbox(spec: BotSpec, where: str) -> None:
    if spec.sandbox.level is not Level.NONE and spec.inherit_env:
        raise ConfigError(f"{where}: inherit-env passes on what sandbox keeps away from a bot; leave out one of them")
    if missing := [path for path in spec.sandbox.exposed(spec.cwd or Path()) if not Path(path).exists()]:
        raise ConfigError(f"{where}: expose = {missing[0]!r}, but expected a path that exists")


def check_programs(bots: Iterable[tuple[str, AnySpec]]) -> None:
    """Raise ConfigError that lists all missing folders, programs and scripts, each with the place of its bot, or all
    patterns of files that match nothing for any bot."""
    local = [(where, bot.program) for where, bot in bots if bot.program is not None]
    problems = [f"{where}: {problem}" for where, bot in local if (problem := missing_part(bot))]
    if problems := problems or _unmatched(local):
        raise ConfigError("\n".join(problems))


def _unmatched(bots: Sequence[tuple[str, BotSpec]]) -> list[str]:
    problems: dict[str, str] = {}
    matched: set[str] = set()
    for where, bot in bots:
        folder = bot.cwd or Path()
        for pattern in (bot.fingerprint or ()) if not bot.is_bundled else ():
            if matching(pattern, folder):
                matched.add(pattern)
            words = f"{where}: fingerprint = {pattern!r}, but no file in {absolute(folder)} matches it"
            problems.setdefault(pattern, words)
    return [problem for pattern, problem in problems.items() if pattern not in matched]


def _remote_bot(keys: Mapping[str, Any], where: str) -> RemoteSpec:
    if "cmd" in keys:
        raise ConfigError(
            f"{where}: a bot has a cmd, which the arena starts, or a token, with which it connects; not both"
        )
    if "name" not in keys:
        raise ConfigError(f"{where}: a bot with a token needs a name, too")
    return RemoteSpec(keys["name"], keys["token"], limits_of(keys))


def assembled(values: Mapping[str, Any], bots: list[AnySpec], where: Callable[[str], str], least: int = 2) -> Config:
    """Make a config from options and at least `least` bots. `where` gives the place of a key or of a bot's name. Raises
    ConfigError."""
    if len(bots) < least:
        raise ConfigError(f"a tournament needs two bots or more, found {len(bots)}")
    _check_names([bot.name for bot in bots], where)
    _check_tokens([bot for bot in bots if bot.token_hash], where)
    journal = values.get("journal")
    others = {"journal": Path(journal) if journal else None}
    return Config(bots=tuple(bots), **fields_of(TOURNAMENT, values) | others)


def _check_names(names: Sequence[str], where: Callable[[str], str]) -> None:
    """Raise ConfigError if two names are the same."""
    for place, name in enumerate(names):
        if twin := twin_of(name, names[:place]):
            case = f" and {twin!r}, which is the same name in another case" if twin != name else ""
            raise ConfigError(f"{where(name)}: two bots are named {name!r}{case}; give one of them another name")


def _check_tokens(bots: Sequence[AnySpec], where: Callable[[str], str]) -> None:
    """Raise ConfigError if two bots have the same token."""
    hashes = [bot.token_hash for bot in bots]
    for bot in reversed(bots):
        if hashes.count(bot.token_hash) > 1:
            raise ConfigError(f"{where(bot.name)}: {bot.name!r} has the token of another bot; each needs its own")
