"""The commands of the command line. Each is imported only when it is called, so that --help is quick."""

import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from arena.support import compilation
from arena.support.output import descriptor_of, is_ready, silence
from arena.support.signals import INTERRUPTED
from arena.support.text import printable, with_short_words
from arena.support.version import VERSION

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FAILED: Final = 3  # the arena could not do its work; 1 would be a verdict, for example of `arena sprt`

# name -> (its module in arena/cli without `_command`, function, the line in --help)
_COMMANDS: Final = {
    "play": ("tournament", "play", "Play a match between two bots."),
    "run": ("tournament", "run", "Play a tournament, or resume it."),
    "sprt": ("sprt", "sprt", "Test whether a change makes a bot better."),
    "cluster-check": ("cluster", "cluster_check", "Compare the machines of a Dask cluster with this one."),
    "serve": ("server", "serve", "Play a tournament of bots that connect over TCP."),
    "connect": ("client", "connect", "Play at a server with any bot."),
    "watch": ("client", "watch", "Follow the rounds of a server as they are played."),
    "token": ("server", "token", "Make a token for a bot that connects."),
    "table": ("table", "table", "Print standings, Elo and cross tables of journals."),
    "verify": ("table", "verify", "Check every round of a journal with the referee."),
    "replay": ("replay", "replay", "Look at the rounds of a journal, step by step."),
    "show": ("show", "show", "Draw a position on a board, with its legal moves."),
    "report": ("report", "report", "Write journals as pages for a browser, with replays."),
    "export": ("export", "export", "Write journals as CSV, JSON lines or Parquet."),
    "regress": ("regress", "regress", "Replay recorded positions and list changed decisions."),
    "rerun": ("rerun", "rerun", "Ask for the decision of a fault again."),
    "demo": ("demo", "demo", "Play a small tournament of the bundled bots."),
    "bots": ("bots", "bots", "List the bundled bots."),
    "check": ("check", "check", "Check whether a bot is fit to play."),
    "sandbox": ("sandbox", "sandbox", "Say what the sandbox of bots holds on this machine."),
    "new-bot": ("bots", "new_bot", "Write a bot to start from."),
    "spec": ("bots", "spec", "Read SPEC.md: all that the author of a bot needs to know."),
    "schema": ("bots", "schema", "Print the JSON Schema of the protocol."),
}
_RENAMED: Final = {"again": "rerun"}
_PLAYING: Final = {"play", "run", "sprt", "demo"}  # with worker processes
_NEEDS_NO_WORKER: Final = {
    "-h",
    "--help",
    "human",
    "--scheduler",
}  # words; written otherwise, one is started and not used


class _Lazy(click.Group):
    def list_commands(self, _context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module, function, _ = _COMMANDS[name]
        command: click.Command = getattr(importlib.import_module(f"arena.cli.{module}_command"), function)
        return command

    def shell_complete(self, context: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Completes commands with their lines in --help, without importing any of them."""
        from arena.cli.completion import matching

        commands = matching({name: line for name, (_, _, line) in _COMMANDS.items()}, incomplete)
        return [*commands, *click.Command.shell_complete(self, context, incomplete)]

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if words[0] in _RENAMED:
            context.fail(f"No such command {words[0]!r}; it is called {_RENAMED[words[0]]} now")
        if words[0] not in _COMMANDS:
            from arena.support.suggestion import did_you_mean

            if hint := did_you_mean(words[0], _COMMANDS):
                context.fail(f"No such command {words[0]!r}{hint}")
        if words[0] in _PLAYING and _NEEDS_NO_WORKER.isdisjoint(words) and not context.resilient_parsing:
            from arena.cli.first_worker import start

            start(context)
        name, command, rest = super().resolve_command(context, words)
        for parameter in command.params if command else ():
            if hasattr(parameter, "joined"):
                rest = parameter.joined(rest)
        return name, command, rest

    def invoke(self, context: click.Context) -> Any:
        """Ctrl-C ends every command in the same way, and so does a reader that closes our pipe. click would end with
        the status 1, and some commands with "Aborted!"."""
        try:
            return super().invoke(context)
        except* BrokenPipeError:  # a nursery wraps it in a group
            silence(sys.stdout)
            status = _FAILED
        except* KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the exit
            _drop_unread()
            click.echo("Stopped.", err=True)
            status = INTERRUPTED
        sys.exit(status)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in _COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="arena", message=f"%(prog)s, version %(version)s ({compilation.kind()})")
def main() -> None:
    """An arena for Schotten Totten bots.

    SPEC.md says all that the author of a bot needs to know; `arena spec` shows it.

    \b
    Examples:
      arena play greedy random              play a match
      arena run greedy counting "./mybot"   play a tournament
      arena check "./mybot"                 check whether your bot is fit to play
      arena sprt "./mybot" "./mybot-1.0"    test whether a change makes it better

    \b
    To complete commands, options, bots and rule sets with the Tab key, add:
      eval "$(_ARENA_COMPLETE=bash_source arena)"    to ~/.bashrc
      eval "$(_ARENA_COMPLETE=zsh_source arena)"     to ~/.zshrc
      _ARENA_COMPLETE=fish_source arena | source     to ~/.config/fish/config.fish
    """


def _open_missing_streams() -> None:
    """Open stdin, stdout and stderr to nowhere if they were closed before the start: otherwise the journal could get
    their descriptors, and with them what a child process prints."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode))


def _drop_unread() -> None:
    """After Ctrl-C, wait for no reader: stdout gets no more, and stderr only if it is read."""
    silence(sys.stdout)
    if (descriptor := descriptor_of(sys.stderr)) is not None and not is_ready(descriptor):
        silence(sys.stderr)


def entry() -> None:
    """The entry point of the `arena` script: `main`, with one line for a stale build, a full disk or a closed pipe."""
    _open_missing_streams()
    try:
        if problem := compilation.outdated():
            print(f"arena: {problem}", file=sys.stderr)
            sys.exit(2)
        try:
            main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
        sys.exit(_FAILED)
    except OSError as error:
        silence(sys.stdout)
        where = f": {with_short_words(printable(str(error.filename)))}" if error.filename else ""
        print(f"arena: {error.strerror}{where}", file=sys.stderr)
        sys.exit(_FAILED)
