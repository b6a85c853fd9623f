"""`arena serve` and `arena token`: the commands of an organiser whose bots connect."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from arena.cli.cluster_command import no_cluster_for_server
from arena.cli.outcome import report_outcome, unless_reader_left
from arena.cli.shared import (
    InputError,
    check_name,
    configured,
    events_option,
    given,
    journal_errors,
    options_of,
    quiet_option,
    say_on_stderr,
    tournament_with_sandboxes,
)
from arena.cli.table_command import print_standings
from arena.plan.config import ConfigError
from arena.plan.options import BOT, SERVER, TOURNAMENT
from arena.support.address import AddressError


@click.command()
@click.argument("file", metavar="cup.toml", type=click.Path(path_type=Path))
@events_option
@quiet_option
@click.option("--brief", is_flag=True, help="Print who comes and goes and what goes wrong, but no line for each round.")
@no_cluster_for_server
@options_of([option for option in (*SERVER, *TOURNAMENT, *BOT) if option.name not in ("changed", "seed")])
def serve(file: Path, events: bool, quiet: bool, brief: bool, **options: Any) -> None:
    """Play a tournament among bots that connect over TCP and local ones, as the file says.

    A bot with a `token` in the file connects from outside (`arena token NAME` makes one); a bot with a `cmd` is started
    here. The first Ctrl-C or SIGTERM lets running matches end, a second one stops at once. Run the same command again
    to resume the tournament.

    \b
    Examples:
      arena serve cup.toml --listen 127.0.0.1:4000
      arena serve cup.toml --listen 0.0.0.0:4000 --cert chain.pem --key key.pem --begin 20:30
      arena serve cup.toml --listen 127.0.0.1:4000 --open --forever
    """
    from arena.cli.keys import begin_key
    from arena.cli.progress import progress_of, stamped
    from arena.cli.tournament_progress import tournament_progress
    from arena.plan.server_config import read_server_file
    from arena.server.server import serve as run_server

    if events + quiet + brief > 1:
        raise click.UsageError("--events, --quiet and --brief exclude each other: choose one")
    config, server = configured(lambda: read_server_file(file, given(options)))
    config = tournament_with_sandboxes(config, [file, *(server.certificate or ())], config.matches_at_once)
    try:
        shown = partial(tournament_progress, brief=brief, with_time=True)
        with journal_errors(), progress_of(shown, config.journal, events=events, quiet=quiet) as listener:
            ran = run_server(config, server, listener, begin_key(or_pipe=server.begin == "key"))
    except (AddressError, ConfigError) as error:
        raise InputError(str(error)) from None
    assert config.journal is not None
    if server.forever and ran.finished and not events and ran.rescue is None:
        with unless_reader_left(config.journal):
            print_standings([config.journal])
    report_outcome(ran, config, say=stamped(say_on_stderr))
    if not events:
        with unless_reader_left(config.journal):
            print_standings([config.journal])
            click.echo(f"\nEverything is in {config.journal}.")


@click.command()
@click.argument("name")
def token(name: str) -> None:
    """Make a token for a bot that connects from outside.

    Prints the token, which is for the bot's author alone, and the lines for the tournament file, which hold only a hash
    of it. The token is not stored: replace a lost one by a new one.

    \b
    Example:
      arena token mybot
    """
    from arena.plan.tokens import new_token, token_hash

    check_name(name)
    secret = new_token()
    click.echo(f"The token, for the author of {name} alone:\n\n{secret}\n")
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    click.echo(f'The lines for the tournament file:\n\n[[bot]]\nname = "{quoted}"\ntoken = "{token_hash(secret)}"')
