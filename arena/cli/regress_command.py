"""`arena regress`: parse, call, print.

Exit status: 0 the bot decides as recorded, 1 it does not or cannot be asked, 2 a wrong call, 130 stopped by Ctrl-C.
"""

import shlex
import sys
from pathlib import Path
from typing import NoReturn

import click

from arena.cli import completion
from arena.cli.shared import InputError, configured, given, journal_errors, options_of, with_sandboxes
from arena.cli.table_command import journal_argument, refuse_no_journal
from arena.devtools.regress import RegressResult, RepeatedDecision, lead_through
from arena.devtools.regress_report import Findings, json_text, text
from arena.journal.bot_history import Meetings
from arena.plan.bot_spec import BotSpec
from arena.plan.config import bot_from_command_line
from arena.plan.options import BOT
from arena.support.signals import INTERRUPTED
from arena.support.suggestion import did_you_mean
from arena.support.text import printable


@click.command()
@journal_argument
@click.argument("bot", shell_complete=completion.bot)
@click.option("--as", "recorded", metavar="NAME", help="Whose decisions.  [the recorded bot with the same name]")
@click.option("--round", "rounds", metavar="ID", multiple=True, help="Only this round; may be given again.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="At most N rounds, from the beginning.")
@click.option(
    "--twice", is_flag=True, help="Ask for every decision twice, and say how often the bot differs from itself."
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@options_of([option for option in BOT if option.name not in ("restart", "fingerprint")])
def regress(
    journal: Path,
    bot: str,
    recorded: str | None,
    rounds: tuple[str, ...],
    limit: int | None,
    twice: bool,
    as_json: bool,
    **options: str | None,
) -> None:
    """Replay recorded positions to a bot and list the decisions that changed since an earlier version of it.

    The bot is led through the rounds of the journal with the real protocol and asked for every decision of the recorded
    bot. Whatever it answers, the recorded move is played, so it sees exactly what the earlier version saw. A fault is
    listed, and the bot is started again for the next decision. A decision at which the recorded bot failed is asked as
    well: it is the same if the same kind of fault comes again.

    The bot gets the seeds that the recorded bot had, once they are known: at once with a public --seed, otherwise from
    the end of the tournament on. A bot that draws lots without them differs without being changed; --twice says how
    often it differs from itself.

    A BOT is the name of a bundled bot (see `arena bots`), a command line, or name=command. The exit status is 0 if
    every decision is the same, 1 if not.

    \b
    Examples:
      arena regress cup.jsonl ./mybot
      arena regress cup.jsonl "./mybot --new" --as mybot-1.0 --limit 10
      arena regress cup.jsonl "mine=./mybot" --round 1.1-2.3 --st 1 --twice
    """
    (spec,) = with_sandboxes([configured(lambda: bot_from_command_line(bot, given(options)))], [journal])
    with journal_errors():
        meetings = Meetings(journal)
    name = _recorded_name(meetings, recorded, spec.name)
    findings = Findings(str(journal), spec.name, name)
    wanted = _wanted(meetings, name, rounds, limit)
    findings.recorded_versions = meetings.versions_of(name, wanted)
    went = _ask_all(meetings, wanted, spec, findings, twice)
    for problem in dict.fromkeys(meetings.problems):
        click.echo(problem, err=True)
    _print_and_exit(findings, went, as_json)


def _print_and_exit(findings: Findings, went: RegressResult, as_json: bool) -> NoReturn:
    if went == RegressResult() and not findings.decisions:
        raise InputError(f"there is no decision of {printable(findings.recorded_bot)} in these rounds to compare")
    if as_json or findings.decisions:
        click.echo(json_text(findings) if as_json else text(findings), nl=as_json)
    if went.stopped:
        click.echo("Stopped: not every decision was asked for.", err=True)
    if went.failure is not None:
        raise click.ClickException(f"{findings.bot} does not start: {printable(went.failure)}")
    sys.exit(INTERRUPTED if went.stopped else 1 if findings.different else 0)


def _recorded_name(meetings: Meetings, wanted: str | None, bot: str) -> str:
    names = meetings.names
    if not names:
        if meetings.problems:
            refuse_no_journal([meetings.path])
        problem = meetings.problems[0] if meetings.problems else f"{meetings.path}:1: the journal has no round yet"
        raise InputError(problem)
    name = bot if wanted is None else wanted
    if name not in names:
        hint = "" if wanted is not None else "; say whose decisions with --as NAME"
        known = ", ".join(map(printable, names)) + did_you_mean(name, names)
        raise click.UsageError(f"the journal has no bot {name!r}{hint}; there are: {known}")
    return name


def _wanted(meetings: Meetings, name: str, ids: tuple[str, ...], limit: int | None) -> list[str]:
    """The addresses of the rounds to replay."""
    known = list(meetings.rounds_of(name))
    for id in ids:
        if id not in known:
            near = [address for address in known if address.startswith(f"{id}@")]
            listing = printable(shlex.join(["arena", "replay", str(meetings.path), "--bot", name]))
            hint = f"; there are: {', '.join(near)}" if near else f"; {listing} lists the {len(known)} it has"
            raise click.UsageError(f"--round {id!r}, but {printable(name)} has no such round{hint}")
    return [address for address in known if not ids or address in ids][:limit]


def _ask_all(meetings: Meetings, wanted: list[str], spec: BotSpec, findings: Findings, twice: bool) -> RegressResult:
    """Adds the decisions of the bot in the wanted rounds to `findings`."""
    went = _ask(meetings, findings.recorded_bot, wanted, spec, findings.decisions)
    if twice and went == RegressResult():
        findings.again = []
        went = _ask(meetings, findings.recorded_bot, wanted, spec, findings.again)
    return went


def _ask(
    meetings: Meetings, name: str, wanted: list[str], spec: BotSpec, decisions: list[RepeatedDecision]
) -> RegressResult:
    """Adds each decision to `decisions`, and on a terminal shows how many there are."""
    shows = sys.stderr.isatty()

    def add(decision: RepeatedDecision) -> None:
        decisions.append(decision)
        if shows and len(decisions) % 10 == 0:
            click.echo(f"\r{len(decisions)} decisions ", nl=False, err=True)

    went = lead_through(meetings.matches(name, frozenset(wanted)), spec, add)
    if shows:
        click.echo("\r\x1b[K", nl=False, err=True)
    return went
