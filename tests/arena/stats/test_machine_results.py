"""What was played on which machine, and which machine deviates."""

import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

from arena.journal.lines import ResultLine, RoundLine
from arena.stats.machine_results import MachineResults, fold_machines
from arena.stats.machine_table import render_machines
from arena.stats.tables import TableFormat
from tests.helpers.commands import arena
from tests.helpers.rounds import round_line, written

OWNERS = (None,) * 9


def hosted(number: int, host: str | None, winner: int | None, ms: float = 10, **fields: Any) -> RoundLine:
    points = (3, 3) if winner is None else ((5, 2), (2, 5))[winner]
    result = ResultLine(winner, fields.pop("ending", "five-stones"), points, OWNERS)
    moves = ((0, "play r5 3", int(ms)), (1, "play r1 1", 20))
    return round_line(f"{number}.1-2.1", result, host=host, moves=moves, **fields)


def machines_of(tmp_path: Path, *lines: RoundLine) -> MachineResults:
    machines = MachineResults()
    assert fold_machines([written(tmp_path / "cup.jsonl", *lines)], machines) == []
    return machines


def test_rounds_are_shown_by_machine_and_bot(tmp_path: Path) -> None:
    machines = machines_of(
        tmp_path,
        hosted(1, "north", 0, delay=4),
        hosted(2, "north", None, delay=0),
        hosted(3, "south", 1, ms=30, delay=0, ending="timeout", fault={"seat": 0, "detail": "late"}),
        hosted(4, None, 0),
    )
    lines = render_machines(machines, TableFormat.TABLE).splitlines()
    assert [line.split() for line in lines] == [
        ["Host", "Name", "Rounds", "Score", "Points", "Faults", "Mean", "ms", "P99", "ms", "Delay", "ms"],
        lines[1].split(),
        ["-", "ann", "1", "100.0%", "5", "0", "10.0", "10", "-"],
        ["-", "ben", "1", "0.0%", "2", "0", "20.0", "20", "-"],
        ["north", "ann", "2", "75.0%", "8", "0", "10.0", "10", "2.0"],
        ["north", "ben", "2", "25.0%", "5", "0", "20.0", "20", "2.0"],
        ["south", "ann", "1", "0.0%", "2", "1", "30.0", "30", "0.0"],
        ["south", "ben", "1", "100.0%", "5", "0", "20.0", "20", "0.0"],
    ]
    (row,) = [row for row in json.loads(render_machines(machines, TableFormat.JSON))["hosts"] if row["points"] == 8]
    assert (row["host"], row["name"], row["score"]) == ("north", "ann", 0.75)
    table = list(csv.DictReader(io.StringIO(render_machines(machines, TableFormat.CSV))))
    assert table[-1]["faults"] == "0"
    assert "| north  | ann" in render_machines(machines, TableFormat.MARKDOWN)


def cup(rng: random.Random, deviant: dict[str, Any] | None = None) -> list[RoundLine]:
    """Two hundred rounds on each of two machines, which are equal but for what is given for the second."""
    found = []
    for number in range(1, 401):
        on_second = number % 2 == 0
        fields: dict[str, Any] = {"winner": rng.randrange(2), "ms": rng.gauss(40, 8), "delay": int(rng.expovariate(1))}
        if on_second and deviant:
            fields |= {key: make(rng) for key, make in deviant.items()}
        if fields.get("ending"):
            fields |= {"winner": 1, "fault": {"seat": 0, "detail": "late"}}
        found.append(hosted(number, "south" if on_second else "north", **fields))
    return found


def test_equal_machines_get_no_warning(tmp_path: Path) -> None:
    assert machines_of(tmp_path, *cup(random.Random(1))).warnings() == []


def test_a_machine_that_is_slower_stands_still_or_changes_results_is_named(tmp_path: Path) -> None:
    deviants: list[tuple[dict[str, Any], str]] = [
        ({"ms": lambda rng: rng.gauss(80, 8)}, "ann took "),
        ({"delay": lambda rng: int(rng.expovariate(0.1))}, "south stood still for "),
        ({"winner": lambda rng: int(rng.random() < 0.8)}, "ann scored "),
        ({"ending": lambda rng: "timeout" if rng.random() < 0.2 else ""}, "ann made "),
    ]
    for place, (deviant, words) in enumerate(deviants):
        if "ending" in deviant:
            chosen = deviant["ending"]
            deviant = {"ending": lambda rng, chosen=chosen: chosen(rng) or "five-stones"}
        folder = tmp_path / str(place)
        folder.mkdir()
        lines = cup(random.Random(place), deviant)
        warnings = machines_of(folder, *lines).warnings()
        assert any(text.startswith(words) and "south" in text for text in warnings), (words, warnings)
        if "winner" in deviant:  # ann lost more often there
            south = next(text for text in warnings if text.startswith(words) and "on south" in text)
            assert re.fullmatch(
                r"ann scored \d+\.\d% of \d+ rounds on south: \d+\.\d fewer than its score against the same bots "
                "elsewhere lets expect",
                south,
            )


def test_opponents_are_no_deviation(tmp_path: Path) -> None:
    """One machine played only against a weak bot, the other one only against a strong one."""
    lines = []
    for number in range(1, 201):
        weak = number % 2 == 0
        line = hosted(
            number, "north" if weak else "south", 0 if weak else 1, bots=("ann", "weak" if weak else "strong")
        )
        lines.append(line)
    assert machines_of(tmp_path, *lines).warnings() == []


def test_the_command_prints_it_and_refuses_other_columns(tmp_path: Path) -> None:
    journal = written(tmp_path / "cup.jsonl", *cup(random.Random(1), {"ms": lambda rng: rng.gauss(80, 8)}))
    shown = arena("table", str(journal), "--by", "host")
    assert shown.exit_code == 0
    assert "Warning: ann took" in shown.output
    refused = arena("table", str(journal), "--by", "host", "--cross")
    assert refused.exit_code == 2
    assert "of the other options only --format goes with it" in refused.output


def test_a_name_of_a_machine_cannot_control_the_terminal(tmp_path: Path) -> None:
    journal = written(tmp_path / "cup.jsonl", hosted(1, "\x1b[2Jsouth", 0))
    shown = arena("table", str(journal), "--by", "host")
    assert shown.exit_code == 0
    assert "\x1b" not in shown.output
