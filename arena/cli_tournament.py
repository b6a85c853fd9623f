"""Commands for organisers: parse, call, print. Exit status: 0 all went well, 1 something did not, 2 a wrong call, 130
stopped by Ctrl-C."""

import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena.config import BOT, TOURNAMENT, Config, ConfigError, from_command_line, from_file

if TYPE_CHECKING:
    from arena.drive import MakeListener, Ran
    from arena.runner import Listener

F = TypeVar("F", bound=Callable[..., Any])
_INTERRUPTED = 130
_BOT_HELP = "A bot with keys of its own: cmd, args, name, dir, env, tc, st, start, timemargin, restart, memory, cpu."


def _tournament_options(command: F) -> F:
    """Every option of arena.config, so that the command line can say all that a file can."""
    for option in reversed((*TOURNAMENT, *BOT)):
        parameter = option.name.replace("-", "_")
        command = click.option(f"--{option.name}", parameter, metavar=option.metavar, help=option.help)(command)
    return command


def _given(options: Mapping[str, str | None]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in options.items() if value is not None}


def _configured(make: Callable[[], Config]) -> Config:
    try:
        return make()
    except ConfigError as error:
        raise click.UsageError(str(error)) from None


def _driven(config: Config, make_listener: "MakeListener") -> "Ran":
    """Runs it; says so and leaves if it did not come to its end."""
    from arena.drive import drive
    from arena.journal import JournalError
    from arena.runner import TournamentError

    try:
        ran = drive(config, make_listener)
    except JournalError as error:
        raise click.ClickException(str(error)) from None
    except TournamentError as error:
        click.echo(f"Stopped: {error}", err=True)
        click.echo(_how_to_go_on(config), err=True)
        sys.exit(1)
    if ran.stopped:
        where = f"are saved in {config.journal}" if config.journal else "were played; nothing is saved"
        click.echo(f"Stopped. {ran.finished} of {ran.total} rounds {where}.", err=True)
        click.echo(_how_to_go_on(config), err=True)
        sys.exit(_INTERRUPTED)
    return ran


def _how_to_go_on(config: Config) -> str:
    if config.journal is None:
        return "With --journal FILE a tournament can be gone on with."
    return f"To go on:  arena {shlex.join(sys.argv[1:])}"


@click.command()
@click.argument("bots", nargs=2, metavar="BOT BOT")
@_tournament_options
def play(bots: tuple[str, str], **options: str | None) -> None:
    """A match between two bots: a line for each round, then the score.

    A BOT is the name of one that comes along (see `arena bots`), a command line, or name=command.

    \b
    Examples:
      arena play greedy random --rounds 10 --seed 7
      arena play "./mybot --fast" "old=./mybot-1.0" --rules tactics --tc 10+0.1
      arena play ./mybot counting --journal match.jsonl
    """
    from arena.progress import PlainLines
    from arena.standings import Standings
    from arena.tables import match_text

    config = _configured(lambda: from_command_line(bots, (), _given(options)))
    standings = Standings()
    lines: list[PlainLines] = []

    def listener(total: int, done: int) -> "AbstractContextManager[Listener]":
        lines.append(PlainLines(click.echo, total, done, standings.add))
        return nullcontext(lines[0])

    _driven(config, listener)
    click.echo(match_text(standings, config.bots[0].name, config.bots[1].name))


@click.command()
@click.argument("bots", nargs=-1, metavar="cup.toml | BOT BOT…")
@click.option("--bot", "specs", multiple=True, metavar="'KEY=VALUE …'", help=_BOT_HELP)
@click.option("--events", is_flag=True, help="Tell how it goes as JSON, an event a line, on stdout; no table.")
@click.option("--quiet", is_flag=True, help="Say nothing before the table.")
@_tournament_options
def run(bots: tuple[str, ...], specs: tuple[str, ...], events: bool, quiet: bool, **options: str | None) -> None:
    """A tournament. Run the same command again to go on where it stopped.

    Either a tournament file, or bots: names of those that come along, command lines, or name=command. Options given here
    take precedence over those of the file. README.md shows a file.

    \b
    Examples:
      arena run cup.toml
      arena run cup.toml --concurrency 4
      arena run greedy counting random --rules tactics --rounds 20 --journal cup.jsonl
      arena run greedy --bot 'cmd=./mybot name=fast tc=5+0.1 dir=bots'
    """
    from arena.tables import standings_text

    config = _configured(lambda: _run_config(bots, specs, _given(options)))
    ran = _driven(config, _listener_maker(events, quiet))
    if not events:
        assert ran.config.journal is not None
        click.echo(standings_text([ran.config.journal]))


def _run_config(bots: tuple[str, ...], specs: tuple[str, ...], options: dict[str, str]) -> Config:
    if len(bots) == 1 and bots[0].endswith(".toml") and not specs:
        return from_file(Path(bots[0]), options)
    return from_command_line(bots, specs, {"journal": "tournament.jsonl"} | options)


def _listener_maker(events: bool, quiet: bool) -> "MakeListener":
    from arena.progress import JsonEvents, LiveLine, PlainLines, Quiet

    def make(total: int, done: int) -> "AbstractContextManager[Listener]":
        if events:
            return nullcontext(JsonEvents(click.echo, total, done))
        if quiet:
            return nullcontext(Quiet())
        if sys.stderr.isatty():
            return LiveLine(total, done)
        return nullcontext(PlainLines(lambda text: click.echo(text, err=True), total, done))

    return make


@click.command()
@click.argument(
    "journals",
    nargs=-1,
    required=True,
    metavar="JOURNAL…",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
def verify(journals: tuple[Path, ...]) -> None:
    """Every round again through the referee, every deal from its seed, every point recounted. The exit status is 1 if
    anything is wrong.

    \b
    Example:
      arena verify cup.jsonl
    """
    from arena.verify import verify_journals

    report = verify_journals(list(journals))
    for problem in (*report.torn, *report.problems):
        click.echo(problem)
    parts = [f"{report.rounds} rounds", f"{report.voids} void", f"{report.tournaments} tournaments"]
    verdict = f"{len(report.problems)} problems" if report.problems else "all in order"
    click.echo(f"{', '.join(parts)}: {verdict}")
    for name, points in sorted(report.points.items(), key=lambda item: -item[1]):
        click.echo(f"  {name}: {points} points")
    sys.exit(1 if report.problems else 0)
