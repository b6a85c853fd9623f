"""The results by machine as text. Pure."""

import json
from typing import Any, Final, assert_never

from arena.stats.columns import NO_VALUE
from arena.stats.machine_results import MachineResults
from arena.stats.tables import TableFormat, csv_text, escaped, harmless, text_table

_TITLES: Final = {
    "host": "Host",
    "name": "Name",
    "rounds": "Rounds",
    "score": "Score",
    "points": "Points",
    "faults": "Faults",
    "mean_ms": "Mean ms",
    "p99_ms": "P99 ms",
    "delay_ms": "Delay ms",
}
_LEFT: Final = ("host", "name")


def render_machines(machines: MachineResults, form: TableFormat) -> str:
    """The table and the warnings, as text that ends with a newline."""
    rows, warnings = machines.rows(), machines.warnings()
    match form:
        case TableFormat.JSON:
            return json.dumps({"hosts": rows, "warnings": warnings}, indent=2) + "\n"
        case TableFormat.CSV:
            lines = [[harmless(value) if isinstance(value, str) else value for value in row.values()] for row in rows]
            return csv_text(list(_TITLES), lines)
        case TableFormat.TABLE | TableFormat.MARKDOWN:
            markdown = form is TableFormat.MARKDOWN
            cells = [[_cell(key, value) for key, value in row.items()] for row in rows]
            if markdown:
                cells = [[escaped(cell) for cell in row] for row in cells]
            table = text_table(list(_TITLES.values()), cells, [key in _LEFT for key in _TITLES], markdown)
            remarks = [f"Warning: {text}." for text in warnings]
            shown = "\n\n".join(map(escaped, remarks)) if markdown else "\n".join(remarks)
            return f"{table}\n\n{shown}\n" if shown else f"{table}\n"
        case _:
            assert_never(form)


def _cell(key: str, value: Any) -> str:
    if value is None:
        return NO_VALUE
    if key == "score":
        return f"{value:.1%}"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
