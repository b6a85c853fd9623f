"""`arena connect` and `arena watch`: the commands of a peer of a server."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from arena.cli import completion
from arena.cli.shared import (
    InputError,
    check_name,
    configured,
    gathered,
    given,
    journal_errors,
    options_of,
    say_on_stderr,
    with_sandboxes,
)
from arena.plan.options import STARTED
from arena.support.address import AddressError
from arena.support.signals import INTERRUPTED
from arena.support.text import printable

if TYPE_CHECKING:
    from arena.client.bridge import Plays, Report
    from arena.client.client_events import ClientEvent
    from arena.client.dial import Destination


_address = click.argument("address", metavar="HOST:PORT")
_tls = click.option("--tls", is_flag=True, help="Talk to the server through TLS.")
_ca = click.option("--ca", type=click.Path(path_type=Path), help="Trust the certificates in this file; with --tls.")


def _server_to_watch(address: str, tls: bool, ca: Path | None) -> "Destination":
    from arena.client.dial import Destination

    if ca is not None and not tls:
        raise click.UsageError("--ca says which certificates to trust with TLS: add --tls")
    return Destination(address, tls=tls, ca=ca)


def _server_to_play_at(
    address: str,
    token: str | None,
    token_file: TextIO | None,
    name: str | None,
    tls: bool,
    ca: Path | None,
    retry: float,
) -> "Destination":
    import attrs

    if name is not None:
        check_name(name)
    if token_file is not None:
        token = token_file.read().strip()
    return attrs.evolve(_server_to_watch(address, tls, ca), token=token, name=name, retry=retry)


@click.command()
@gathered(
    "server", _server_to_play_at,
    _address,
    click.option("--token", envvar="ARENA_TOKEN", metavar="TOKEN", help="The bot's token; or set ARENA_TOKEN."),
    click.option("--token-file", type=click.File(), help="A file that holds the token.", metavar="FILE"),
    click.option("--name", help="The name to play under, where the server is open.  [the bot's own]", metavar="NAME"),
    _tls,
    _ca,
    click.option("--retry", default=300.0, show_default=True, help="Seconds without a server before giving up."),
)  # fmt: skip
@click.argument("command", nargs=-1, required=True, metavar="-- BOT…", shell_complete=completion.player)
@click.option(
    "--connections", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
    help="How many matches to play at once.",
)  # fmt: skip
@click.option(
    "--journal", type=click.Path(path_type=Path), metavar="FILE",
    help="Keep the rounds that the bot plays, for `arena replay` and `arena verify`.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="Say nothing about connections and matches, only what goes wrong.")
@options_of(STARTED)
def connect(
    server: "Destination",
    command: tuple[str, ...],
    connections: int,
    journal: Path | None,
    quiet: bool,
    **options: str | None,
) -> None:
    """Play at a server with a bot that speaks on stdin and stdout.

    The bot is started once for each connection. When a connection is lost, even in the middle of a round, the bot is
    started again and reconnects. The hashes of all deals are checked. Of the environment the bot gets PATH, HOME, LANG
    and TMPDIR, and what --env names; never the token.

    On stderr you see the name that the bot plays under, each match with its result, and at the end the whole score.

    With --journal, each round whose end the bot hears is added to FILE. `arena verify` proves from it that the rounds
    followed the rules and the deals were as promised. The opponent's times are those that passed here.

    BOT is a command, the name of a bundled bot, or human: that is you, at this terminal. Other users of this machine
    can see a token on the command line; they cannot see ARENA_TOKEN and --token-file.

    \b
    Examples:
      arena connect 127.0.0.1:4000 --token-file mybot.token -- ./mybot --fast
      arena connect arena.example.org:4000 --tls --token-file mybot.token -- python3 mybot.py
      arena connect 127.0.0.1:4000 --name anna --journal anna.jsonl -- greedy
      arena connect 127.0.0.1:4000 --name anna -- human
    """
    from arena.cli.guarded_output import guarded_output
    from arena.client.bridge import connect_all
    from arena.human.user_interface import UserInterface

    plays = _player(command, connections, given(options), journal)
    say = plays.say if isinstance(plays, UserInterface) else say_on_stderr
    guarded = nullcontext() if isinstance(plays, UserInterface) else guarded_output(journal)
    with _connect_errors(), journal_errors(), guarded:
        finished = connect_all(server, plays, connections, _report(quiet, say), journal)
    if not finished:
        sys.exit(INTERRUPTED)


def _player(command: Sequence[str], connections: int, options: Mapping[str, str], journal: Path | None) -> "Plays":
    """The bot that the command starts, or the user interface of the person at this terminal."""
    from arena.plan.bot_spec import HUMAN, BotSpec, command_of, missing_part
    from arena.plan.config import bot_with_options

    if command[0] == HUMAN:
        from arena.cli.human import interface_for

        if len(command) > 1 or connections > 1 or options:
            raise click.UsageError(
                f"{HUMAN} is you: without arguments, without options for a bot's process, and on one connection"
            )
        return interface_for(HUMAN, at_server=True)
    spec = configured(lambda: bot_with_options(BotSpec(command[0], command_of(command)), options))
    if problem := missing_part(spec):
        raise click.UsageError(problem)
    (spec,) = with_sandboxes([spec], [journal] if journal else [], connections)
    return spec


def _report(quiet: bool, say: Callable[[str], None]) -> "Report":
    """A function that says events; with `quiet` only those about something that goes wrong."""
    from arena.cli.client_wording import client_text
    from arena.client.client_events import MatchBegan, MatchEnded, PlayEnded, ServerSaidBye, Welcomed

    def report(event: "ClientEvent") -> None:
        if not (quiet and isinstance(event, Welcomed | MatchBegan | MatchEnded | ServerSaidBye | PlayEnded)):
            say(client_text(event))

    return report


@contextmanager
def _connect_errors() -> Iterator[None]:
    """A server that cannot be reached, or whose address is not one, ends the command with one line."""
    from arena.client.dial import ConnectError

    try:
        yield
    except AddressError as error:
        raise InputError(printable(str(error))) from None
    except ConnectError as error:
        raise click.ClickException(printable(str(error))) from None


@click.command()
@gathered("server", _server_to_watch, _address, _tls, _ca)
@click.argument("match", default="", metavar="[MATCH]")
@click.option("--json", "as_json", is_flag=True, help="Print the server's messages as they are, one per line.")
def watch(server: "Destination", match: str, as_json: bool) -> None:
    """Follow the rounds of a server as they are played: a board on a terminal, a line for each move in a pipe.

    MATCH is the id of one, such as 1.2-3; without it one match after the other is followed. Where a match is quicker
    than twenty moves a second, some are left out. Hands are hidden, and everything is delayed, if the server says so.
    On the board an arrow at a stone points to the side that was complete first.

    \b
    Examples:
      arena watch 127.0.0.1:4000
      arena watch 127.0.0.1:4000 1.2-3 --json
    """
    import os

    import trio

    from arena.client.dial import ConnectError
    from arena.client.spectate import Screen, json_line
    from arena.client.spectate import watch as attend
    from arena.support.signals import unwrap_exception_group

    on_terminal = sys.stdout.isatty() and not as_json
    screen = Screen(lambda text: click.echo(text, nl=False), on_terminal, match, "NO_COLOR" not in os.environ)
    tell_line = (lambda line: click.echo(json_line(line))) if as_json else None
    with _connect_errors(), unwrap_exception_group(ConnectError, AddressError, OSError):
        finished = trio.run(attend, server, match, screen, tell_line)
    if not finished:
        sys.exit(INTERRUPTED)
