"""`arena export` as people call it: files, pipes, what is missing, and Ctrl-C."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from arena.export.export_columns import ColumnType, ExportedTable, columns_of
from arena.export.parquet import convert_to_parquet
from engine.ruleset import PRESETS
from tests.helpers import genuine
from tests.helpers.commands import arena
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.rounds import OPENING, random_round, written
from tests.helpers.sampling import sampled
from tests.helpers.tournaments import configured, steady

PATIENCE = 60  # seconds
COMMAND = [sys.executable, "-m", "arena", "export"]
_TYPES = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.NUMBER: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    lines = [random_round(PRESETS["tactics"], n, id=f"1.1-2.{n}", stop_after=9 if n == 3 else None) for n in (1, 2, 3)]
    return written(tmp_path / "cup.jsonl", *lines)


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Worth workers, and more than a pipe holds."""
    config = configured(steady("a"), steady("b"), rounds="20", rules="tactics")
    return genuine.write_copies(tmp_path_factory.mktemp("long") / "long.jsonl", config, 600)


@pytest.mark.parametrize("table", ExportedTable)
def test_a_parquet_file_holds_what_csv_holds(table: ExportedTable, journal: Path, tmp_path: Path) -> None:
    done = arena("export", journal, "--what", table.value, "-o", tmp_path / "it's.parquet")
    assert (done.exit_code, done.output.count("\n")) == (0, 1)
    assert arena("export", journal, "--what", table.value, "-o", tmp_path / "it.csv").exit_code == 0
    columns = columns_of(table, evaluated=False).every
    types = {column.name: _TYPES[column.type] for column in columns}
    with duckdb.connect() as connection:
        parquet = connection.read_parquet(str(tmp_path / "it's.parquet"))
        assert dict(zip(parquet.columns, map(str, parquet.types), strict=True)) == types
        from_csv = connection.sql(
            f"from read_csv('{tmp_path / 'it.csv'}', header = true, columns = {types}, allow_quoted_nulls = false)"
        )
        found = parquet.fetchall()
        assert found == from_csv.fetchall()
    assert done.output == f"Wrote {len(found)} rows of 3 rounds to {tmp_path / 'it'}'s.parquet.\n"
    assert sorted(os.listdir(tmp_path)) == ["cup.jsonl", "it's.parquet", "it.csv"]


def test_notes_and_names_arrive_in_parquet_unchanged(tmp_path: Path) -> None:
    line = random_round(PRESETS["base"], 5)
    fields = {name: getattr(line, name) for name in line.__struct_fields__}
    notes = ["=1+1", 'a "b", c', "x\r\ny\n", "\0", "NULL", " ", "'", "\U0001f98a" * 5000]
    fields |= {"notes": {str(at): note for at, note in enumerate(notes)}, "bots": ("-a", "+b")}
    path, target = written(tmp_path / "cup.jsonl", type(line)(**fields)), tmp_path / "moves.parquet"
    assert arena("export", path, "--what", "moves", "-o", target).exit_code == 0
    with duckdb.connect() as connection:
        found = connection.read_parquet(str(target)).project("note, bot").fetchall()
    assert [note for note, _ in found[: len(notes)]] == notes
    assert {bot for _, bot in found} == {"-a", "+b"}


def test_the_ending_of_the_file_says_the_format_unless_an_option_does(journal: Path, tmp_path: Path) -> None:
    def start(name: str, *options: str) -> str:
        assert arena("export", journal, *options, "-o", tmp_path / name).exit_code == 0
        return (tmp_path / name).read_text()[0]

    assert [start(name) for name in ("a.jsonl", "a.CSV", "a.txt")] == ["{", "t", "t"]
    assert start("b.csv", "--format", "jsonl") == "{"


