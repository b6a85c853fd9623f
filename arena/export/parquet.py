"""Parquet files, which DuckDB makes of CSV. It is an extra, and imported only for this.

DuckDB opens files by their names, but neither file has one: /proc/self/fd names them. It reads a file that it can read
again in pieces, which it need not keep as it would those of a pipe.
"""

import errno
from collections.abc import Sequence
from concurrent.futures import Future
from threading import Thread
from typing import IO, TYPE_CHECKING, Final

from arena.export.export_columns import ColumnType, ExportColumn

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

INSTALL: Final = "pip install 'schotten-arena[parquet]'"
_TYPES: Final = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.NUMBER: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
}
_LONGEST_ROW: Final = 1 << 21  # bytes; a note of the arena has some hundred. DuckDB reads 16 times as much at once
_ROW_GROUP: Final = 50_000  # rows that DuckDB keeps in memory; positions have some hundred bytes each
_SETTINGS: Final[dict[str, str | bool | int | float | list[str]]] = {
    "threads": "1",
    "memory_limit": "256MB",
    "temp_directory": "",  # it keeps nothing that would need more
}
_COPY: Final = """
    COPY (SELECT * FROM read_csv(
        '/proc/self/fd/{csv}', columns = {{{columns}}}, auto_detect = false, header = true, delim = ',', quote = '"',
        escape = '"', new_line = '\\r\\n', nullstr = '', allow_quoted_nulls = false, parallel = false,
        max_line_size = {longest}
    )) TO '/proc/self/fd/{target}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {group}, USE_TMP_FILE false)
"""
_INTERRUPT_AGAIN: Final = 0.1  # seconds: DuckDB forgets an interrupt that comes before the statement begins


def convert_to_parquet(csv: IO[bytes], columns: Sequence[ExportColumn], target: IO[bytes]) -> None:
    """Write a file that holds what the other does, as CsvRows wrote it. Raises OSError if DuckDB cannot."""
    import duckdb

    types = ", ".join(f"'{column.name}': '{_TYPES[column.type]}'" for column in columns)
    files = {"csv": csv.fileno(), "target": target.fileno()}
    statement = _COPY.format(columns=types, longest=_LONGEST_ROW, group=_ROW_GROUP, **files)
    converted: Future[None] = Future()
    with duckdb.connect(":memory:", config=_SETTINGS) as connection:
        # In the main thread, DuckDB would turn KeyboardInterrupt into an error of its own.
        thread = Thread(target=_execute, args=(connection, statement, converted))
        try:
            thread.start()
            converted.result()
        except duckdb.Error as error:
            raise OSError(errno.EIO, f"DuckDB: {str(error).partition(chr(10))[0]}") from error
        finally:
            while thread.is_alive():
                connection.interrupt()
                thread.join(_INTERRUPT_AGAIN)


def _execute(connection: "DuckDBPyConnection", statement: str, done: Future[None]) -> None:
    try:
        connection.execute(statement)
    except Exception as error:
        done.set_exception(error)
    else:
        done.set_result(None)
