"""Commands for authors of bots: parse, call, print."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from arena.check import Finding
    from arena.probe import Limits


@click.command()
def schema() -> None:
    """The JSON Schema of every message between arena and bot.

    \b
    Example:
      arena schema > schotten-arena.schema.json
    """
    import json

    from protocol.messages import schema as message_schema

    click.echo(json.dumps(message_schema(), indent=2))


@click.command()
@click.argument("bot", required=False)
@click.option("--listen", metavar="HOST:PORT", help="Wait for a bot that connects over TCP, instead of starting one.")
@click.option("--start-ms", default=10_000, show_default=True, help="The time a bot has to start and say hello.")
@click.option("--move-ms", default=1_000, show_default=True, help="The time a bot has for an answer.")
@click.option("--rounds", default=200, show_default=True, help="Rounds over which memory is watched.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write the findings as JUnit XML as well."
)
def check(
    bot: str | None, listen: str | None, start_ms: int, move_ms: int, rounds: int, as_json: bool, junit: Path | None
) -> None:
    """Is a bot fit to play? Plays it through scripted situations and whole rounds, and says what is wrong.

    BOT is a command line, name=command, or the name of a bot that comes along. The exit status is 0 if the bot passes
    and 1 if it does not.

    \b
    Examples:
      arena check "./mybot --fast"
      arena check "python3 mybot.py" --json
      arena check --listen 127.0.0.1:4000 --junit report.xml
    """
    from arena import check_report
    from arena.probe import Limits

    if (bot is None) is (listen is None):
        raise click.UsageError('Name a bot to start, such as "python3 mybot.py", or say where to --listen.')
    name = bot or f"the bot at {listen}"
    tell = (lambda _: None) if as_json else (lambda finding: click.echo(check_report.finding_text(finding)))
    findings = _examine(bot, listen, Limits(start_ms, move_ms), rounds, tell)
    click.echo(check_report.as_json(name, findings) if as_json else "\n" + check_report.summary(name, findings))
    if junit:
        junit.write_text(check_report.as_junit(name, findings), encoding="utf-8")
    sys.exit(0 if check_report.passed(findings) else 1)


def _examine(
    bot: str | None, listen: str | None, limits: "Limits", rounds: int, tell: Callable[["Finding"], None]
) -> "list[Finding]":
    import trio

    from arena.address import AddressError, open_listener
    from arena.bots import BotError, parse_bot
    from arena.check import Examination
    from arena.probe import CommandDoor, ListeningDoor

    async def examine() -> "list[Finding]":
        if bot is not None:
            return await Examination(CommandDoor(parse_bot(bot)), limits, rounds, tell).run()
        assert listen is not None
        async with await open_listener(listen) as listener:
            click.echo(f"Waiting for a bot at {listen} ...", err=True)
            return await Examination(ListeningDoor(listener, limits.start_ms / 1000), limits, rounds, tell).run()

    try:
        return trio.run(examine)
    except (BotError, AddressError) as error:
        raise click.UsageError(str(error)) from None


@click.command("new-bot")
@click.argument("language")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def new_bot(language: str, folder: Path) -> None:
    """A starter, ready to run: the smallest bot in LANGUAGE, copied into DIR.

    LANGUAGE is python, javascript, c, c++, java, rust, go or bash.

    \b
    Examples:
      arena new-bot python mybot
      arena new-bot c++ mybot
    """
    from arena.starters import StarterError, create

    try:
        click.echo(create(language, folder))
    except StarterError as error:
        raise click.ClickException(str(error)) from None


@click.command()
def bots() -> None:
    """The bots that come along: use their names wherever a bot is asked for."""
    from arena.bots import OWN_BOTS

    for name, bot in OWN_BOTS.items():
        click.echo(f"{name:10} {bot.summary}")
