"""The files that an export writes. Each appears under its name only when it is whole."""

import enum
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from arena.export.export_columns import ExportColumn
from arena.export.parquet import convert_to_parquet
from arena.export.row_formats import CsvRows, JsonRows, RowFormat
from arena.support.whole_files import whole_file


class ExportFormat(enum.Enum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"

    @property
    def rows(self) -> RowFormat:
        """How its rows are written; a Parquet file is made of rows of CSV."""
        return JsonRows() if self is ExportFormat.JSONL else CsvRows()


def format_of_file(path: Path) -> ExportFormat | None:
    """The format that the ending of a file's name says, if any."""
    return next((each for each in ExportFormat if path.suffix.lower() == f".{each.value}"), None)


def write_text(file: IO[bytes], rows: Iterable[str]) -> None:
    for text in rows:
        file.write(text.encode())


def write_file(path: Path, form: ExportFormat, columns: Sequence[ExportColumn], rows: Iterable[str]) -> None:
    """Write the rows, which are in the format's own form, with their head. Raises OSError, and what the rows raise;
    then the file is as it was before."""
    with whole_file(path) as file:
        if form is not ExportFormat.PARQUET:
            write_text(file, rows)
        else:
            with TemporaryFile(dir=path.resolve().parent) as csv:  # there is room for it where the result will be
                write_text(csv, rows)
                csv.flush()
                convert_to_parquet(csv, columns, file)
