"""`arena spec`: the specification, wherever the arena is installed."""

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.helpers.paths import ROOT

SPEC = [sys.executable, "-m", "arena", "spec"]


def test_in_a_pipe_the_specification_is_printed_as_it_is(tmp_path: Path) -> None:
    done = subprocess.run(SPEC, cwd=tmp_path, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == ((ROOT / "SPEC.md").read_bytes(), b"")


def test_a_reader_who_has_seen_enough_gets_no_traceback(tmp_path: Path) -> None:
    with subprocess.Popen(SPEC, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as arena:
        assert arena.stdout is not None
        assert arena.stderr is not None
        assert arena.stdout.readline().startswith(b"# ")
        arena.stdout.close()
        assert arena.stderr.read() == b""


def test_on_a_terminal_a_pager_shows_it(tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\ncat > {tmp_path}/paged\n")
    pager.chmod(0o755)
    ours, theirs = pty.openpty()
    try:
        environment = {**os.environ, "PAGER": str(pager), "TERM": "xterm"}
        subprocess.run(SPEC, cwd=tmp_path, env=environment, stdin=theirs, stdout=theirs, check=True, timeout=120)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (tmp_path / "paged").read_bytes() == (ROOT / "SPEC.md").read_bytes()
