"""How a row of an exported table is written: CSV as RFC 4180 has it, or JSON lines. Pure.

A row is made of parts, because most of its values are the same for all moves of a round: such a part is encoded once.
"""

import re
from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from arena.export.export_columns import ExportColumn, Value

_QUOTED: Final = re.compile('[",\r\n]')  # what a field with any of these is
_encode_json = msgspec.json.Encoder().encode


class RowFormat(Protocol):
    def head(self, columns: Sequence[ExportColumn]) -> str:
        """What comes before the first row."""

    def part(self, columns: Sequence[ExportColumn], values: Sequence[Value]) -> str:
        """The values of some columns."""

    def row(self, parts: Sequence[str]) -> str:
        """A row of such parts; each holds at least one value."""


class CsvRows:
    """A field without a value is empty; a text is never empty. Texts are not changed, whatever a spreadsheet would make
    of them: all formats hold the same."""

    def head(self, columns: Sequence[ExportColumn]) -> str:
        return self.row([column.name for column in columns])

    def part(self, _columns: Sequence[ExportColumn], values: Sequence[Value]) -> str:
        return ",".join(map(_field, values))

    def row(self, parts: Sequence[str]) -> str:
        return ",".join(parts) + "\r\n"


def _field(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"' if _QUOTED.search(value) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


class JsonRows:
    def head(self, _columns: Sequence[ExportColumn]) -> str:
        return ""

    def part(self, columns: Sequence[ExportColumn], values: Sequence[Value]) -> str:
        named = {column.name: None if value == "" else value for column, value in zip(columns, values, strict=True)}
        return _encode_json(named).decode()[1:-1]

    def row(self, parts: Sequence[str]) -> str:
        return "{" + ",".join(parts) + "}\n"
