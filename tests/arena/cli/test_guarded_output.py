"""A log that cannot be written stops nothing."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import pytest

from arena.cli.guarded_output import guarded_output
from arena.journal.verify import verify_journals
from tests.helpers.running import TIMEOUT

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
    said, table = capsys.readouterr().out.splitlines()
    assert said[20:] == "stderr cannot be written: Broken pipe. Play goes on without it."
    assert table == "the table"
    assert list(tmp_path.iterdir()) == []


def test_where_neither_stream_can_be_written_a_file_beside_the_journal_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open("/dev/full", "w") as full, closed_pipe() as broken:
        monkeypatch.setattr(sys, "stdout", broken)
        monkeypatch.setattr(sys, "stderr", full)
        with guarded_output(tmp_path / "cup.jsonl"):
            click.echo("a line", err=True)
            click.echo("another", err=True)
    said = [line[20:] for line in (tmp_path / "cup.notes").read_text().splitlines()]
    assert said == [
        "stdout cannot be written: Broken pipe. Play goes on without it.",
        "stderr cannot be written: No space left on device. Play goes on without it.",
    ]


def test_a_log_goes_on_when_there_is_room_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Disk(io.BytesIO):
        is_full = False

        def flush(self) -> None:
            if self.is_full:
                raise OSError(28, "No space left on device")

    disk = Disk()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(disk, encoding="utf-8"))
    with guarded_output(None):
        click.echo("before", err=True)
        disk.is_full = True
        click.echo("meanwhile", err=True)
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


@pytest.mark.parametrize("command", ["serve", "run"])
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
