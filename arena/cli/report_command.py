"""The command that writes reports: parse, call, print."""

from pathlib import Path

import click

from arena.cli.reading import bar, reading
from arena.cli.shared import InputError, journal_errors
from arena.cli.table_command import journals_argument, refuse_no_journal


def _how_many(_context: click.Context, _option: click.Parameter, text: str) -> int | None:
    """The number that the text says; None if it says all."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r}, but expected a number such as 2000, or all")
    return int(text)


@click.command()
@journals_argument
@click.option(
    "-o", "--output", "folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write.  [JOURNAL.report beside the first journal]",
)  # fmt: skip
@click.option(
    "--rounds", "most", default="2000", show_default=True, metavar="N|all", callback=_how_many,
    help="How many rounds get a replay in the report; if there are more, a sample of them.",
)  # fmt: skip
@click.option(
    "--evaluate", "evaluated", default="20", show_default=True, metavar="N|all", callback=_how_many,
    help="How many of these are evaluated by the bundled counting bot, which takes a fifth of a second each.",
)  # fmt: skip
def report(journals: tuple[Path, ...], folder: Path | None, most: int | None, evaluated: int | None) -> None:
    """Write a report of one or more journals, as pages for a browser.

    It has standings with Elo, the cross table, Elo over time, endings and faults, thinking times, surprises, and the
    rounds with their replays. It needs neither a server nor a network: open DIR/index.html, or put the folder on any
    web server. An existing report in DIR is replaced; a folder with anything else in it is not touched.

    The report shows the notes of the bots, but not their commands, folders and environments.

    Some rounds are evaluated: their replay shows what each player could expect at every position, and which decisions
    lost most, in the opinion of the bundled counting bot. These are the most surprising results and an even selection
    of the others; --evaluate says how many.

    \b
    Examples:
      arena report cup.jsonl
      arena report cup.jsonl -o public/cup
      arena report cup.jsonl --evaluate all
      arena report *.jsonl -o all --rounds all
    """
    from arena.pages.report_files import ReportError, report_beside, write_report
    from arena.stats.report_data import gather

    target = folder or report_beside(journals[0])
    with journal_errors(), reading("Reading", journals) as progress:
        found = gather(journals, progress)
    total = found.standings.rounds
    if not total:
        if found.problems:
            refuse_no_journal(journals)
        problem = found.problems[0] if found.problems else f"{journals[0]}:1: no round was played yet"
        raise InputError(f"{problem}; there is nothing to report")
    try:
        with bar("Writing rounds", total if most is None else min(most, total)) as written:
            embedded = write_report(found, target, most, evaluated, written)
    except ReportError as error:
        raise click.ClickException(str(error)) from None
    for problem in found.problems:
        click.echo(problem, err=True)
    shown = "all" if embedded == total else f"{embedded:,} of them"
    rounds = "1 round, with its replay" if total == 1 else f"{total:,} rounds, {shown} with their replay"
    click.echo(f"{rounds}. Open {target / 'index.html'} in a browser.")
