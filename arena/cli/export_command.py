"""The command that exports journals: parse, call, print."""

import sys
from contextlib import AbstractContextManager, closing, nullcontext
from importlib.util import find_spec
from pathlib import Path

import click

from arena.cli.reading import reading
from arena.cli.shared import InputError, journal_errors
from arena.cli.table_command import journals_argument
from arena.export.export_columns import ExportedTable, columns_of
from arena.export.export_files import ExportFormat, format_of_file, write_file, write_text
from arena.export.export_rows import Export, rows
from arena.export.parquet import INSTALL
from arena.journal.file import expect_journal
from arena.journal.reader import Progress, no_progress
from arena.support.text import counted


class _WithColumns(click.Command):
    """A command whose help ends with the columns of each table."""

    def format_epilog(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        for table in ExportedTable:
            found = columns_of(table, evaluated=True).every
            title = f"Columns of {table.value}"
            if table is ExportedTable.POSITIONS:
                title += ", besides all of moves"
                found = tuple(each for each in found if ExportedTable.MOVES not in each.tables)
            with formatter.section(title):
                formatter.write_dl([(each.name, each.meaning + each.is_opinion * " (--evaluate)") for each in found])


@click.command(cls=_WithColumns)
@journals_argument
@click.option(
    "--what", default="rounds", show_default=True, type=click.Choice([each.value for each in ExportedTable]),
    help="What a row is: a round, a move, or a position in which somebody decides.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice([each.value for each in ExportFormat]),
    help="How the table is written.  [what the ending of FILE says, or else csv]",
)  # fmt: skip
@click.option(
    "-o", "--output", "file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write, once it is whole.  [stdout]",
)  # fmt: skip
@click.option("--evaluate", is_flag=True, help="Add what the bundled counting bot thinks, a fifth of a second a round.")
def export(journals: tuple[Path, ...], what: str, form: str | None, file: Path | None, evaluate: bool) -> None:
    """Write journals as a table for pandas, DuckDB or other programs, in the order in which the rounds were recorded.

    Several journals are read as if they were one. `tournament` and `round` name a round, and with `at` a move. A value
    that is not known is null: an empty field in CSV. Only finished rounds are there, also those that do not count for
    the table, such as a round in which a person had help; the column `counts` is false for these. A round that was void
    is there as it was played again, if it was. A round that cannot be read, or cannot be replayed by the rules, is
    left out and reported on stderr.

    A table of moves says how each round ended, so it can be used alone. A table of positions has the same rows and
    columns, with the text of the position, and a row for each decision that a fault prevented. Large journals are
    exported on all cores.

    CSV is that of RFC 4180, in UTF-8. Texts are never changed, although bots choose their notes, versions and names: a
    spreadsheet runs those that begin with = + - or @ unless their columns are imported as text.

    \b
    Parquet needs DuckDB: pip install 'schotten-arena[parquet]'
    Until it is written, it needs room for the table as CSV in the same folder.

    \b
    Examples:
      arena export cup.jsonl > rounds.csv
      arena export cup.jsonl --what moves --format jsonl
      arena export *.jsonl --what positions -o positions.parquet
    """
    chosen = ExportFormat(form) if form else (file and format_of_file(file)) or ExportFormat.CSV
    if chosen is ExportFormat.PARQUET:
        _check_parquet(file)
    found = Export(ExportedTable(what), evaluate)
    with journal_errors():
        expect_journal(journals)
        _refuse_journal(file, journals)
        with (
            _progress(journals, is_shown=file is not None or not sys.stdout.isatty()) as progress,
            closing(rows(found, journals, chosen.rows, progress=progress)) as every,
        ):
            if file is None:
                write_text(sys.stdout.buffer, every)
            else:
                write_file(file, chosen, found.columns.every, every)
    for message in found.messages:
        click.echo(message, err=True)
    if file is not None:
        click.echo(f"Wrote {counted(found.rows, 'row')} of {counted(found.rounds, 'round')} to {file}.")
    if found.problems and not found.rounds:
        sys.exit(1)  # there is nothing in the table because nothing could be read


def _check_parquet(file: Path | None) -> None:
    if find_spec("duckdb") is None:
        raise InputError(f"--format parquet needs DuckDB, which is not installed: {INSTALL}")
    if file is None or (file.exists() and not file.is_file()):
        raise InputError("Parquet is written to a file, and not as a stream; name one, such as -o moves.parquet")


def _refuse_journal(file: Path | None, journals: tuple[Path, ...]) -> None:
    if file is not None and any(file.exists() and file.samefile(journal) for journal in journals):
        raise InputError(f"{file} is one of the journals, which the table would replace; choose another name with -o")


def _progress(journals: tuple[Path, ...], is_shown: bool) -> AbstractContextManager[Progress]:
    """A bar, unless the rows themselves are on the terminal."""
    return reading("Exporting", journals) if is_shown else nullcontext(no_progress)
