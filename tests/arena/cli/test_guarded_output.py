"""A log that cannot be written stops nothing."""

import io
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from arena.cli import guarded_output as module
from arena.cli.guarded_output import guarded_output
from arena.journal.verify import verify_journals
from tests.helpers.journals import write
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.running import TIMEOUT
from tests.helpers.sampling import sampled

LOCAL = 'rounds = 2\ncycles = 3\n[server]\nlisten = "127.0.0.1:0"\n[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "random"\n'

# With a seed, so that it ends the same way each time, and plenty of time, however busy the machine is.
SPRT = [sys.executable, "-m", "arena", "sprt", "greedy", "random", "--elo1", "200", "--seed", "5", "--st", "60"]


def closed_pipe() -> io.TextIOWrapper:
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w")


def test_what_cannot_be_printed_is_said_once_on_the_other_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closed_pipe() as broken:
        monkeypatch.setattr(sys, "stderr", broken)
        with guarded_output(tmp_path / "cup.jsonl"):
            for number in range(3):
                click.echo(f"line {number}", err=True)
            click.echo("the table")
        assert sys.stderr is broken
        click.echo("after the block: nobody hears it, and nothing fails", err=True)
    said, table = sorted(capsys.readouterr().out.splitlines())  # the thread may be later than the table
    assert said[20:] == "stderr cannot be written: Broken pipe. Play goes on without it."
    assert table == "the table"
    assert (tmp_path / "cup.notes").read_text()[20:] == f"{said[20:]}\n"


def test_where_neither_stream_can_be_written_a_file_beside_the_journal_says_so_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open("/dev/full", "w") as full, closed_pipe() as broken:
        monkeypatch.setattr(sys, "stdout", broken)
        monkeypatch.setattr(sys, "stderr", full)
        with guarded_output(tmp_path / "cup.jsonl"):
            click.echo("a line", err=True)
            click.echo("another", err=True)
            click.echo("the table")
    said = [line[20:] for line in (tmp_path / "cup.notes").read_text().splitlines()]
    assert sorted(said) == [
        "stderr cannot be written: No space left on device. Play goes on without it.",
        "stdout cannot be written: Broken pipe. Play goes on without it.",
    ]


def test_a_log_goes_on_when_there_is_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = threading.Event()

    class Disk(io.BytesIO):
        is_full = False

        def flush(self) -> None:
            if self.is_full:
                refused.set()
                raise OSError(28, "No space left on device")

    disk = Disk()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(disk, encoding="utf-8"))
    with guarded_output(None):
        click.echo("before", err=True)
        disk.is_full = True
        click.echo("meanwhile", err=True)
        assert refused.wait(TIMEOUT)
        disk.is_full = False
        click.echo("after", err=True)
    click.echo("the table", err=True)
    assert disk.getvalue().decode().split()[-3:] == ["after", "the", "table"]