def test_a_missing_extra_is_said_in_one_sentence(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.cli.export_command.find_spec", lambda name: None if name == "duckdb" else object())
    done = arena("export", journal, "-o", tmp_path / "a.parquet")
    assert done.exit_code == 2
    expected = "needs DuckDB, which is not installed: pip install 'schotten-arena[parquet]'"
    assert done.output == f"Error: --format parquet {expected}\n"
    assert arena("export", journal, "-o", tmp_path / "a.csv").exit_code == 0


def test_a_file_that_cannot_be_written_is_one_sentence(journal: Path, tmp_path: Path) -> None:
    before = journal.read_bytes()
    done = arena("export", journal, "-o", journal)
    assert (done.exit_code, done.output) == (
        2, f"Error: {journal} is one of the journals, which the table would replace; choose another name with -o\n",
    )  # fmt: skip
    assert journal.read_bytes() == before
    stream = arena("export", journal, "--format", "parquet")
    assert (stream.exit_code, stream.output) == (
        2, "Error: Parquet is written to a file, and not as a stream; name one, such as -o moves.parquet\n",
    )  # fmt: skip
    for name in ("nowhere/a.csv", "nowhere/a.parquet"):
        words = [*COMMAND, str(journal), "-o", str(tmp_path / name)]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        expected = f"arena: No such file or directory: {tmp_path / name}\n"
        assert (ran.returncode, ran.stdout, ran.stderr) == (3, "", expected)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_that_is_there_already_stays_whole_if_the_export_fails(form: str, journal: Path, tmp_path: Path) -> None:
    target = tmp_path / f"a.{form}"
    target.write_text("before")
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); import sys; "
    code = limited + "sys.argv[0] = 'arena'; from arena.__main__ import entry; entry()"
    words = [sys.executable, "-c", code, "export", str(journal), "--what", "moves", "-o", str(target)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr.startswith("arena: ")
    assert ran.stderr.endswith(f": {target}\n")
    assert ran.stderr.count("\n") == 1
    assert target.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == [f"a.{form}", "cup.jsonl"]


def test_journals_of_which_nothing_can_be_read_end_with_1_and_other_files_with_2(tmp_path: Path) -> None:
    damaged, text, begun = (tmp_path / name for name in ("damaged.jsonl", "text.jsonl", "begun.jsonl"))
    damaged.write_bytes(OPENING[:-20] + b"\n")
    text.write_text("hello\n")
    begun.write_bytes(OPENING)
    assert arena("export", damaged).exit_code == arena("table", damaged).exit_code
    found = arena("export", text)
    assert (found.exit_code, found.output.count("\n")) == (2, 1)
    done = arena("export", begun)
    assert (done.exit_code, done.output.count("\n")) == (0, 1)  # the head


def test_a_reader_that_closes_the_pipe_ends_the_command_quietly(long: Path) -> None:
    words = [*COMMAND, str(long), "--what", "moves"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b"tournament,")
    process.stdout.close()
    assert (process.wait(PATIENCE), process.stderr.read()) == (3, b"")
    process.stderr.close()


# Runs the command. Before the fifth piece of its rows it says so on stdout and waits, in the midst of its work or in a
# callback of the interpreter, from which no exception can come.
_WAITING = """
import os, signal, sys
from arena.export import export_files

class Callback:
    def __del__(self):
        wait()

def wait():
    os.write(1, b"here")
    signal.pause()

def write_text(file, rows, original=export_files.write_text):
    original(file, waiting(rows))

def waiting(rows):
    for number, text in enumerate(rows):
        if number == 4:
            {moment}()
        yield text

export_files.write_text = write_text
sys.argv[0] = "arena"
from arena.__main__ import entry
entry()
"""


@pytest.mark.parametrize("moment", ["wait", "Callback"])
@pytest.mark.parametrize("form", sampled(["csv", "parquet"], "csv"))
def test_ctrl_c_leaves_no_part_of_a_file(form: str, moment: str, long: Path, tmp_path: Path) -> None:
    target = tmp_path / f"moves.{form}"
    target.write_text("before")
    words = [sys.executable, "-c", _WAITING.format(moment=moment), "export", str(long), "--what", "moves"]
    words += ["-o", str(target)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(4) == b"here"
    assert os.listdir(tmp_path) == [target.name]
    process.send_signal(signal.SIGINT)
    assert (*process.communicate(timeout=PATIENCE), process.returncode) == (b"", b"Stopped.\n", 130)
    assert os.listdir(tmp_path) == [target.name]
    assert target.read_text() == "before"


def test_ctrl_c_ends_the_conversion_to_parquet(tmp_path: Path) -> None:
    source, sink = os.pipe()
    main = threading.get_ident()

    def write_without_end() -> None:
        with contextlib.suppress(BrokenPipeError), open(sink, "wb") as file:
            file.write(b"moves\r\n")
            for number in itertools.count():
                file.write(b"1\r\n" * 100_000)
                if number == 5:  # more than the pipe holds, so DuckDB is reading it
                    signal.pthread_kill(main, signal.SIGINT)

    (column,) = (each for each in columns_of(ExportedTable.ROUNDS, evaluated=False).every if each.name == "moves")
    writer = threading.Thread(target=write_without_end)
    with open(source, "rb") as csv, open(tmp_path / "a.parquet", "wb") as target:
        writer.start()
        with pytest.raises(KeyboardInterrupt):
            convert_to_parquet(csv, [column], target)
    writer.join()


@pytest.mark.extended
def test_progress_is_shown_unless_the_rows_are_on_the_terminal(long: Path, tmp_path: Path) -> None:
    with arena_in_terminal(["export", str(long), "-o", "rounds.csv"], tmp_path) as session:
        assert session.wait_for_status() == 0
        assert "Exporting" in session.raw.decode()
        assert session.text.strip() == "Wrote 600 rows of 600 rounds to rounds.csv."
    with arena_in_terminal(["export", str(long)], tmp_path) as session:
        assert session.wait_for_status() == 0
        assert "Exporting" not in session.raw.decode()


def test_the_help_lists_every_column_of_the_tables() -> None:
    text = " ".join(arena("export", "--help").output.split())
    for table in ExportedTable:
        for column in columns_of(table, evaluated=True).every:
            assert f"{column.name} {column.meaning}" in text
