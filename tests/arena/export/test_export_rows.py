"""What the rows of an export say, whatever is in the journals."""

import csv
import io
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.evaluation.counting import bundled_evaluator
from arena.export.export_columns import ColumnType, ExportedTable, columns_of
from arena.export.export_rows import Export, rows
from arena.export.row_formats import CsvRows, JsonRows
from arena.journal.endings import Fault
from arena.journal.identity import Fingerprint, bot_line
from arena.journal.lines import AssistedLine, FaultLine, JournalEntry, ResultLine, RoundLine, VoidLine, encoded
from arena.replay.analysis import analyse
from arena.replay.build import replay_of
from arena.stats.standings import fold
from engine.game import Game
from engine.ruleset import PRESETS
from protocol.messages import BotHello
from tests.helpers.rounds import OPENING, STARTED, random_round, round_line, written
from tests.helpers.sampling import sampled

ROUNDS, MOVES, POSITIONS = ExportedTable
HOSTILE = '=HYPERLINK("http://x","y")\r\nsecond\n\ttab, \U0001f98a  end'
Row = dict[str, Any]


def exported(
    journals: Path | Sequence[Path], table: ExportedTable, evaluated: bool = False, workers: int | None = None
) -> tuple[list[Row], list[str]]:
    """The rows, and what was reported."""
    export = Export(table, evaluated)
    paths = [journals] if isinstance(journals, Path) else journals
    text = "".join(rows(export, paths, JsonRows(), workers))
    return [json.loads(line) for line in text.splitlines()], export.messages


def as_csv(journal: Path, table: ExportedTable) -> str:
    return "".join(rows(Export(table, False), [journal], CsvRows()))


@pytest.fixture
def several() -> list[RoundLine]:
    """Rounds of all kinds, by their ids: 1 to 8."""
    played = [random_round(PRESETS["tactics"], n, id=f"{n}.1-2.1") for n in (1, 2)]
    stopped = random_round(PRESETS["base"], 3, id="3.1-2.1", stop_after=9)
    not_begun = random_round(PRESETS["base"], 4, id="4.1-2.1", stop_after=0)
    failed = ResultLine(1, Fault.FAILED_TO_START.value, (0, 5), (None,) * 9)
    neither = ResultLine(None, Fault.FAILED_TO_START.value, (0, 0), (None,) * 9)
    fields = {"rules": "base", "deck": not_begun.deck, "seed": not_begun.seed}
    forfeit = round_line("5.1-2.1", failed, fault=FaultLine(0, "withdrawn", withdrawn=True), **fields)
    nobody = round_line("6.1-2.1", neither, fault=FaultLine(0, "no licence", other_detail="nor here"), **fields)
    assisted = random_round(PRESETS["base"], 7, id="7.1-2.1")
    no_deal = random_round(PRESETS["base"], 8, id="8.1-2.1")
    fields_of = {name: getattr(assisted, name) for name in assisted.__struct_fields__}
    helped = RoundLine(**fields_of | {"assisted": AssistedLine(0, hints=True)})
    fields_of = {name: getattr(no_deal, name) for name in no_deal.__struct_fields__}
    return [*played, stopped, not_begun, forfeit, nobody, helped, RoundLine(**fields_of | {"deck": ()})]


def test_a_row_of_rounds_says_what_the_journal_says(tmp_path: Path) -> None:
    hello = BotHello(protocol=1, name="ann", version="0.2")
    ann = bot_line("ann", hello, Fingerprint(("./ann",), {"ann": "00"}), STARTED)
    line = random_round(PRESETS["tactics"], 1)
    fields = {name: getattr(line, name) for name in line.__struct_fields__} | {"players": (ann.id, None)}
    void = VoidLine(id=line.id, match=line.match, round=1, bots=line.bots, reason="late", started=STARTED)
    path = written(tmp_path / "cup.jsonl", encoded(ann), encoded(void), encoded(void), RoundLine(**fields))
    (row,), problems = exported(path, ROUNDS)
    assert problems == []
    assert list(row) == [column.name for column in columns_of(ROUNDS, evaluated=False).every]
    result = line.result
    assert (
        row
        | {
            "round": line.id,
            "journal": str(path),
            "line": 5,
            "rules": "tactics",
            "seed": "1",
            "first": 1,
            "winner": result.winner,
            "ending": result.ending,
            "counts": True,
            "assisted": False,
            "forfeit": False,
            "voids": 2,
            "fault_seat": None,
            "moves": len(line.moves),
            "bot_0": "ann",
            "bot_1": "ben",
            "version_0": "0.2",
            "version_1": None,
            "program_0": ann.fingerprint.short if ann.fingerprint else "",
            "points_0": result.points[0],
            "points_1": result.points[1],
            "stones_1": result.owners.count(1),
            "ms_0": sum(ms or 0 for seat, _, ms in line.moves if seat == 0),
            "decisions_1": sum(ms is not None for seat, _, ms in line.moves if seat == 1),
        }
        == row
    )