def test_a_sequential_test_without_a_log_still_has_its_verdict(tmp_path: Path) -> None:
    """The status of a failure would be that of a bot that is not better."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(SPRT, cwd=tmp_path, stdout=subprocess.PIPE, stderr=full, text=True, timeout=TIMEOUT)
    assert "greedy is better than random" in done.stdout
    assert done.returncode == 0


def test_a_verdict_that_cannot_be_printed_is_no_verdict(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(SPRT, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    assert done.stderr.splitlines()[-1] == "arena: No space left on device"
    assert done.returncode == 3


def test_nothing_fails_where_even_the_folder_of_the_journal_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closed_pipe() as one, closed_pipe() as two:
        monkeypatch.setattr(sys, "stdout", one)
        monkeypatch.setattr(sys, "stderr", two)
        with guarded_output(tmp_path / "removed" / "cup.jsonl"):
            click.echo("a line", err=True)


@pytest.mark.parametrize("command", sampled(["serve", "run"], "serve"))
def test_a_tournament_is_played_to_its_end_after_its_terminal_is_lost(tmp_path: Path, command: str) -> None:
    """Without a hangup signal, as under nohup: what is printed fails."""
    (tmp_path / "cup.toml").write_text(LOCAL)
    master, terminal = pty.openpty()
    words = [sys.executable, "-m", "arena", command, "cup.toml"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=terminal, stderr=terminal, start_new_session=True)
    os.close(terminal)
    os.read(master, 1)  # it has begun to print
    os.close(master)
    assert process.wait(TIMEOUT) == 0
    report = verify_journals([tmp_path / "cup.jsonl"])
    assert (report.rounds, report.problems) == (6, [])
    assert "stderr cannot be written: Input/output error" in (tmp_path / "cup.notes").read_text()


def test_a_stream_that_was_closed_at_the_start_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(LOCAL)
    command = f"exec {sys.executable} -m arena serve cup.toml 2>&- <&-"
    process = subprocess.run(["sh", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE, timeout=TIMEOUT, check=True)
    assert b"Everything is in cup.jsonl" in process.stdout
    assert verify_journals([tmp_path / "cup.jsonl"]).rounds == 6


def full_pipe() -> tuple[int, io.TextIOWrapper]:
    """A pipe that nobody has read: its reading end, and its writing end, to which every write waits."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(writer, b"\n" * size)
        except BlockingIOError:
            pass
    os.set_blocking(writer, True)
    return reader, open(writer, "w")


def everything(reader: int) -> list[str]:
    """The lines in the pipe until its writing end is closed."""
    with open(reader) as pipe:
        return [line for line in pipe.read().splitlines() if line]


def wait_until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_played(folder: Path) -> bool:
    """Whether the tournament is over: then its secret is in the journal."""
    journal = folder / "cup.jsonl"
    return journal.exists() and '"type":"reveal"' in journal.read_text()


def test_a_log_that_is_read_late_loses_nothing_and_keeps_the_order_of_both_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = full_pipe()
    with writer, open(os.dup(writer.fileno()), "w") as other:
        monkeypatch.setattr(sys, "stdout", writer)
        monkeypatch.setattr(sys, "stderr", other)
        read: list[str] = []
        reading = threading.Thread(target=lambda: read.extend(everything(reader)))
        with guarded_output(None):
            for number in range(20_000):
                click.echo(f"line {number}", err=number % 3 == 0)
            reading.start()
    reading.join(TIMEOUT)
    assert read == [f"line {number}" for number in range(20_000)]


def test_what_finds_no_room_is_counted_when_the_reader_reads_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "ROOM", 100)
    reader, writer = full_pipe()
    with writer, open(os.dup(reader)) as pipe:
        monkeypatch.setattr(sys, "stderr", writer)
        with guarded_output(tmp_path / "cup.jsonl"):
            for number in range(30):
                click.echo(f"line {number:2} .", err=True)  # ten bytes
            while "not written" not in (line := pipe.readline()):
                pass
            click.echo("after", err=True)
            assert pipe.readline() == "after\n"
    os.close(reader)
    assert line[20:] == "20 lines were not written: nobody read stderr.\n"
    noted = (tmp_path / "cup.notes").read_text()
    assert noted[20:] == "stderr is not read. Play goes on, and what is printed is lost.\n"
    assert capsys.readouterr().out == ""


def test_events_that_found_no_room_are_told_as_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROOM", 4)
    reader, writer = full_pipe()
    with writer, open(reader) as pipe:
        monkeypatch.setattr(sys, "stdout", writer)
        with guarded_output(None, events=True):
            for _ in range(3):
                click.echo("{}")
            while not (line := pipe.readline()).startswith('{"event"'):
                pass
    notice = json.loads(line)
    assert (notice["event"], notice["text"]) == ("notice", "2 lines were not written: nobody read stdout.")


CUPS = [
    ["run", "cup.toml"],
    ["serve", "cup.toml"],
    ["play", "greedy", "random", "--rounds", "10", "--st", "60", "--journal", "cup.jsonl"],
]
TEST = [*SPRT[3:], "--journal", "cup.jsonl"]  # it has no secret


