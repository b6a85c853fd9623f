"""Commands for authors of bots: parse, call, print."""

from pathlib import Path

import click

from arena.cli import completion
from arena.cli.shared import InputError


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


@click.command("new-bot")
@click.argument("language", shell_complete=completion.language)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--strategy", type=click.Choice(["random", "greedy"]), default="random", show_default=True,
    help="How the bot plays until you change it.",
)  # fmt: skip
@click.option(
    "--ci", type=click.Choice(["github"]),
    help="Also write a workflow that checks every push, and compares every pull request with the bot it would replace.",
)  # fmt: skip
def new_bot(language: str, folder: Path, strategy: str, ci: str | None) -> None:
    """Write a bot to start from, ready to run, into DIR, which must be new or empty.

    LANGUAGE is python, javascript, c, c++, java, rust, go or bash. The bot and its files are named after DIR. In Python
    it gets a copy of the SDK, the folder schotten_sdk: it needs Python 3.11 or newer and nothing else.

    AGENTS.md beside it tells a coding agent the rules in brief, and how to test a change: `arena sprt sprt.toml` plays
    against the version of the bot in the folder `base` beside DIR.

    A bot plays random legal moves until you change it. In Python and JavaScript, --strategy greedy writes one that
    beats the random bot in nearly every round, with tests that you can add to.

    \b
    Examples:
      arena new-bot python mybot
      arena new-bot python mybot --strategy greedy
      arena new-bot c++ mybot --ci github
    """
    from arena.devtools.starters import Ci, StarterError, Strategy, create

    try:
        click.echo(create(language, folder, Strategy(strategy), Ci(ci) if ci else None))
    except StarterError as error:
        raise InputError(str(error)) from None


@click.command()
def bots() -> None:
    """List the bundled bots. Their names can be used wherever a command takes a bot."""
    from arena.plan.bot_spec import BUNDLED_BOTS

    for name, bot in BUNDLED_BOTS.items():
        click.echo(f"{name:10} {bot.summary}")
