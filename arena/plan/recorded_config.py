"""The configuration as the opening line of a journal records it, and bots as a fault bundle records them: everything
that determines which rounds are played and how. Writers and readers share it. Pure.

A field that is None, unset or at its default was not recorded: other programs may write only some. Fields that this
version does not know are ignored.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import attrs
import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from arena.plan.bot_spec import BUNDLED_BOTS, AnySpec, BotError, BotSpec, Restart, command_of
from arena.plan.max_voids import MaxVoids
from arena.plan.option_rows import Option, recorded_settings, recorded_values, recording
from arena.plan.options import BOT, BOUNDS, CLOCK, DERIVED, MOST_PROCESSES, OWN, PROGRAM, SANDBOX, TOURNAMENT
from arena.plan.sandbox import Level, Sandbox
from arena.plan.schedule import Format, pairing_count
from arena.plan.sprt import Sprt
from arena.plan.time_control import TimeLimits
from arena.support.text import printable

Positive = Annotated[int, Meta(ge=1)]


@recording(PROGRAM)
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


@recording(TOURNAMENT)
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
        clock=spec.limits,
        sandbox=None if program.sandbox.level is Level.NONE else program.sandbox,
        **recorded_values(RecordedBot, PROGRAM, program),
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
    found = ((row, value) for row, value in recorded_settings(recorded, PROGRAM, {}) if not row.of_starter)
    fields = {row.field: row.default if value is None else value for row, value in found}
    not_given = {row.field: row.default for row in SANDBOX if row.of_starter}
    return BotSpec(
        name=recorded.name,
        command=command_of(recorded.cmd),
        limits=recorded.clock or TimeLimits(),
        sandbox=attrs.evolve(recorded.sandbox or Sandbox(), **not_given),
        **fields | {"cwd": Path(recorded.dir) if recorded.dir else None},
    )


# Settings, and how they differ, worded as in a tournament file

# The fields of a bot that are objects of more than one setting: their tables, and what they are if not recorded.
_PARTS: Final = {"clock": (CLOCK, TimeLimits(None, None, 0, None, 0)), "sandbox": (SANDBOX, Sandbox())}


def tournament_settings(config: RecordedConfig) -> Iterator[tuple[Option, Any]]:
    return recorded_settings(config, (*TOURNAMENT, *DERIVED), {})


def bot_settings(bot: RecordedBot) -> Iterator[tuple[Option, Any]]:
    return recorded_settings(bot, (*OWN, *BOT), _PARTS)


def sprt_settings(sprt: Sprt) -> dict[str, str]:
    """The bounds of a sequential test by name, as a user writes them."""
    return {row.name: row.bare(getattr(sprt, row.field)) for row in BOUNDS}


def differences(recorded: RecordedConfig, now: RecordedConfig) -> list[str]:
    """One line for each setting that differs between two configurations. Seeds of deals are not compared."""
    found = _differences(tournament_settings(recorded), tournament_settings(now))
    old, new = ({bot.name: bot for bot in config.bots or ()} for config in (recorded, now))
    if list(old) != list(new):
        before, after = (", ".join(map(printable, names)) for names in (old, new))
        return [*found, f"the journal has the bots {before}, now there are {after}"]
    for name in old:
        found += [f"bot {name}: {line}" for line in _bot_differences(old[name], new[name])]
    return found


def _bot_differences(before: RecordedBot, now: RecordedBot) -> list[str]:
    if before.remote != now.remote:
        ways = "it connects from outside", "it is started here"
        return [f"in the journal {ways[not before.remote]}, now {ways[not now.remote]}"]
    return _differences(bot_settings(before), bot_settings(now))


def _differences(before: Iterable[tuple[Option, Any]], now: Iterable[tuple[Option, Any]]) -> list[str]:
    return [
        f"the journal has {row.name} = {row.written(was)}, now it is {row.written(is_now)}"
        for (row, was), (_, is_now) in zip(before, now, strict=True)
        if row.has_to_stay and was != is_now
    ]


def format_difference(recorded: RecordedConfig, now: RecordedConfig) -> str | None:
    """How the sequential test of a journal differs from the one that is wanted; None if both are the same."""
    before, after = _test_of(recorded), _test_of(now)
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


def _test_of(config: RecordedConfig) -> dict[str, str]:
    if config.sprt is None:
        return {}
    return sprt_settings(config.sprt) | {"max-rounds": str((config.cycles or 0) * (config.rounds or 0))}
