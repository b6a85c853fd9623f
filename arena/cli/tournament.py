"""Commands that play: parse, call, print.

Exit status: 0 all went well, 1 something did not, 2 a wrong call, 130 stopped by Ctrl-C.
"""

import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

from arena.cli import completion
from arena.cli.table import print_standings
from arena.plan.config import Config, ConfigError, from_command_line
from arena.plan.config_file import from_file
from arena.plan.options import BOT, OWN, TOURNAMENT, Option
from arena.support.signals import INTERRUPTED

if TYPE_CHECKING:
    from arena.server.events import ServerListener
    from arena.tournament.drive import TournamentRun
    from arena.tournament.events import Listener

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
_BOT_KEYS = ", ".join(option.name for option in (*OWN, *BOT) if option.name != "token")
_BOT_HELP = f"A bot with keys of its own: {_BOT_KEYS}."


def options_of(options: Sequence[Option]) -> Callable[[F], F]:
    """So that the command line can say all that a file can."""

    def add(command: F) -> F:
        for option in reversed(options):
            parameter = option.name.replace("-", "_")
            kind: dict[str, Any] = {"metavar": option.metavar}
            if option.flag:
                kind = {"is_flag": True, "flag_value": "true"}
            elif option.value_if_alone is not None:
                kind |= {"is_flag": False, "flag_value": option.value_if_alone}
            elif option.several:
                kind |= {"multiple": True, "callback": _joined}
            if option.choices:
                kind["shell_complete"] = completion.one_of(option.choices)
            command = click.option(f"--{option.name}", parameter, default=None, help=option.help, **kind)(command)
        return command

    return add


