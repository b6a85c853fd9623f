"""Commands that read journals: parse, call, print."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from arena.cli.reading import reading
from arena.cli.shared import journal_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.stats.columns import Column


class JournalPath(click.Path):
    """The path of a journal. Refuses a tournament file with the name of its journal, which says more than the journal's
    first syntax error would."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        path = super().convert(value, parameter, context)
        if isinstance(path, Path) and path.suffix == ".toml":
            self.fail(f"{path} is a tournament file; its journal is {path.with_suffix('.jsonl')}", parameter, context)
        return path


_SCREENFUL: Final = 20  # problems
journals_argument = click.argument("journals", nargs=-1, required=True, metavar="JOURNAL…", type=JournalPath())
journal_argument = click.argument("journal", type=JournalPath())


def refuse_no_journal(paths: "Sequence[Path]") -> None:
    """Ends the command if none of these files, in which there is no round, is a journal at all."""
    from arena.journal.file import expect_journal

    with journal_errors():
        expect_journal(paths)


def print_standings(
    journals: list[Path],
    form: str = "table",
    columns: "Sequence[Column] | None" = None,
    cross: bool = False,
    average: float = 0.0,
    anchor: tuple[str, float] | None = None,
    leave_out_faults: bool = False,
    by: str = "name",
) -> None:
    """Prints the table on stdout, and on stderr what is damaged in the journals."""
    from arena.stats.roster import RatedBy
    from arena.stats.round_summary import RoundResult, RoundSummary
    from arena.stats.standings import fold
    from arena.stats.tables import TableFormat, render, shows_times

    shown = TableFormat(form)
    kind = RoundSummary if shows_times(shown, columns) else RoundResult
    with journal_errors(), reading("Reading", journals) as progress:
        standings, problems = fold(
            journals, leave_out_faults=leave_out_faults, kind=kind, by=RatedBy(by), progress=progress
        )
    if problems and not standings.rounds:
        refuse_no_journal(journals)
    for problem in problems:
        click.echo(problem, err=True)
    try:
        ratings = standings.rate(average, anchor)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    click.echo(render(standings, ratings, shown, columns, cross), nl=False)
    if problems and not standings.rounds:
        sys.exit(1)  # there is nothing in the table because nothing could be read


def print_by_host(journals: list[Path], form: str) -> None:
    """Prints what was played on which machine."""
    from arena.stats.machine_results import MachineResults, fold_machines
    from arena.stats.machine_table import render_machines
    from arena.stats.tables import TableFormat

    machines = MachineResults()
    with journal_errors(), reading("Reading", journals) as progress:
        problems = fold_machines(journals, machines, progress)
    if problems and not machines.names:
        refuse_no_journal(journals)
    for problem in problems:
        click.echo(problem, err=True)
    click.echo(render_machines(machines, TableFormat(form)), nl=False)
    if problems and not machines.names:
        sys.exit(1)


@click.command()
@journals_argument
@click.option(
    "--format", "form", default="table", show_default=True, type=click.Choice(["table", "csv", "json", "markdown"]),
    help="How the standings are printed.",
)  # fmt: skip
@click.option("--cross", is_flag=True, help="Also print cross tables of points and of wins.")
@click.option("--columns", metavar="NAME,NAME…", help="Which columns, such as Rank,Name,Elo; see above.")
@click.option("--anchor", metavar="NAME=ELO", help="The rating of one bot; the others follow.")
@click.option("--average", default=0.0, show_default=True, help="The average rating, if there is no anchor.")
@click.option(
    "--by", default="name", show_default=True, type=click.Choice(["name", "version", "host"]),
    help="What a row is: a bot, a version of a bot, or a bot on one machine of a cluster.",
)  # fmt: skip
@click.option("--no-faults", is_flag=True, help="Leave out rounds that ended by a fault or were forfeited.")
@click.option(
    "--sprt", "is_test", is_flag=True, help="Compute the result of a sequential test again, and nothing else."
)
def table(
    journals: tuple[Path, ...],
    form: str,
    cross: bool,
    columns: str | None,
    anchor: str | None,
    average: float,
    by: str,
    no_faults: bool,
    is_test: bool,
) -> None:
    """Print standings with Elo, from one or more journals.

    Elo is the maximum-likelihood rating over all rounds, where a draw counts half. +/- is the 95 % interval; its unit
    is the pair of rounds in which each bot begins once. Ranks are those that a bot may truly have, also with 95 %.

    \b
    Columns: Rank, Group, Name, Elo, Bound, +/-, Ranks, LOS, Rounds, Wins, Losses, Score, Draws,
    Matches, Points, Points against, Average points, Faults, Illegal move, Malformed, Timeout, Crashed,
    Failed to start, Disconnected, Out of memory, Out of cpu, Out of processes, Forfeits, Voids, Mean ms,
    P99 ms, Sandbox, Bot, Version, Fingerprint, Rules

    Bound says whether Elo is only a bound: if a group of bots, or a single one, never lost to the others, the distance
    between the groups is unknown. The columns between Faults and Forfeits count one kind of fault each. Forfeits are
    rounds that a withdrawn bot lost without playing. Sandbox is full, none, missing (it was to be tried, but was
    unavailable) or mixed. LOS is the likelihood that a bot is better than the next one in the table.

    A name is one player, unless it stands for different programs in several tournaments, or was played by different
    rules: these are rated apart, and a remark says so. With --by version, every version of a bot is rated apart: what
    the arena started had another fingerprint, or the bot says another version of itself. Bot is the name without all
    that.

    With --by host there is a row for each bot on each machine of a cluster, with its results and thinking times there,
    and how long the machine stood still in a round (Delay ms, the mean). A warning names each machine that deviates
    from the others by more than chance explains. Rounds that were not played on a cluster are those of host "-".

    In CSV, a name that begins like a formula (= + - @) has an apostrophe before it, so that no spreadsheet runs it;
    numbers stay numbers.

    With --sprt the journal is that of one test by `arena sprt`. The exit status is then that of the test: 0 if the new
    bot is better, 1 if it is not, 3 if that is undecided.

    \b
    Examples:
      arena table cup.jsonl
      arena table cup.jsonl --cross --format markdown
      arena table cup.jsonl --by version
      arena table *.jsonl --anchor greedy=1500 --columns "Rank,Name,Elo,+/-,Mean ms,P99 ms"
      arena table cup.jsonl --by host
    """
    if is_test:
        from arena.cli.sprt_command import SprtOutput, print_recorded_test

        if cross or columns or anchor or average or no_faults or by != "name" or form not in ("table", "json"):
            raise click.UsageError("--sprt prints the result of a test as text or, with --format json, as JSON only")
        print_recorded_test(journals, SprtOutput.JSON if form == "json" else SprtOutput.TEXT)
    if by == "host":
        if cross or columns or anchor or average or no_faults:
            raise click.UsageError("--by host has its own columns; of the other options only --format goes with it")
        print_by_host(list(journals), form)
        return
    chosen = _columns(columns) if columns else None
    print_standings(list(journals), form, chosen, cross, average, _anchor(anchor), no_faults, by)


