"""What several commands share: options that come from the tables of plan, and the errors that end a command."""

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from arena.cli import completion
from arena.support.text import with_short_words

if TYPE_CHECKING:
    from arena.plan.bot_spec import AnySpec
    from arena.plan.config import Config
    from arena.plan.options import Option

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
S = TypeVar("S", bound="AnySpec")

events_option = click.option(
    "--events", is_flag=True, help="Print progress as JSON on stdout, one event per line, and no table."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing before the table.")


class InputError(click.ClickException):
    """An input that cannot be used: one line without the usage, and the exit status of a wrong call."""

    exit_code = 2


class OptionalValue(click.Option):
    """An option that may stand alone. Only one of `values` after it is its value: `--sandbox greedy` is the option,
    and then a bot."""

    def __init__(self, *declarations: Any, values: Sequence[str], **settings: Any):
        super().__init__(*declarations, **settings)
        self._values = values

    def joined(self, words: Sequence[str]) -> list[str]:
        """The words of a command line, with this option and its value joined by an equals sign."""
        found: list[str] = []
        for place, word in enumerate(words):
            if word == "--":
                return [*found, *words[place:]]
            if found and found[-1] in self.opts:
                given = word in self._values
                found[-1] += f"={word}" if given else f"={self.flag_value}"
                if given:
                    continue
            found.append(word)
        return found


def options_of(options: Sequence["Option"]) -> Callable[[F], F]:
    """Adds these options to a command, so that the command line can say everything that a tournament file can."""

    def add(command: F) -> F:
        for option in reversed(options):
            parameter = option.name.replace("-", "_")
            kind: dict[str, Any] = {"metavar": option.metavar}
            if option.flag:
                kind = {"is_flag": True, "flag_value": "true"}
            elif option.value_if_alone is not None:
                kind |= {"cls": OptionalValue, "is_flag": False, "flag_value": option.value_if_alone}
                kind |= {"values": option.choices}
            elif option.several:
                kind |= {"multiple": True, "callback": _joined}
            if option.choices:
                kind["shell_complete"] = completion.one_of(option.choices)
            command = click.option(f"--{option.name}", parameter, default=None, help=option.whole_help, **kind)(command)
        return command

    return add


def _joined(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    return " ".join(values) if values else None


def given(options: Mapping[str, str | None]) -> dict[str, str]:
    """The options of `options_of` that the user gave, by the names that plan knows them by."""
    return {name.replace("_", "-"): value for name, value in options.items() if value is not None}


def gathered(argument: str, make: Callable[..., T], *parameters: Callable[[F], F]) -> Callable[[F], F]:
    """Adds click's `parameters` to a command, which gets them as one `argument`: what `make` returns for their values.
    The parameters of `make` have the names of the values."""
    names = inspect.signature(make).parameters

    def add(command: F) -> F:
        @functools.wraps(command)
        def call(*arguments: Any, **values: Any) -> Any:
            made = make(**{name: values.pop(name) for name in names})
            return command(*arguments, **values, **{argument: made})

        wrapped: Any = call
        for parameter in reversed(parameters):
            wrapped = parameter(wrapped)
        found: F = wrapped
        return found

    return add


def configured(make: Callable[[], T]) -> T:
    """Returns what `make` returns; a ConfigError that it raises ends the command with its sentence."""
    from arena.plan.config import ConfigError

    try:
        return make()
    except ConfigError as error:
        raise InputError(with_short_words(str(error))) from None


def tournament_of(bots: Sequence[str], specs: Sequence[str], options: dict[str, str]) -> "Config":
    """The tournament of a file, or of bots, all of which the arena starts. Raises ConfigError."""
    from arena.plan.config import ConfigError, from_command_line
    from arena.plan.options import JOURNAL

    if len(bots) == 1 and bots[0].endswith(".toml") and not specs:
        from arena.plan.config_file import from_file

        return from_file(Path(bots[0]), options)
    if files := [bot for bot in bots if bot.endswith(".toml")]:
        raise ConfigError(f"{files[0]!r}: a tournament file stands alone; write all other bots into it")
    return from_command_line(bots, specs, {"journal": JOURNAL} | options)


def with_sandboxes(
    bots: Sequence[S],
    hidden: Sequence[Path] = (),
    at_once: int = 1,
    recorded: Mapping[str, int | None] = MappingProxyType({}),
) -> tuple[S, ...]:
    """The bots as they can be started. Refuses to go on if a sandbox is unavailable, or shows a path in `hidden`; says
    so on stderr if it was only to be tried. Bots in a sandbox without a limit of memory get the one that is
    `recorded`, or one by how many of them run `at_once`, which is said as well."""
    from arena.sandbox.sandbox_check import SandboxError, settled

    try:
        found = settled(bots, hidden)
    except SandboxError as error:
        raise InputError(str(error)) from None
    for remark in found.remarks:
        say_on_stderr(remark)
    return cast("tuple[S, ...]", _with_memory(found.bots, at_once, recorded))


def _with_memory(bots: Sequence["AnySpec"], at_once: int, recorded: Mapping[str, int | None]) -> "tuple[AnySpec, ...]":
    import attrs

    from arena.processes.default_memory import default_memory, memory_of_machine

    programs = [bot.program for bot in bots if bot.program is not None]
    unlimited = {program.name for program in programs if program.is_sandboxed and program.memory is None}
    memory = dict(recorded)
    if unlimited - recorded.keys():
        machine = memory_of_machine()
        most = default_memory(at_once, machine)
        memory |= dict.fromkeys(unlimited - recorded.keys(), most)
        too_little = " If all do, this machine has too little: play fewer matches at once." * (most * at_once > machine)
        say_on_stderr(f"Each bot in a sandbox may use {most >> 20}M of memory (--memory sets it).{too_little}")
    return tuple(
        attrs.evolve(bot.program, memory=memory[bot.name]) if bot.program and bot.name in unlimited else bot
        for bot in bots
    )


def tournament_with_sandboxes(
    config: "Config", hidden: Sequence[Path] = (), most_matches: int | None = None
) -> "Config":
    """The tournament with its bots as `with_sandboxes` makes them; they see neither the journal nor what belongs to
    it. Up to `most_matches` are played at once; None if others than those of the plan never are. A limit of memory that
    the journal records stays, whatever this machine has."""
    import attrs

    from arena.journal.file import belongings
    from arena.plan.schedule import pairing_count

    recorded: Mapping[str, int | None] = {}
    if config.journal is not None:
        hidden, recorded = [*belongings(config.journal), *hidden], _recorded_memory(config.journal)
    planned = pairing_count(len(config.bots), config.form) * config.cycles
    at_once = 2 * min(config.matches_at_once, planned if most_matches is None else most_matches)
    return attrs.evolve(config, bots=with_sandboxes(config.bots, hidden, at_once, recorded))


def _recorded_memory(journal: Path) -> dict[str, int | None]:
    """By bot in a sandbox: its limit of memory, as the journal's first opening line records it."""
    from arena.journal.lines import TournamentLine, read

    if not journal.is_file() or not os.access(journal, os.R_OK):
        return {}  # whoever opens it to play says what is wrong
    with journal_errors():
        first = next(read(journal, TournamentLine), None)
    opening = first and first.line
    bots = opening.config.bots or () if isinstance(opening, TournamentLine) else ()
    return {bot.name: bot.memory or None for bot in bots if bot.sandbox}


@contextmanager
def journal_errors() -> Iterator[None]:
    """A JournalError raised in the block ends the command with one line, and with the exit status of a wrong call."""
    from arena.journal.file import JournalError

    try:
        yield
    except JournalError as error:
        raise InputError(str(error)) from None


def check_name(name: str) -> None:
    """Refuses a text that cannot be the name of a bot."""
    from protocol.names import NAME_RULE, name_problem

    if problem := name_problem(name):
        raise click.UsageError(with_short_words(f"{name!r} is not a valid name: {problem}; expected {NAME_RULE}"))


def say_on_stderr(text: str) -> None:
    click.echo(text, err=True)
