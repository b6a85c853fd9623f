"""`arena` as a process of its own, and a server to connect to."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from arena.journal.lines import JournalLine, RoundLine, read
from arena.journal.verify import verify_journals

TIMEOUT = 300  # seconds; nothing takes so long, even on a busy machine


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Running:
    """A command whose stderr is read line by line."""

    def __init__(self, *words: str, cwd: Path, env: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", *words],
            cwd=cwd,
            env=os.environ | (env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def line_with(self, text: str) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if text in line:
                return line
        raise AssertionError(f"{text!r} was never said")

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=TIMEOUT)
        return self.process.returncode, out, err


@contextlib.contextmanager
def running(*words: str, cwd: Path, env: dict[str, str] | None = None) -> Iterator[Running]:
    command = Running(*words, cwd=cwd, env=env)
    try:
        yield command
    finally:
        command.process.kill()
        command.process.wait()
        for stream in (command.process.stdout, command.process.stderr):
            if stream:
                stream.close()


@contextlib.contextmanager
def serving(folder: Path, text: str, *options: str, port: int = 0) -> Iterator[tuple[Running, str]]:
    (folder / "cup.toml").write_text("rounds = 2\n" + text)
    with running("serve", "cup.toml", "--listen", f"127.0.0.1:{port}", *options, cwd=folder) as server:
        yield server, server.line_with("Listening at").split()[-1]


def rounds_in(folder: Path) -> list[RoundLine]:
    assert verify_journals([folder / "cup.jsonl"]).problems == []
    return [e.line for e in read(folder / "cup.jsonl", JournalLine) if isinstance(e.line, RoundLine)]