def _columns(text: str) -> "Sequence[Column]":
    from arena.stats.columns import columns_named

    try:
        return columns_named(text)
    except ValueError as error:
        raise click.UsageError(f"--columns: {error}") from None


def _anchor(text: str | None) -> tuple[str, float] | None:
    if text is None:
        return None
    name, _, value = text.rpartition("=")
    try:
        return name, float(value)
    except ValueError:
        raise click.UsageError(f"--anchor {text!r}, but expected a name and a rating, such as greedy=1500") from None


@click.command()
@journals_argument
@click.option("--all", "show_all", is_flag=True, help="Print every problem, not only the first ones.")
def verify(journals: tuple[Path, ...], show_all: bool) -> None:
    """Verify journals: play every round again with the referee, derive every deal from the secret that the journal
    reveals at its end, recount every point, and find out whether a round is missing. Large journals are verified on
    all cores.

    A journal that reveals its secret is that of a tournament that is over: all its rounds have to be there. One that
    does not is not complete, which is no problem: it is said, with the number of its rounds. In the journal of a server
    that plays forever, each cycle has to follow the one before.

    Compare the hash of the opening line with the one that the organiser published when the tournament began: it stands
    for the bots, rounds, rules and limits, and for the secret. Of a round that ended by a fault, such as a crash, the
    journal is the only witness: its moves are checked, the fault cannot be.

    The exit status is 1 if anything is wrong. Lines of a type that this version does not know are skipped and counted.

    \b
    Examples:
      arena verify cup.jsonl
      arena verify *.jsonl --all
    """
    from arena.journal.verify import verify_journals
    from arena.support.text import counted, printable, with_short_words

    with journal_errors(), reading("Verifying", journals) as progress:
        report = verify_journals(journals, progress=progress)
    if not report.tournaments:
        refuse_no_journal(journals)
    problems = [*report.torn, *report.problems]
    _print_first(problems, "problem", show_all)
    for remark in report.remarks:
        click.echo(remark)
    completeness = ", but not complete" if report.incomplete else " and complete"
    verdict = counted(len(report.problems), "problem") if report.problems else f"all in order{completeness}"
    what = f"{counted(report.rounds, 'round')} of {counted(report.tournaments, 'tournament')}"
    click.echo(f"{what}, {report.voids} void: {verdict}")
    _print_first(report.openings, "hash", show_all)
    if report.openings:
        click.echo("Compare each hash with the one published before play; it fixes bots, rounds, rules, limits, deals.")
    if report.faults:
        ended = "Rounds that ended by a fault or were forfeited"
        click.echo(f"{ended}, of which the journal is the only witness: {report.faults}")
    if report.not_rated:
        click.echo(f"Rounds in which a person had help, and which are not rated: {report.not_rated}")
    for name, points in sorted(report.points.items(), key=lambda item: -item[1]):
        click.echo(f"  {with_short_words(printable(name))}: {counted(points, 'point')}")
    sys.exit(1 if report.problems else 0)


def _print_first(lines: "Sequence[object]", what: str, show_all: bool) -> None:
    from arena.support.text import with_short_words

    shown = len(lines) if show_all else _SCREENFUL
    for line in lines[:shown]:
        click.echo(with_short_words(str(line)))
    if more := len(lines[shown:]):
        click.echo(f"and {more:,} more; `arena verify --all` prints every {what}")
