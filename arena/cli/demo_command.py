"""`arena demo`: parse, call, print."""

import sys
from pathlib import Path

import click

from arena.cli.outcome import play_and_report
from arena.cli.shared import configured
from arena.cli.table_command import print_standings
from arena.plan.bot_spec import BUNDLED_BOTS
from arena.plan.config import from_command_line

_NEXT = """\
Next:
  arena play greedy counting --rules tactics     play a match, with a line for each round
  arena table demo/base.jsonl --format markdown  print the table in another format
  arena verify demo/base.jsonl                   check every round with the referee
  arena replay demo/base.jsonl                   look at the rounds, step by step
  arena report demo/base.jsonl -o demo/report    write all of it as pages for a browser
  arena new-bot python mybot                     start a bot of your own; SPEC.md explains the rest
(arena is .venv/bin/arena.)"""


@click.command()
@click.option("--rounds", default=20, show_default=True, help="Rounds per match; even.")
def demo(rounds: int) -> None:
    """Play a small round-robin of the bundled bots, in base and in tactics, and print its Elo table.

    The journals are written to the folder `demo`, where they replace those of an earlier demo.

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
    from arena.cli.progress import progress_of
    from arena.cli.tournament_progress import tournament_progress

    journal.unlink(missing_ok=True)
    options = {"rules": rules, "rounds": str(rounds), "journal": str(journal)}
    config = configured(lambda: from_command_line(list(BUNDLED_BOTS), (), options))
    click.echo(f"Round-robin of {', '.join(BUNDLED_BOTS)}: {rounds} rounds per match, rules {rules}\n")
    resume = ["run", *BUNDLED_BOTS, *(word for name, value in options.items() for word in (f"--{name}", value))]
    play_and_report(config, progress_of(tournament_progress, journal, quiet=not sys.stderr.isatty()), resume)
    print_standings([journal], cross=True)
    click.echo()