def test_counts_is_what_the_table_rates(several: list[RoundLine], tmp_path: Path) -> None:
    path = written(tmp_path / "cup.jsonl", *several)
    found, problems = exported(path, ROUNDS)
    assert problems == []
    assert {row["round"] for row in found if not row["counts"]} == {"6.1-2.1", "7.1-2.1"}
    assert sum(row["counts"] for row in found) == fold([path])[0].rated
    assert [row["round"] for row in found if row["forfeit"]] == ["5.1-2.1"]
    assert [row["round"] for row in found if row["assisted"]] == ["7.1-2.1"]
    assert {row["round"]: row["fault_seat"] for row in found if row["fault_seat"] is not None}["5.1-2.1"] == 0


@pytest.mark.parametrize("workers", [0, 2])
def test_moves_have_the_phase_and_the_number_of_legal_moves(
    workers: int, several: list[RoundLine], tmp_path: Path
) -> None:
    found, problems = exported(written(tmp_path / "cup.jsonl", *several), MOVES, workers=workers)
    assert problems == []
    for line in several[:4]:
        steps = replay_of(line).steps
        expected = [
            (
                step.seat,
                before.position.phase.value,
                len(Game.from_position(before.position).legal_actions()),
                step.move,
                step.ms,
                step.note,
            )
            for before, step in pairwise(steps)
            if step.move
        ]
        mine = [row for row in found if row["round"] == line.id]
        names = ("seat", "phase", "legal", "move", "ms", "note")
        assert [tuple(row[name] for name in names) for row in mine] == expected
        assert [row["at"] for row in mine] == list(range(len(expected)))
        won = {row["seat"]: (row["result"], row["points"], row["bot"], row["began"]) for row in mine}
        for seat, said in won.items():
            is_winner = float(line.result.winner == seat)
            assert said == (is_winner, line.result.points[seat], line.bots[seat], line.first == seat)
    assert {"play", "claim", "draw"} <= {row["phase"] for row in found}


def test_where_the_journal_has_no_deal_moves_have_neither_phase_nor_position(
    several: list[RoundLine], tmp_path: Path
) -> None:
    path = written(tmp_path / "cup.jsonl", several[-1])
    found, problems = exported(path, MOVES)
    assert problems == []
    assert [row["move"] for row in found] == [move for _, move, _ in several[-1].moves]
    assert {(row["phase"], row["legal"]) for row in found} == {(None, None)}
    assert exported(path, POSITIONS) == ([], [])


