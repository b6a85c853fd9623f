"""Commands for authors of bots: parse, call, print."""

import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from arena.cli import completion
from arena.cli.shared import configured, given, options_of, with_sandboxes
from arena.plan.options import STARTED

if TYPE_CHECKING:
    from arena.devtools.examination import Finding
    from arena.devtools.probe import CheckLimits
    from arena.plan.bot_spec import BotSpec

_positive = click.IntRange(min=1)
_report = click.File("w", encoding="utf-8", lazy=False)  # opened before the check, so that a wrong path fails early


@click.command()
def schema() -> None:
    """Print the JSON Schema of every message between arena and bot.

    \b
    Example:
      arena schema > schotten-arena.schema.json
    """
    import json

    from protocol.schema import schema as message_schema

    click.echo(json.dumps(message_schema(), indent=2))


@click.command()
def spec() -> None:
    """Read SPEC.md: the rules, the protocol and the journal, for authors of bots.

    On a terminal a pager shows the text; elsewhere it is printed as it is.

    \b
    Examples:
      arena spec
      arena spec > SPEC.md
    """
    from importlib import resources

    text = (resources.files("arena.devtools") / "SPEC.md").read_text(encoding="utf-8")
    click.echo_via_pager(text.removesuffix("\n"))  # the pager adds one


@click.command()
@click.argument("bots", nargs=-1, metavar="[BOT]", shell_complete=completion.bot)
@click.option("--listen", metavar="HOST:PORT", help="Wait for a bot that connects over TCP instead of starting one.")
@click.option(
    "--start-ms",
    type=_positive,
    default=10_000,
    show_default=True,
    help="Milliseconds for the bot to start and say hello.",
)
@click.option(
    "--move-ms", type=_positive, default=1_000, show_default=True, help="Milliseconds for each answer of the bot."
)
@click.option(
    "--rounds", type=_positive, default=200, show_default=True, help="Rounds over which the bot's memory is measured."
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--junit", type=_report, help="Also write the findings to this file, as JUnit XML.")
@options_of(STARTED)
def check(
    bots: tuple[str, ...],
    listen: str | None,
    start_ms: int,
    move_ms: int,
    rounds: int,
    as_json: bool,
    junit: TextIO | None,
    **options: str | None,
) -> None:
    """Check whether a bot is fit to play: lead it through scripted situations and whole rounds, and say what is wrong.

    BOT is a command line, name=command, or the name of a bundled bot. The exit status is 0 if the bot passes and 1 if
    it does not.

    \b
    Examples:
      arena check "./mybot --fast"
      arena check "python3 mybot.py" --memory 512M --json
      arena check --listen 127.0.0.1:4000 --junit report.xml
    """
    from arena.devtools import check_report
    from arena.devtools.probe import CheckLimits

    if len(bots) > 1:
        raise click.UsageError(
            f"A bot is one argument: put its command in quotes, such as {shlex.join([' '.join(bots)])}."
        )
    bot = bots[0] if bots else None
    if (bot is None) is (listen is None):
        raise click.UsageError('Name a bot to start, such as "python3 mybot.py", or an address for --listen.')
    if listen is not None and given(options):
        raise click.UsageError(
            f"--{next(iter(given(options)))} is for a bot that is started here; leave it out with --listen."
        )
    name = bot or f"the bot at {listen}"
    tell = (lambda _: None) if as_json else _tell_finding
    spec = None
    if bot is not None:
        (spec,) = with_sandboxes([configured(lambda: _spec_of(bot, given(options)))])
    findings = _examine(spec, listen, CheckLimits(start_ms, move_ms), rounds, tell)
    click.echo(check_report.as_json(name, findings) if as_json else "\n" + check_report.summary(name, findings))
    if junit:
        junit.write(check_report.as_junit(name, findings))
    sys.exit(0 if check_report.passed(findings) else 1)


def _spec_of(bot: str, options: dict[str, str]) -> "BotSpec":
    from arena.plan.bot_spec import BotError, parse_bot
    from arena.plan.config import ConfigError, bot_with_options

    try:
        return bot_with_options(parse_bot(bot), options)
    except BotError as error:
        raise ConfigError(str(error)) from None


def _tell_finding(finding: "Finding") -> None:
    """Prints a check that was made; the summary counts those that were skipped after a failure."""
    from arena.devtools import check_report

    click.echo(check_report.finding_text(finding))


def _examine(
    spec: "BotSpec | None", listen: str | None, limits: "CheckLimits", rounds: int, tell: Callable[["Finding"], None]
) -> "list[Finding]":
    import trio

    from arena.devtools.bot_sources import CommandSource, ListeningSource
    from arena.devtools.check import examine
    from arena.support.address import AddressError, address_of, open_listener
    from arena.support.signals import INTERRUPTED, calling_on_signals, unwrap_exception_group

    async def start_or_listen() -> "list[Finding]":
        if spec is not None:
            return await examine(CommandSource(spec), limits, rounds, tell)
        assert listen is not None
        async with await open_listener(listen) as listener:
            say = partial(click.echo, err=True)
            say(f"Waiting for a bot at {address_of(listener)} ...")
            return await examine(ListeningSource(listener, limits.start_ms / 1000, say), limits, rounds, tell)

    async def until_stopped() -> "list[Finding] | None":
        found = None
        with trio.CancelScope() as scope:
            async with calling_on_signals(scope.cancel):
                found = await start_or_listen()
        return found

    try:
        with unwrap_exception_group(AddressError):
            found = trio.run(until_stopped)
    except AddressError as error:
        raise click.UsageError(str(error)) from None
    if found is None:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)
    return found


@click.command("new-bot")
@click.argument("language", shell_complete=completion.language)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def new_bot(language: str, folder: Path) -> None:
    """Write a bot to start from, ready to run, into DIR, which must be new or empty.

    LANGUAGE is python, javascript, c, c++, java, rust, go or bash. In Python the bot is named after DIR and gets a copy
    of the SDK, the folder schotten_sdk: it needs Python 3.11 or newer and nothing else.

    \b
    Examples:
      arena new-bot python mybot
      arena new-bot c++ mybot
    """
    from arena.devtools.starters import StarterError, create

    try:
        click.echo(create(language, folder))
    except StarterError as error:
        raise click.ClickException(str(error)) from None


@click.command()
def bots() -> None:
    """List the bundled bots. Their names can be used wherever a command takes a bot."""
    from arena.plan.bot_spec import BUNDLED_BOTS

    for name, bot in BUNDLED_BOTS.items():
        click.echo(f"{name:10} {bot.summary}")
