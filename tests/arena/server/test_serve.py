"""`arena serve` as people start it: a real process."""

import json
import os
import pty
import socket
import subprocess
import sys
from pathlib import Path

from tests.helpers.running import TIMEOUT, running, serving
from tests.helpers.visitors import remote_bots, token_of


def test_a_tournament_that_is_over_says_so_at_once(tmp_path: Path) -> None:
    text = remote_bots("anna", "ben")
    with (
        serving(tmp_path, text) as (server, address),
        running("connect", address, "--token", token_of("anna"), "--", "random", cwd=tmp_path),
        running("connect", address, "--token", token_of("ben"), "--", "random", cwd=tmp_path),
    ):
        first = server.end()[1]
    for changed, status in (("", 0), ("event = 'another'\n", 2)):
        (tmp_path / "cup.toml").write_text("rounds = 2\n" + changed + text)
        with running("serve", "cup.toml", "--listen", "127.0.0.1:0", cwd=tmp_path) as again:
            found, table, told = again.end()
        assert found == status
        assert "Listening" not in told
        assert (table == first) is not bool(changed)
    assert "is the journal of another tournament" in told


def test_a_key_needs_something_to_press_it_on(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(remote_bots("anna", "ben"))
    with running("serve", "cup.toml", "--listen", "127.0.0.1:0", "--begin", "key", cwd=tmp_path) as server:
        status, _, told = server.end()
    assert (status, told) == (2, "Error: --begin key needs a terminal, or a pipe, on which Enter can be pressed\n")


def test_a_certificate_that_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(remote_bots("anna", "ben"))
    words = ("serve", "cup.toml", "--listen", "127.0.0.1:0", "--cert", "cup.toml", "--key", "cup.toml")
    with running(*words, cwd=tmp_path) as server:
        status, _, told = server.end()
    assert status == 2
    assert told.startswith("Error: cannot use --cert cup.toml with --key cup.toml:")


def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(remote_bots("anna", "ben"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with running("serve", "cup.toml", "--listen", address, cwd=tmp_path) as server:
            status, _, told = server.end()
    assert (status, told) == (2, f"Error: cannot listen at {address}: Address already in use\n")


def test_events_for_programs(tmp_path: Path) -> None:
    text = remote_bots("anna") + '[[bot]]\ncmd = "random"\n'
    with running("token", "x", cwd=tmp_path):
        pass
    (tmp_path / "cup.toml").write_text("rounds = 2\n" + text)
    with running("serve", "cup.toml", "--listen", "127.0.0.1:0", "--events", cwd=tmp_path) as server:
        assert server.process.stdout is not None
        listening = json.loads(server.process.stdout.readline())
        assert listening["event"] == "listening"
        words = ("connect", listening["address"], "--token", token_of("anna"), "--", "random")
        with running(*words, cwd=tmp_path):
            told = [json.loads(line) for line in server.process.stdout]
    events = [each["event"] for each in told]
    assert all("time" in each for each in told)
    assert told[1] == {
        "event": "came",
        "time": told[1]["time"],
        "text": "anna is here (127.0.0.1)",
        "bot": "anna",
        "connections": 1,
        "address": "127.0.0.1",
    }
    assert events[:2] == ["lobby", "came"]
    assert events.count("finished") == 2
    assert "begins" in events
    assert events[-1] in ("ended", "left")


def test_a_key_begins_the_tournament(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text("rounds = 2\n" + remote_bots("anna") + '[[bot]]\ncmd = "random"\n')
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "arena", "serve", "cup.toml", "--listen", "127.0.0.1:0", "--begin", "key"]
    with subprocess.Popen(
        [*words, "--grace", "0.1"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        told = [server.stderr.readline() for _ in range(2)]
        assert told[1][20:] == "In the lobby: none. Missing: anna. It begins when Enter is pressed.\n"
        os.write(ours, b"\n")
        out, rest = server.communicate(timeout=TIMEOUT)
    os.close(ours)
    os.close(theirs)
    publish, begins, *_ = (line[20:] for line in rest.splitlines())
    assert publish.startswith("Publish this now")
    assert begins == "The tournament begins: anna, random"
    assert "it is not connected" in rest  # she did not come
    assert (server.returncode, "random" in out) == (0, True)