def test_positions_are_those_in_which_somebody_decides_or_was_kept_from_it(
    several: list[RoundLine], tmp_path: Path
) -> None:
    path = written(tmp_path / "cup.jsonl", *several[:-1])
    moves, positions = exported(path, MOVES)[0], exported(path, POSITIONS)[0]
    prevented = [row for row in positions if row["move"] is None]
    assert [{**row, "position": 0} for row in positions if row["move"]] == [{**row, "position": 0} for row in moves]
    assert [(row["round"], row["at"]) for row in prevented] == [
        ("3.1-2.1", 9), ("4.1-2.1", 0), ("5.1-2.1", 0), ("6.1-2.1", 0),
    ]  # fmt: skip
    assert [row["result"] for row in prevented] == [0, 0, 0, None]
    for row in positions[:: len(positions) // 50]:
        assert len(Game.from_text(row["position"]).legal_actions()) == row["legal"]


@pytest.mark.parametrize("workers", sampled([0, 2], 0))
def test_opinions_are_those_of_the_replay(workers: int, tmp_path: Path) -> None:
    line = random_round(PRESETS["base"], 5)
    path = written(tmp_path / "cup.jsonl", line)
    decisions = analyse(replay_of(line), bundled_evaluator()).decisions
    found = exported(path, MOVES, evaluated=True, workers=workers)[0]
    said = {row["at"] + 1: (row["expected"], row["best"], row["best_expected"]) for row in found if row["best"]}
    assert said == {
        each.number: (round(each.expected, 4), each.best, round(each.best_expected, 4)) for each in decisions
    }
    (row,), _ = exported(path, ROUNDS, evaluated=True, workers=workers)
    losses = [sum(each.loss for each in decisions if each.seat == seat) for seat in (0, 1)]
    assert [row["loss_0"], row["loss_1"]] == pytest.approx(losses, abs=1e-4)


def test_all_formats_hold_what_bots_wrote_unchanged(tmp_path: Path) -> None:
    line = random_round(PRESETS["base"], 5)
    fields = {name: getattr(line, name) for name in line.__struct_fields__}
    notes = {"0": HOSTILE, "1": "@x", "2": "", "3": '"', "4": "\0", "5": " - ", "6": "NULL", "7": "'"}
    path = written(tmp_path / "cup.jsonl", RoundLine(**fields | {"notes": notes, "bots": ("-a", "+b")}))
    as_json = exported(path, MOVES)[0]
    assert [row["note"] for row in as_json[:8]] == [note or None for note in notes.values()]
    text = as_csv(path, MOVES)
    assert text.startswith("tournament,round,")
    assert text.count("\r\n") == len(as_json) + 2  # one is in a note
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    types = {column.name: column.type for column in columns_of(MOVES, evaluated=False).every}
    assert [{name: of_text(value, types[name]) for name, value in row.items()} for row in read] == as_json


def of_text(text: str, kind: ColumnType) -> Any:
    if not text:
        return None
    match kind:
        case ColumnType.TEXT:
            return text
        case ColumnType.BOOLEAN:
            return {"true": True, "false": False}[text]
        case ColumnType.INTEGER:
            return int(text)
        case ColumnType.NUMBER:
            return float(text)


def test_several_journals_and_journals_put_together_are_the_same(tmp_path: Path) -> None:
    line = encoded(random_round(PRESETS["base"], 5))
    other = OPENING.replace(b'"rounds":5', b'"rounds":6')
    one, two, both = tmp_path / "1.jsonl", tmp_path / "2.jsonl", tmp_path / "3.jsonl"
    one.write_bytes(OPENING + line)
    two.write_bytes(other + line)
    both.write_bytes(OPENING + line + other + line)
    found, _ = exported([one, two], ROUNDS)
    together, _ = exported(both, ROUNDS)
    ignored = {"journal": "", "line": 0}
    assert [row | ignored for row in found] == [row | ignored for row in together]
    assert len({row["tournament"] for row in found}) == 2
    twice, problems = exported([one, both], ROUNDS)
    assert len(twice) == 2
    assert problems == [f"{both}:1: this tournament was already read; its rounds are left out"]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("table", ExportedTable)
def test_lines_that_cannot_be_used_are_reported_and_the_others_exported(
    table: ExportedTable, workers: int, tmp_path: Path
) -> None:
    good, bad = (encoded(random_round(PRESETS["base"], n, id=f"{n}.1-2.1")) for n in (1, 2))
    negative = re.sub(rb",\d+\]", b",-1]", bad.replace(b'2.1-2.1"', b'3.1-2.1"'), count=1)
    unplayable = bad.replace(b'"play ', b'"play play ', 1)
    path = tmp_path / "cup.jsonl"
    path.write_bytes(OPENING + b"{}\n" + unplayable + negative + b'{"type":"later","v":1}\n' + good + good[:50])
    found, problems = exported(path, table, workers=workers)
    is_played = table is not ROUNDS
    assert {row["round"] for row in found} == {"1.1-2.1"} | (set() if is_played else {"2.1-2.1"})
    expected = [(2, "this is not a line of a journal: "), (4, "this is not a line of a journal: Expected `int` >= 0")]
    expected += [(3, "this round cannot be replayed: move 1: ")] if is_played else []
    expected += [(7, "the line is torn")]
    *lines, remark = problems
    for problem, (number, words) in zip(lines, sorted(expected), strict=True):
        assert problem.startswith(f"{path}:{number}: {words}")
    assert remark.endswith("1 line of a type that this version does not know was skipped (later)")


def test_rows_are_made_while_the_journal_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "cup.jsonl", *(random_round(PRESETS["base"], n, id=f"{n}.1-2.1") for n in range(1, 9)))
    read: list[JournalEntry] = []
    found = rows(Export(MOVES, False), [path], CsvRows(), 0, read.append)
    next(found)
    assert read == []
    next(found)
    assert len(read) == 2  # the opening line and a round
    found.close()


def test_names_and_meanings_of_columns_are_told_apart() -> None:
    for table in ExportedTable:
        columns = columns_of(table, evaluated=True).every
        assert len({column.name for column in columns}) == len({column.meaning for column in columns}) == len(columns)
        without = [column.name for column in columns_of(table, evaluated=False).every]
        assert [column.name for column in columns if not column.is_opinion] == without
    moves, positions = (columns_of(table, evaluated=True).every for table in (MOVES, POSITIONS))
    assert positions[: len(moves)] == moves  # as the help and the documents say
