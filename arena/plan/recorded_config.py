"""The configuration as the opening line of a journal records it, and bots as a fault bundle records them: everything
that determines which rounds are played and how. Writers and readers share it. Pure.

A field that is None, unset or at its default was not recorded: other programs may write only some. Fields that this
version does not know are ignored.
"""

import contextlib
import json
import shlex
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

import attrs
import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from arena.plan.bot_spec import (
    BUNDLED_BOTS,
    MOST_PROCESSES,
    AnySpec,
    BotError,
    BotSpec,
    Restart,
    command_of,
)
from arena.plan.max_voids import MaxVoids
from arena.plan.sandbox import Level, Sandbox
from arena.plan.schedule import Format, pairing_count
from arena.plan.sprt import Sprt
from arena.plan.time_control import TimeLimits
from arena.support.text import printable

Positive = Annotated[int, Meta(ge=1)]


class RecordedBot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    remote: bool = False  # it connects from outside; only its clock is recorded then
    cmd: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    dir: str | UnsetType | None = UNSET
    env: tuple[str, ...] | None = None  # names, without the values
    clock: TimeLimits | None = None
    restart: Restart | None = None
    memory: int | UnsetType | None = UNSET
    cpu: int | UnsetType | None = UNSET
    inherit_env: bool = False
    processes: int = MOST_PROCESSES
    sandbox: Sandbox | None = None


class RecordedConfig(Struct, frozen=True, kw_only=True, omit_defaults=True):
    event: str | None = None
    site: str | None = None
    rules: str | None = None
    format: Format | None = None
    cycles: Positive | None = None
    rounds: Positive | None = None
    pairs: bool | None = None
    max_faults: int | None = None
    max_voids: MaxVoids | None = None  # journals from before 0.2 may not have it
    bots: tuple[RecordedBot, ...] | None = None
    first_cycle: Positive = 1
    deals: str | None = None  # how they were derived
    seed: str | None = None  # a public one
    seed_hash: str | None = None  # of a secret one
    sprt: Sprt | None = None  # the bounds of a sequential test
    mirror: bool = False  # every deal was played twice; only read, to refuse it

    @property
    def total(self) -> int | None:
        """How many rounds the whole tournament has; None if the journal does not say, or if it is a sequential test."""
        if self.sprt is not None:
            return None
        if self.bots is None or self.format is None or self.cycles is None or self.rounds is None:
            return None
        return pairing_count(len(self.bots), self.format) * self.cycles * self.rounds


_FIELD_TYPES: Final = {field.name: field.type for field in msgspec.structs.fields(RecordedConfig)}


def refusal(config: RecordedConfig) -> str | None:
    """Why this version does not read the journal of this tournament; None if it does."""
    if config.deals is None and config.seed is not None:
        return "this tournament was played by version 0.1, which made deals in another way; this version cannot read it"
    if config.mirror:
        return "this tournament was played with mirrored rounds (mirror = true), which this version cannot read"
    return None


def unknown_names(config: Mapping[str, Any]) -> list[str]:
    """The names in a recorded configuration, and in its bots, that this version does not know."""
    bots = [bot for bot in config.get("bots") or () if isinstance(bot, dict)]
    known = {field.name for field in msgspec.structs.fields(RecordedBot)}
    return sorted(config.keys() - _FIELD_TYPES.keys() | {name for bot in bots for name in bot if name not in known})


def readable_part(config: Mapping[str, Any]) -> tuple[RecordedConfig, str]:
    """The readable fields of a damaged configuration, and what is wrong with the first field that is not readable. Of
    damaged bots at least the names are kept: they say which rounds there are."""
    sound: dict[str, Any] = {}
    problem = ""
    for name in _FIELD_TYPES:
        if name in config:
            try:
                sound[name] = msgspec.convert(config[name], _FIELD_TYPES[name])
            except msgspec.ValidationError as error:
                problem = problem or f"{name}: {error}"
    if "bots" not in sound:
        with contextlib.suppress(msgspec.ValidationError):
            named = msgspec.convert(config.get("bots"), list[_Named])
            sound["bots"] = tuple(RecordedBot(name=bot.name) for bot in named)
    return RecordedConfig(**sound), problem


class _Named(Struct):
    name: str


# Bots


def recorded_bot(spec: AnySpec) -> RecordedBot:
    """A bot as the journal keeps it. Values of its environment and its token are not kept."""
    if (program := spec.program) is None:
        return RecordedBot(name=spec.name, remote=spec.connects, clock=spec.limits)
    return RecordedBot(
        name=spec.name,
        cmd=recorded_command(program.command),
        dir=str(program.cwd) if program.cwd else None,
        env=tuple(sorted(dict(program.env))),
        clock=spec.limits,
        restart=spec.restart,
        memory=program.memory,
        cpu=program.cpu_seconds,
        inherit_env=program.inherit_env,
        processes=program.processes,
        sandbox=None if program.sandbox.level is Level.NONE else program.sandbox,
    )