def _joined(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    return " ".join(values) if values else None


def given(options: Mapping[str, str | None]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in options.items() if value is not None}


def configured(make: Callable[[], T]) -> T:
    try:
        return make()
    except ConfigError as error:
        raise click.UsageError(str(error)) from None


def _drive(config: Config, listening: "AbstractContextManager[Listener]", resume: Sequence[str] = ()) -> None:
    from arena.journal.lines import JournalError
    from arena.tournament.drive import drive

    try:
        with listening as listener:
            ran = drive(config, listener)
    except JournalError as error:
        raise click.ClickException(str(error)) from None
    report(ran, config, resume)


def report(ran: "TournamentRun", config: Config, resume: Sequence[str] = ()) -> None:
    """If the tournament stopped early, says what is saved and how to resume it (`resume`, or the same command), and
    exits."""
    command = shlex.join(["arena", *(resume or sys.argv[1:])])
    for warning in ran.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if ran.rescue is not None:
        click.echo(f"Stopped: {ran.failure}.\n{_how_to_restore(config, ran.rescue.path, command)}", err=True)
        sys.exit(1)
    if ran.failure or ran.stopped:
        where = f"are saved in {config.journal}" if config.kept else "were played; nothing is saved"
        why = f"Stopped: {ran.failure}" if ran.failure else "Stopped."
        saved = f"{ran.finished} of {ran.total} rounds {where}.{_about_secret(config)}"
        click.echo(f"{why}\n{saved}\n{_how_to_go_on(config, command)}", err=True)
        sys.exit(1 if ran.failure else INTERRUPTED)


def _how_to_restore(config: Config, rescued: Path | None, command: str) -> str:
    if rescued is None:
        return f"To go on, mend or restore {config.journal} first."
    journal, copy = shlex.quote(str(config.journal)), shlex.quote(str(rescued))
    return f"To go on with what was rescued:\n  arena verify {copy}\n  mv -i {copy} {journal}\n  {command}"


def _about_secret(config: Config) -> str:
    """The journal alone cannot be resumed while deals are still to come."""
    from arena.journal.deal_secret import secret_path

    if not (config.kept and config.journal and (secret := secret_path(config.journal)).exists()):
        return ""
    return f" Keep {secret} beside it: the deals that are still to come are made from it."


def _how_to_go_on(config: Config, command: str) -> str:
    if not config.kept:
        return "With --journal FILE a match is saved and can be gone on with."
    return f"To go on:  {command}"


def _of_a_match(option: Option) -> Option:
    text = "The file that everything is written to.  [none: only faults are kept]"
    return attrs.evolve(option, help=text) if option.name == "journal" else option


@click.command()
@click.argument("bots", nargs=-1, metavar="BOT BOT", shell_complete=completion.bot)
@options_of([_of_a_match(option) for option in (*TOURNAMENT, *BOT) if option.name != "format"])
def play(bots: tuple[str, ...], **options: str | None) -> None:
    """A match between two bots: a line for each round, then the score.

    The score is wins - losses - draws, in brackets the share of the score, and the number of rounds. The difference in
    Elo has a 95 % interval; LOS is the likelihood that the first bot is the better one.

    A BOT is the name of one that comes along (see `arena bots`), a command line, or name=command.

    Without --journal nothing is kept, unless a bot fails: then everything about the match stays in a temporary folder,
    which the last line names.

    \b
    Examples:
      arena play greedy random --rounds 10 --seed 7
      arena play "./mybot --fast" "old=./mybot-1.0" --rules tactics --tc 10+0.1
      arena play ./mybot counting --journal match.jsonl
    """
    from arena.cli.progress import PlainLines
    from arena.stats.match_score import match_text
    from arena.stats.standings import fold

    config = configured(lambda: from_command_line(bots, (), given(options)))
    if len(bots) != 2:
        raise click.UsageError(f"a match is between two bots, found {len(bots)}; `arena run` plays with more")
    with _journal_or_temporary(config) as config:
        _drive(config, nullcontext(PlainLines(click.echo, starts=False, remark=_say)))
        assert config.journal is not None
        standings, _ = fold([config.journal])
        click.echo(match_text(standings, config.bots[0].name, config.bots[1].name))


@contextmanager
def _journal_or_temporary(config: Config) -> Iterator[Config]:
    """Without --journal a match is written to a temporary folder, which is kept only if there were faults."""
    if config.journal:
        yield config
        return
    folder = Path(mkdtemp(prefix="arena-"))
    try:
        yield attrs.evolve(config, journal=folder / "match.jsonl", kept=False)
    finally:
        if any(folder.glob("*.faults")):
            click.echo(f"Because of the faults, everything is kept in {folder}; remove it when you are done.", err=True)
        else:
            shutil.rmtree(folder)


@click.command()
@click.argument("bots", nargs=-1, metavar="cup.toml | BOT BOT…", shell_complete=completion.bot)
@click.option("--bot", "specs", multiple=True, metavar="'KEY=VALUE …'", help=_BOT_HELP)
@click.option("--events", is_flag=True, help="Tell how it goes as JSON, an event a line, on stdout; no table.")
@click.option("--quiet", is_flag=True, help="Say nothing before the table.")
@options_of((*TOURNAMENT, *BOT))
def run(bots: tuple[str, ...], specs: tuple[str, ...], events: bool, quiet: bool, **options: str | None) -> None:
    """A tournament. Run the same command again to go on where it stopped.

    The journal is a regular file, and nobody else writes to it meanwhile. If it is changed all the same, everything
    that is still there is saved in a new file beside it, such as cup.rescued.jsonl, and the exit status is 1.

    Either a tournament file, or bots: names of those that come along, command lines, or name=command. Options given
    here take precedence over those of the file. README.md shows a file.

    \b
    Examples:
      arena run cup.toml
      arena run cup.toml --concurrency 4
      arena run greedy counting random --rules tactics --rounds 20 --journal cup.jsonl
      arena run greedy --bot 'cmd=./mybot name=fast tc=5+0.1 dir=bots'
    """
    config = configured(lambda: _run_config(bots, specs, given(options)))
    _drive(config, progress_of(events, quiet))
    if not events:
        assert config.journal is not None
        print_standings([config.journal])
        click.echo(f"\nEverything is in {config.journal}.")


def _run_config(bots: tuple[str, ...], specs: tuple[str, ...], options: dict[str, str]) -> Config:
    if len(bots) == 1 and bots[0].endswith(".toml") and not specs:
        return from_file(Path(bots[0]), options)
    if files := [bot for bot in bots if bot.endswith(".toml")]:
        raise ConfigError(f"{files[0]!r}: a tournament file stands alone; write all other bots into it")
    return from_command_line(bots, specs, {"journal": "tournament.jsonl"} | options)


def progress_of(events: bool, quiet: bool, with_time: bool = False) -> "AbstractContextManager[ServerListener]":
    """The listener that the options and the terminal ask for."""
    from arena.cli.progress import JsonEvents, LiveDisplay, PlainLines, Quiet, stamped

    if events:
        return nullcontext(JsonEvents(click.echo))
    if quiet:
        return nullcontext(Quiet())
    if sys.stderr.isatty():
        return LiveDisplay(with_time=with_time)
    return nullcontext(PlainLines(stamped(_say) if with_time else _say))


def _say(text: str) -> None:
    click.echo(text, err=True)


class _WrongBundle(click.ClickException):
    """One line, and the status of a wrong call."""

    exit_code = 2


@click.command()
@click.argument("bundle", metavar="FOLDER", type=click.Path(path_type=Path))
def rerun(bundle: Path) -> None:
    """Play the round of a fault once more, with the same bots and the same deal, and say whether the fault came again.

    FOLDER is the one that the arena names beside a fault; the bundle.json in it will do as well. A bundle has only the
    names of the variables that `env` gave to a bot: set them for this command.

    The exit status is 0 if the fault came again: the same bot failed in the same way. It is 1 if it did not: the round
    went on, or something else happened. It is 2 if there is no bundle that can be played, and 130 after Ctrl-C.

    \b
    Example:
      arena rerun cup.faults/1.1-2.3-mybot
    """
    from arena.tournament.fault_bundle import BundleError
    from arena.tournament.rerun import rerun as play_once_more

    try:
        found = play_once_more(bundle)
    except BundleError as error:
        raise _WrongBundle(str(error)) from None
    if found is None:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)
    click.echo(f"Then: {found.then}\nNow:  {found.now}")
    click.echo("The fault came again." if found.came_again else "The fault did not come again.")
    sys.exit(0 if found.came_again else 1)


