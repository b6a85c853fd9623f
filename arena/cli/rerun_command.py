"""`arena rerun`: parse, ask, call, print.

Exit status: 0 the fault came again, 1 it did not, 2 a wrong call, 3 the arena failed, 130 stopped by Ctrl-C.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from arena.cli import completion
from arena.cli.shared import InputError, configured, given, options_of, with_sandboxes
from arena.devtools.rerun import FaultOutcome
from arena.devtools.rerun import rerun as play_once_more
from arena.plan.bot_spec import BotSpec
from arena.plan.config import bot_from_command_line, bot_with_options
from arena.plan.options import STARTED
from arena.plan.recorded_config import recorded_command
from arena.support.signals import INTERRUPTED
from arena.support.text import visible
from arena.worker.fault_bundle import BundleError


@click.command()
@click.argument("bundle", metavar="FOLDER", type=click.Path(path_type=Path))
@click.argument("bot", required=False, shell_complete=completion.bot)
@click.option("--yes", is_flag=True, help="Start the command that the bundle names without asking.")
@click.option("--live", is_flag=True, help="Play the round freely, with both bots: it may take another course.")
@click.option("--from-start", is_flag=True, help="Lead the bot through the earlier rounds of its process first.")
@options_of(STARTED)
def rerun(bundle: Path, bot: str | None, yes: bool, live: bool, from_start: bool, **options: str | None) -> None:
    """Lead a bot to the decision at which it failed, ask for it again, and say whether the fault came again.

    FOLDER is the one that the arena names beside a fault; the bundle.json in it will do as well. It says how the bot
    was started, and whoever wrote it could write any command. So you are shown the command and asked before it is
    started. Without a terminal, only --yes starts it. A BOT that you name after FOLDER is started instead, at once: the
    name of a bundled bot, or a command line.

    Only the bot that failed is started. It is led through the round by the real protocol, with the seed that it had,
    and the recorded moves are played, whatever it answers. Then it is asked for the very decision at which it failed,
    with the clock as it was. What the bot did in earlier rounds is not repeated, unless you add --from-start: then it
    is led through all rounds that its process had played before, which the journal beside FOLDER has.

    The exit status is 0 if the fault came again: the bot failed at this decision with the same ending. It is 1 if it
    did not: it answered, or another fault came instead. It is 2 if there is no bundle that can be repeated or if you do
    not want to start its command, 3 if the arena itself failed twice, so that nothing is known, and 130 after Ctrl-C.
    With --live, the same bot has to fail with the same ending, wherever in the round. The opponent is then started as
    FOLDER.opponent says, which an organiser keeps.

    Bots that were in a sandbox are in one again, and have the limits that they had; the options change that. Variables
    and what a sandbox shows are never taken from FOLDER: give them with --env, --inherit-env and --expose.

    \b
    Examples:
      arena rerun cup.faults/1.1-2.3-mybot
      arena rerun cup.faults/1.1-2.3-mybot "./mybot --new"
      arena rerun cup.faults/1.1-2.3-mybot --yes --sandbox=false
      arena rerun cup.faults/1.1-2.3-mybot --from-start
      arena rerun cup.faults/1.1-2.3-mybot --live
    """
    if live and from_start:
        raise click.UsageError("--live plays one round freely, and --from-start repeats recorded ones; leave out one")
    own = None if bot is None else configured(lambda: bot_from_command_line(bot, {}))

    def started(specs: Sequence[BotSpec]) -> Sequence[BotSpec]:
        found = with_sandboxes(configured(lambda: [bot_with_options(spec, given(options)) for spec in specs]))
        foreign = [spec for spec in found if own is None or (spec.command, spec.cwd) != (own.command, own.cwd)]
        if foreign and not yes:
            _ask(bundle, foreign)
        return found

    try:
        found = play_once_more(bundle, started, instead=own, live=live, from_start=from_start)
    except BundleError as error:
        raise InputError(str(error)) from None
    if found is None:
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)
    click.echo(f"Then: {found.then}\nNow:  {found.now}")
    click.echo(
        {
            FaultOutcome.AGAIN: "The fault came again.",
            FaultOutcome.ANOTHER: "Another fault came instead.",
            FaultOutcome.NONE: "The fault did not come again.",
            FaultOutcome.VOID: "Whether the fault comes again is not known: the arena itself failed, twice. Try again.",
        }[found.came]
    )
    for remark in found.remarks:
        click.echo(remark)
    sys.exit({FaultOutcome.AGAIN: 0, FaultOutcome.VOID: 3}.get(found.came, 1))


def _ask(bundle: Path, bots: Sequence[BotSpec]) -> None:
    """Shows how the bots of a bundle would be started. Ends the command unless the user at the terminal agrees."""
    what = visible(f"{bundle}: this would start a command of the bundle:")
    shown = [visible(_shown(bot)) for bot in bots]
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        remedy = "add --yes if you trust it, or name a bot of your own after the folder"
        raise InputError(f"{what} {' and '.join(shown)}; {remedy}")
    click.echo("\n  ".join([what, *shown]), err=True)
    click.echo("Start it? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("nothing was started")


def _shown(bot: BotSpec) -> str:
    exposed = ", ".join(bot.sandbox.exposed(bot.cwd or Path()))
    inside = "in a sandbox" + (f" that shows {exposed}" if exposed else "")
    box = inside if bot.is_sandboxed else "without a sandbox"
    return f"{shlex.join(recorded_command(bot.command))} in the folder {bot.cwd}, {box}"