def recorded_command(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command to record. A bundled bot is recorded by its name, because it does not matter which Python runs it."""
    for name, own in BUNDLED_BOTS.items():
        if command[: len(own.command)] == own.command:
            return (name, *command[len(own.command) :])
    return command


def spec_of(recorded: RecordedBot) -> BotSpec:
    """The bot as it was started, but without what it was given of its starter's: variables, paths that its sandbox
    shows, and a user. Anybody can write a record, so whoever starts the bot now has to give them. Raises BotError if
    its command is not recorded, because it connected from outside, or has no program."""
    if recorded.cmd is None:
        raise BotError(f"the command of {recorded.name} is not recorded")
    if not recorded.cmd[0]:
        raise BotError(f"the command of {recorded.name} has no program")
    return BotSpec(
        name=recorded.name,
        command=command_of(recorded.cmd),
        cwd=Path(recorded.dir) if recorded.dir else None,
        limits=recorded.clock or TimeLimits(),
        restart=recorded.restart or Restart.NEVER,
        memory=recorded.memory or None,
        cpu_seconds=recorded.cpu or None,
        processes=recorded.processes,
        sandbox=attrs.evolve(recorded.sandbox or Sandbox(), expose=(), user=None),
    )


# Differences, worded as in a tournament file: by the names of options, with values as the file has them


def differences(recorded: RecordedConfig, now: RecordedConfig) -> list[str]:
    """One line for each setting that differs between two configurations. Seeds of deals are not compared."""
    found = _differences(_settings(recorded), _settings(now))
    old, new = ({bot.name: bot for bot in config.bots or ()} for config in (recorded, now))
    if list(old) != list(new):
        before, after = (", ".join(map(printable, names)) for names in (old, new))
        return [*found, f"the journal has the bots {before}, now there are {after}"]
    for name in old:
        found += [f"bot {name}: {line}" for line in _bot_differences(old[name], new[name])]
    return found


def _differences(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    return [
        f"the journal has {name} = {_as_text(name, before[name])}, now it is {_as_text(name, now[name])}"
        for name in before
        if before[name] != now[name]
    ]


def _settings(config: RecordedConfig) -> dict[str, object]:
    return {
        "event": config.event,
        "site": config.site,
        "rules": config.rules,
        "format": config.format and config.format.value,
        "cycles": config.cycles,
        "rounds": config.rounds,
        "pairs": config.pairs,
        "max-faults": config.max_faults,
        "max-voids": config.max_voids,
        "first cycle": config.first_cycle,
    }


def format_difference(recorded: RecordedConfig, now: RecordedConfig) -> str | None:
    """How the sequential test of a journal differs from the one that is wanted; None if both are the same."""
    before, after = _test_settings(recorded), _test_settings(now)
    if before == after:
        return None
    if recorded.sprt is None:
        return "it is not the journal of a sequential test"
    if now.sprt is None:
        return "it is the journal of a sequential test"
    was, wanted = (
        ", ".join(f"{name} = {settings[name]}" for name in before if before[name] != after[name])
        for settings in (before, after)
    )
    return f"its test has {was}, but now it is {wanted}"


def _test_settings(config: RecordedConfig) -> dict[str, str]:
    if config.sprt is None:
        return {}
    return config.sprt.settings() | {"max-rounds": str((config.cycles or 0) * (config.rounds or 0))}


def _bot_differences(before: RecordedBot, now: RecordedBot) -> list[str]:
    if before.remote != now.remote:
        ways = "it connects from outside", "it is started here"
        return [f"in the journal {ways[not before.remote]}, now {ways[not now.remote]}"]
    return _differences(_bot_settings(before), _bot_settings(now))


def _bot_settings(bot: RecordedBot) -> dict[str, object]:
    """The settings of a bot by option, without its folder, because a tournament may be resumed elsewhere."""
    clock = bot.clock or TimeLimits(None, None, 0, None, 0)
    return {
        "cmd": bot.cmd,
        "env": tuple(sorted(bot.env or ())),
        "tc": None if clock.bank_ms is None else (clock.bank_ms, clock.increment_ms),
        "st": clock.move_ms,
        "start": clock.start_ms,
        "timemargin": clock.margin_ms,
        "restart": bot.restart and bot.restart.value,
        "memory": bot.memory or None,
        "cpu": bot.cpu or None,
        "inherit-env": bot.inherit_env,
        "processes": bot.processes,
        "sandbox": (bot.sandbox or Sandbox()).level,
        "scratch": (bot.sandbox or Sandbox()).scratch,
        "expose": (bot.sandbox or Sandbox()).expose,
        "sandbox-user": (bot.sandbox or Sandbox()).user,
    }


def _seconds(ms: int) -> str:
    return f"{Decimal(ms) / 1000:f}"  # exact, and of any size: a journal can be edited


def _size(count: int) -> str:
    """A number of bytes as the option writes it: 512M."""
    unit, sign = next(((unit, sign) for unit, sign in _UNITS if count and not count % unit), (1, ""))
    return json.dumps(f"{count // unit}{sign}") if sign else str(count)


_UNITS: Final = ((2**30, "G"), (2**20, "M"), (2**10, "K"))
_FORMATS: Final[dict[str, Callable[[Any], str]]] = {
    "cmd": lambda words: json.dumps(shlex.join(words), ensure_ascii=False),
    "env": lambda names: json.dumps(" ".join(names), ensure_ascii=False),
    "tc": lambda times: "+".join(map(_seconds, times)),
    "st": _seconds,
    "start": _seconds,
    "memory": _size,
    "scratch": _size,
    "sandbox": {Level.NONE: "false", Level.FULL: "true", Level.MISSING: '"try", in vain'}.__getitem__,
}


def _as_text(name: str, value: object) -> str:
    if value is None:
        return "none"
    return printable(_FORMATS.get(name, _as_in_a_file)(value))


def _as_in_a_file(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
