"""Commands for playing over the network: parse, call, print."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from arena.cli import completion
from arena.cli.table import print_standings
from arena.cli.tournament import configured, given, options_of, progress_of, report
from arena.plan.config import ConfigError
from arena.plan.options import BOT, SERVER, STARTED, TOURNAMENT
from arena.support.address import AddressError
from arena.support.signals import INTERRUPTED
from arena.support.text import printable

if TYPE_CHECKING:
    from arena.client.bridge import Report
    from arena.client.events import ClientEvent


@click.command()
@click.argument("file", metavar="cup.toml", type=click.Path(path_type=Path))
@click.option("--events", is_flag=True, help="Tell how it goes as JSON, an event a line, on stdout; no table.")
@click.option("--quiet", is_flag=True, help="Say nothing before the table.")
@options_of((*SERVER, *TOURNAMENT, *BOT))
def serve(file: Path, events: bool, quiet: bool, **options: Any) -> None:
    """A tournament among bots that connect over TCP, mixed with local ones as the file says.

    A bot with a `token` in the file connects from outside (`arena token NAME` makes one); a bot with a `cmd` is started
    here. The first Ctrl-C or SIGTERM lets running matches end, a second one stops at once; run the same command again
    to go on.

    \b
    Examples:
      arena serve cup.toml --listen 127.0.0.1:4000
      arena serve cup.toml --listen 0.0.0.0:4000 --cert chain.pem --key key.pem --begin 20:30
      arena serve cup.toml --listen 127.0.0.1:4000 --open --forever
    """
    from arena.cli.keys import begin_key
    from arena.journal.lines import JournalError
    from arena.plan.server_config import read_server_file
    from arena.server.server import serve as run_server

    config, server = configured(lambda: read_server_file(file, given(options)))
    try:
        with progress_of(events, quiet, with_time=True) as listener:
            ran = run_server(config, server, listener, begin_key(or_pipe=server.begin == "key"))
    except (JournalError, AddressError, ConfigError) as error:
        raise click.ClickException(str(error)) from None
    assert config.journal is not None
    if server.forever and ran.finished and not events and ran.rescue is None:
        print_standings([config.journal])
    report(ran, config)
    if not events:
        print_standings([config.journal])
        click.echo(f"\nEverything is in {config.journal}.")


@click.command()
@click.argument("name")
def token(name: str) -> None:
    """A token for a bot that connects from outside.

    Prints the token, which is for the bot's author alone, and the lines for the tournament file, which hold only a hash
    of it. Nothing is kept: a token that is lost is made anew.

    \b
    Example:
      arena token mybot
    """
    from arena.plan.tokens import new_token, token_hash
    from protocol.names import NAME_RULE, name_problem

    if problem := name_problem(name):
        raise click.UsageError(f"{name!r} is no name: {problem}; expected {NAME_RULE}")
    secret = new_token()
    click.echo(f"The token, for the author of {name} alone:\n\n{secret}\n")
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    click.echo(f'The lines for the tournament file:\n\n[[bot]]\nname = "{quoted}"\ntoken = "{token_hash(secret)}"')


@click.command()
@click.argument("address", metavar="HOST:PORT")
@click.argument("command", nargs=-1, required=True, metavar="-- BOT…", shell_complete=completion.bot)
@click.option("--token", envvar="ARENA_TOKEN", help="The bot's token; also taken from ARENA_TOKEN.", metavar="TOKEN")
@click.option("--token-file", type=click.File(), help="A file that holds the token.", metavar="FILE")
@click.option("--name", help="The name to play under, where the server is open.  [the bot's own]", metavar="NAME")
@click.option(
    "--connections",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many matches to play at once.",
    metavar="N",
)
@click.option("--tls", is_flag=True, help="Talk to the server through TLS.")
@click.option("--ca", type=click.Path(path_type=Path), help="Trust the certificates in this file; with --tls.")
@click.option("--retry", default=300.0, show_default=True, help="Seconds without a server before giving up.")
@click.option("--quiet", is_flag=True, help="Say nothing about connections and matches, only what goes wrong.")
@options_of(STARTED)
def connect(
    address: str,
    command: tuple[str, ...],
    token: str | None,
    token_file: TextIO | None,
    name: str | None,
    connections: int,
    tls: bool,
    ca: Path | None,
    retry: float,
    quiet: bool,
    **options: str | None,
) -> None:
    """Plays at a server with a bot that speaks on stdin and stdout.

    The bot is started once for each connection. When a connection is lost the bot is started anew and comes back, also
    in the middle of a round. The hashes of all deals are checked. Of the environment the bot gets PATH, HOME, LANG and
    TMPDIR, and what --env names; never the token.

    On stderr you see the name that the bot plays under, each match with its result, and at the end the whole score.

    BOT is a command, or the name of a bot that comes along. A token on the command line can be seen by others who use
    this machine; ARENA_TOKEN and --token-file cannot.

    \b
    Examples:
      arena connect 127.0.0.1:4000 --token-file mybot.token -- ./mybot --fast
      arena connect arena.example.org:4000 --tls --token-file mybot.token -- python3 mybot.py
      arena connect 127.0.0.1:4000 --name anna -- greedy
    """
    from arena.client.bridge import connect_all
    from arena.client.dial import ConnectError, Destination
    from arena.plan.bot_spec import BotSpec, command_of, missing_program
    from arena.plan.config import bot_with_options
    from protocol.names import NAME_RULE, name_problem

    spec = configured(lambda: bot_with_options(BotSpec(command[0], command_of(command)), given(options)))
    if problem := missing_program(spec):
        raise click.UsageError(problem)
    _check_tls(tls, ca)
    if name is not None and (unfit := name_problem(name)):
        raise click.UsageError(f"{name!r} is no name: {unfit}; expected {NAME_RULE}")
    if token_file is not None:
        token = token_file.read().strip()
    server = Destination(address, token, name, tls, ca, retry)
    try:
        finished = connect_all(server, spec, connections, _report(quiet))
    except (ConnectError, AddressError) as error:
        raise click.ClickException(printable(str(error))) from None
    if not finished:
        sys.exit(INTERRUPTED)


def _report(quiet: bool) -> "Report":
    """Says on stderr what happens; with `quiet` only what goes wrong."""
    from arena.cli.wording import client_text
    from arena.client.events import MatchBegan, MatchEnded, PlayEnded, ServerSaidBye, Welcomed

    def report(event: "ClientEvent") -> None:
        if not (quiet and isinstance(event, Welcomed | MatchBegan | MatchEnded | ServerSaidBye | PlayEnded)):
            click.echo(client_text(event), err=True)

    return report


@click.command()
@click.argument("address", metavar="HOST:PORT")
@click.argument("match", default="", metavar="[MATCH]")
@click.option("--tls", is_flag=True, help="Talk to the server through TLS.")
@click.option("--ca", type=click.Path(path_type=Path), help="Trust the certificates in this file; with --tls.")
@click.option("--json", "as_json", is_flag=True, help="The server's messages as they are, a line for each.")
def watch(address: str, match: str, tls: bool, ca: Path | None, as_json: bool) -> None:
    """Follows the rounds of a server as they are played: a board on a terminal, a line for each move in a pipe.

    MATCH is the id of one, such as 1.2-3; without it one match after the other is followed. Where a match is quicker
    than twenty moves a second some are left out. Hands are hidden, and everything comes with a delay, if the server
    says so. On the board an arrow at a stone points to the side that was complete first.

    \b
    Examples:
      arena watch 127.0.0.1:4000
      arena watch 127.0.0.1:4000 1.2-3 --json
    """
    import os

    import trio

    from arena.client.dial import ConnectError, Destination
    from arena.client.spectate import Screen, json_line
    from arena.client.spectate import watch as attend
    from arena.support.signals import unwrap_exception_group

    _check_tls(tls, ca)
    on_terminal = sys.stdout.isatty() and not as_json
    screen = Screen(lambda text: click.echo(text, nl=False), on_terminal, match, "NO_COLOR" not in os.environ)
    tell_line = (lambda line: click.echo(json_line(line))) if as_json else None
    try:
        with unwrap_exception_group(ConnectError, AddressError, OSError):
            finished = trio.run(attend, Destination(address, tls=tls, ca=ca), match, screen, tell_line)
    except (ConnectError, AddressError) as error:
        raise click.ClickException(printable(str(error))) from None
    if not finished:
        sys.exit(INTERRUPTED)


def _check_tls(tls: bool, ca: Path | None) -> None:
    if ca is not None and not tls:
        raise click.UsageError("--ca says whom to trust with TLS: add --tls")
