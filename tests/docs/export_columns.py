"""The tables of columns in docs/library.md, made from the columns themselves: `python -m tests.docs.export_columns`
rewrites them, a test compares them."""

import re
from collections.abc import Iterator

from arena.export.export_columns import ExportColumn, ExportedTable, columns_of
from tests.docs.documents import Document

LIBRARY = Document("docs/library.md")
_BEGIN, _END = "<!-- begin generated: columns -->", "<!-- end generated: columns -->"


def _lines() -> Iterator[str]:
    moves = columns_of(ExportedTable.MOVES, evaluated=True).every
    positions = columns_of(ExportedTable.POSITIONS, evaluated=True).every
    yield from _table("Of rounds:", columns_of(ExportedTable.ROUNDS, evaluated=True).every)
    yield from _table("Of moves:", moves)
    yield from _table("Of positions, after all columns of moves:", positions[len(moves) :])


def _table(title: str, columns: tuple[ExportColumn, ...]) -> Iterator[str]:
    yield from ("", title, "", "| column | type | meaning |", "|---|---|---|")
    for column in columns:
        yield f"| `{column.name}` | {column.type.value} | {column.meaning}{' (`--evaluate`)' * column.is_opinion} |"


def renewed(text: str) -> str:
    assert _BEGIN in text
    block = "\n".join((_BEGIN, *_lines(), "", _END))
    return re.sub(f"{_BEGIN}.*?{_END}", lambda _: block, text, flags=re.DOTALL)


if __name__ == "__main__":
    LIBRARY.path.write_text(renewed(LIBRARY.text))
