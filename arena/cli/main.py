"""The command line: which commands there are. Each is imported when it is called, so that --help is quick."""

import importlib
import signal
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from arena.cli.completion import matching
from arena.support.signals import INTERRUPTED
from arena.support.suggestion import did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# name -> (module, function, the line in --help)
_COMMANDS: Final = {
    "play": ("arena.cli.tournament", "play", "A match between two bots."),
    "run": ("arena.cli.tournament", "run", "A tournament; run again to go on with it."),
    "serve": ("arena.cli.server", "serve", "A tournament of bots that connect over TCP."),
    "connect": ("arena.cli.server", "connect", "Play at a server with any bot."),
    "watch": ("arena.cli.server", "watch", "The rounds of a server as they are played."),
    "token": ("arena.cli.server", "token", "A token for a bot that connects."),
    "table": ("arena.cli.table", "table", "Standings, Elo and cross tables of journals."),
    "verify": ("arena.cli.table", "verify", "Every round of a journal again through the referee."),
    "replay": ("arena.cli.replay", "replay", "The rounds of a journal, step by step."),
    "show": ("arena.cli.show", "show", "A position on a board, with its legal moves."),
    "report": ("arena.cli.report", "report", "Journals as pages for a browser, every round with its replay."),
    "regress": ("arena.cli.regress", "regress", "Where does a bot decide otherwise than before?"),
    "rerun": ("arena.cli.tournament", "rerun", "Play the round of a fault once more."),
    "demo": ("arena.cli.tournament", "demo", "A small tournament of the bots that come along."),
    "bots": ("arena.cli.bots", "bots", "The bots that come along."),
    "check": ("arena.cli.bots", "check", "Is a bot fit to play?"),
    "new-bot": ("arena.cli.bots", "new_bot", "A starter for a bot of your own."),
    "spec": ("arena.cli.bots", "spec", "Read SPEC.md: all that the author of a bot needs to know."),
    "schema": ("arena.cli.bots", "schema", "The JSON Schema of the protocol."),
}


class _Lazy(click.Group):
    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, function, _ = _COMMANDS[name]
        command: click.Command = getattr(importlib.import_module(module), function)
        return command

    def shell_complete(self, context: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Commands with their lines, without importing any of them."""
        commands = matching({name: line for name, (_, _, line) in _COMMANDS.items()}, incomplete)
        return [*commands, *click.Command.shell_complete(self, context, incomplete)]

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if words[0] not in _COMMANDS and (hint := did_you_mean(words[0], _COMMANDS)):
            context.fail(f"No such command {words[0]!r}{hint}")
        return super().resolve_command(context, words)

    def invoke(self, context: click.Context) -> Any:
        """Ctrl-C ends every command in the same way; click would end some of them with "Aborted!" and status 1."""
        try:
            return super().invoke(context)
        except* KeyboardInterrupt:  # a nursery wraps it in a group
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one must not disturb the way out
        click.echo("Stopped.", err=True)
        sys.exit(INTERRUPTED)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in _COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="schotten-arena", prog_name="arena")
def main() -> None:
    """The place where Schotten Totten bots meet.

    SPEC.md says all that the author of a bot needs to know; `arena spec` shows it.

    \b
    Examples:
      arena play greedy random              a match
      arena run greedy counting "./mybot"   a tournament
      arena check "./mybot"                 is my bot fit to play?

    \b
    For the Tab key to complete commands, options, bots and rule sets:
      eval "$(_ARENA_COMPLETE=bash_source arena)"    in ~/.bashrc
      eval "$(_ARENA_COMPLETE=zsh_source arena)"     in ~/.zshrc
      _ARENA_COMPLETE=fish_source arena | source     in ~/.config/fish/config.fish
    """


def entry() -> None:
    """What the `arena` script runs: like `main`, with our own words for a full disk or a closed pipe."""
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)  # whoever read our output has had enough
    except OSError as error:
        sys.exit(f"arena: {error.strerror}" + (f": {error.filename}" if error.filename else ""))