@pytest.mark.parametrize("words", sampled([*CUPS, TEST], CUPS[0]), ids=lambda words: words[0])
def test_a_log_that_nobody_reads_does_not_stop_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    (tmp_path / "cup.toml").write_text(LOCAL)
    reader, writer = full_pipe()
    with writer:
        command = [sys.executable, "-m", "arena", *words]
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=writer, text=True, timeout=TIMEOUT)
    os.close(reader)
    assert done.returncode == 0
    assert "greedy" in done.stdout
    assert words is TEST or is_played(tmp_path)
    assert "written: nobody read stderr." in (tmp_path / "cup.notes").read_text()


@pytest.mark.parametrize("words", sampled(CUPS, CUPS[0]), ids=lambda words: words[0])
def test_whoever_reads_late_gets_the_whole_log_and_the_result(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "cup.toml").write_text(LOCAL)
    reader, writer = full_pipe()
    with writer:
        command = [sys.executable, "-m", "arena", *words]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=writer, stderr=writer)
    wait_until(lambda: is_played(tmp_path))
    printed = "\n".join(everything(reader))
    assert process.wait(TIMEOUT) == 0
    assert ("Finished round 10" if words[0] == "play" else "Finished round 6") in printed
    assert "not written" not in printed
    assert ("] 10" if words[0] == "play" else "Everything is in cup.jsonl.") in printed


@pytest.mark.parametrize("words", sampled(CUPS, CUPS[0]), ids=lambda words: words[0])
def test_ctrl_c_ends_a_command_whose_output_nobody_reads(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "cup.toml").write_text(LOCAL)
    reader, writer = full_pipe()
    with writer:
        command = [sys.executable, "-m", "arena", *words]
        process = subprocess.Popen(command, cwd=tmp_path, stdout=writer, stderr=writer)
    wait_until(lambda: is_played(tmp_path))

    def ends() -> bool:
        process.send_signal(signal.SIGINT)  # play may have to end first
        return process.poll() is not None

    wait_until(ends)
    assert process.returncode == 130
    os.close(reader)


def test_ctrl_s_in_a_terminal_does_not_stop_play(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(LOCAL)
    with arena_in_terminal(["run", "cup.toml"], tmp_path) as terminal:
        terminal.press("\x13")
        terminal.wait_until(lambda: is_played(tmp_path), "the end of play")
        assert "Everything is in" not in terminal.text
        terminal.press("\x11")
        terminal.wait_for("Everything is in cup.jsonl.")
        assert terminal.wait_for_status() == 0


@pytest.mark.parametrize("words", sampled([*CUPS, TEST], TEST), ids=lambda words: words[0])
def test_a_closed_stdout_leaves_a_tournament_its_status_and_is_told(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "cup.toml").write_text(LOCAL)
    with closed_pipe() as closed:
        command = [sys.executable, "-m", "arena", *words]
        done = subprocess.run(command, cwd=tmp_path, stdout=closed, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    options = "--sprt " if words is TEST else ""
    told = f"stdout was closed before the result was printed. To see it:  arena table {options}cup.jsonl"
    assert told in done.stderr.splitlines()
    assert done.returncode == 0


@pytest.mark.parametrize("line", ["table cup.jsonl", "verify cup.jsonl", "bots", "play greedy random --rounds 2"])
def test_a_result_whose_reader_left_ends_with_the_status_of_a_failure_and_says_nothing(
    tmp_path: Path, line: str
) -> None:
    """1 would be a verdict, for example of `arena verify`."""
    write(tmp_path / "cup.jsonl", 4)
    with closed_pipe() as closed:
        command = [sys.executable, "-m", "arena", *shlex.split(line)]
        done = subprocess.run(command, cwd=tmp_path, stdout=closed, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    assert (done.returncode, done.stderr) == (3, "")
