"""Ctrl-C at any moment of any command: status 130 and at most one plain line. Real processes, real signals."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.processes import bad_command
from tests.helpers.tournaments import steady

# Runs `arena` and sends SIGINT to it when it looks for the module that the first word names.
INTERRUPTED_AT_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

wanted = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupting())
from arena.__main__ import entry
entry()
"""


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "arena", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("click", ["bots"]),
        ("arena.cli.main", ["play", "greedy", "random"]),
        ("arena.cli.table_command", ["table", "cup.jsonl"]),
        ("numpy", ["table", "cup.jsonl"]),
        ("arena.cli.tournament_command", ["play", "greedy", "random"]),
        ("arena.plan.config", ["run", "greedy", "random"]),
        ("trio", ["play", "greedy", "random"]),
        ("arena.worker.worker_process", ["play", "greedy", "random"]),
        ("arena.server.server", ["serve", "cup.toml", "--listen", "127.0.0.1:0"]),
        ("arena.client.bridge", ["connect", "127.0.0.1:1", "--", "greedy"]),
        ("arena.devtools.check", ["check", "greedy"]),
        ("arena.stats.report_data", ["report", "cup.jsonl"]),
        ("arena.export.export_rows", ["export", "cup.jsonl"]),
    ],
)
def test_an_interrupt_while_modules_are_loaded_ends_the_command_quietly(
    tmp_path: Path, module: str, words: list[str]
) -> None:
    (tmp_path / "cup.jsonl").touch()
    (tmp_path / "cup.toml").write_text('[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "random"\n')
    command = [sys.executable, "-c", INTERRUPTED_AT_IMPORT, module, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


def test_an_interrupt_in_a_callback_of_the_interpreter_is_not_lost(tmp_path: Path) -> None:
    """Python prints an exception in such a callback, and goes on as if nothing had happened."""
    (tmp_path / "cup.jsonl").touch()
    at_import = "os.kill(os.getpid(), signal.SIGINT)"
    in_callback = f"import weakref; thing = Interrupting(); ref = weakref.ref(thing, lambda _: {at_import}); del thing"
    code = INTERRUPTED_AT_IMPORT.replace(at_import, in_callback)
    command = [sys.executable, "-c", code, "numpy", "table", "cup.jsonl"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


def test_an_interrupt_while_a_file_is_read_ends_the_command_quietly(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "cup.toml")
    process = started(tmp_path, "run", "cup.toml")
    with open(tmp_path / "cup.toml", "w"):  # returns once the command reads
        assert interrupted(process) == (130, "", "Stopped.\n")


def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    """As in a shell script's background, where Ctrl-C is meant for another program."""
    command = [sys.executable, "-c", INTERRUPTED_AT_IMPORT, "click", "bots"]
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]
    done = subprocess.run(ignoring, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "greedy" in done.stdout


def test_an_interrupt_ends_a_match_and_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process = started(tmp_path, "play", steady("a"), f"slow={bad_command('always-slow')}", "--rounds", "1000")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Finished round 1")
    status, _, err = interrupted(process)
    assert (status, err.splitlines()[0]) == (130, "Stopped.")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_demo_can_be_resumed_as_it_says(tmp_path: Path) -> None:
    process = started(tmp_path, "demo", "--rounds", "10000")
    journal = tmp_path / "demo" / "base.jsonl"
    while not journal.exists() or b'"type":"round"' not in journal.read_bytes():
        assert process.poll() is None
        time.sleep(0.01)
    status, _, err = interrupted(process)
    assert status == 130
    resume = err.partition("To resume:  arena ")[2].split()
    process = started(tmp_path, *resume)
    assert process.stderr is not None
    assert "in the journal already: resuming." in process.stderr.readline()
    assert interrupted(process)[0] == 130


def test_an_interrupt_ends_a_check_that_waits_for_its_bot(tmp_path: Path) -> None:
    process = started(tmp_path, "check", "--listen", "127.0.0.1:0")
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Waiting for a bot")
    assert interrupted(process) == (130, "", "Stopped.\n")


@pytest.mark.parametrize("words", [["connect", "ADDRESS", "--", "greedy"], ["watch", "ADDRESS"]])
def test_an_interrupt_ends_a_client_of_a_silent_server(tmp_path: Path, words: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        process = started(tmp_path, *(address if word == "ADDRESS" else word for word in words))
        connection, _ = listener.accept()
        with connection:
            status, _, err = interrupted(process)
    assert status == 130
    assert err in ("", "Stopped.\n")