@click.command()
@click.option("--rounds", default=20, show_default=True, help="Rounds of each match; even.")
def demo(rounds: int) -> None:
    """A small round-robin of the bots that come along, in base and in tactics, with its Elo table.

    The journals are written to the folder `demo`, anew each time.

    \b
    Example:
      arena demo
    """
    folder = Path("demo")
    folder.mkdir(exist_ok=True)
    for rules in ("base", "tactics"):
        _demo_tournament(rules, rounds, folder / f"{rules}.jsonl")
    click.echo(_NEXT)


def _demo_tournament(rules: str, rounds: int, journal: Path) -> None:
    from arena.plan.bot_spec import BUNDLED_BOTS

    journal.unlink(missing_ok=True)
    options = {"rules": rules, "rounds": str(rounds), "journal": str(journal)}
    config = configured(lambda: from_command_line(list(BUNDLED_BOTS), (), options))
    click.echo(f"Round-robin of {', '.join(BUNDLED_BOTS)}: {rounds} rounds a match, rules {rules}\n")
    resume = ["run", *BUNDLED_BOTS, *(word for name, value in options.items() for word in (f"--{name}", value))]
    _drive(config, progress_of(events=False, quiet=not sys.stderr.isatty()), resume)
    print_standings([journal], cross=True)
    click.echo()


_NEXT = """\
Next:
  arena play greedy counting --rules tactics     a match, a line for each round
  arena table demo/base.jsonl --format markdown  the table in another format
  arena verify demo/base.jsonl                   every round again through the referee
  arena replay demo/base.jsonl                   the rounds, step by step
  arena report demo/base.jsonl -o demo/report    all of it as pages for a browser
  arena new-bot python mybot                     a bot of your own; SPEC.md tells the rest
(arena is .venv/bin/arena.)"""
