"""What bots and strangers write does nothing to a terminal: everything that is printed goes through real commands."""

import contextlib
import io
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from arena.cli.live_display import LiveDisplay
from arena.cli.tournament_progress import BarAndLeaders, lines_of_rounds
from arena.cli.wording import faults, news
from arena.client.dial import ConnectError
from arena.client.spectate import Screen, json_line
from arena.journal.endings import Fault
from arena.journal.lines import FaultLine, RoundLine, VoidLine
from arena.processes.stderr import PassedOn
from arena.server.server_events import BotCame
from arena.tournament.tournament_events import RoundFinished, RoundVoid
from protocol.messages import WatchedPosition, WatchedResult, decode_from_server
from tests.helpers.commands import arena
from tests.helpers.journals import numbered_round

EVIL = "\x1b[2J\x9b31m\u202etxt\r\x07"
FORGED = "\nFinished round 9 (a vs b): 1-0 {five stones}"


def harmless(text: str) -> bool:
    return all(char.isprintable() or char in "\n\t" for char in text)


def passed_on(*parts: bytes) -> str:
    with contextlib.redirect_stderr(io.StringIO()) as told:
        pass_on = PassedOn()
        for part in parts:
            pass_on(part)
    return told.getvalue()


def test_stderr_of_a_bot_is_passed_on_with_its_lines_and_without_its_control_characters() -> None:
    assert passed_on(b"a\tb\nc \x1b[31mred\x1b[0m\r\n") == "a\tb\nc \\x1b[31mred\\x1b[0m\\r\n"
    assert passed_on("\x9b31m".encode()) == "\\x9b31m"


def test_characters_that_come_in_parts_are_put_together_and_broken_ones_are_written_out() -> None:
    assert passed_on(*(bytes([byte]) for byte in "Grüße 牌".encode()), b"") == "Grüße 牌"
    assert passed_on(b"half \xe7\x89", b"") == "half \\xe7\\x89"
    assert passed_on(b"bad \xff\xfe!") == "bad \\xff\\xfe!"
    assert passed_on(b"no end") == "no end"


BOT = f"""
import os, sys
os.write(2, {EVIL.encode()!r} + b"caf\\xc3")
os.write(2, b"\\xa9" + {FORGED.encode()!r})
sys.stdin.readline()
"""


@contextlib.contextmanager
def connecting(folder: Path, bot: str, *options: str) -> Iterator[tuple[socket.socket, subprocess.Popen[bytes]]]:
    """`arena connect`, and the server's end of its connection."""
    (folder / "bot.py").write_text(bot)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        words = [sys.executable, "-m", "arena", "connect", address, *options, "--", sys.executable, "bot.py"]
        with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE) as arena:
            connection, _ = listener.accept()
            with connection:
                yield connection, arena


def test_neither_bot_nor_server_reach_the_terminal_of_connect(tmp_path: Path) -> None:
    with connecting(tmp_path, BOT + "sys.stdin.read()") as (connection, arena):
        for message in (
            {"type": "hello", "protocol": 1, "server": "test"},
            {"type": "welcome", "name": "x"},
            {"type": "error", "code": "full", "message": f"not now{EVIL}", "fatal": False},
            {"type": "bye", "reason": f"enough{EVIL}"},
        ):
            connection.sendall(json.dumps(message).encode() + b"\n")
        connection.shutdown(socket.SHUT_WR)
        _, told = arena.communicate(timeout=60)
    text = told.decode()
    assert harmless(text)
    assert "café" in text
    assert "The server says: not now\\x1b[2J" in text
    assert "The server says bye: enough\\x1b[2J" in text


def test_a_server_that_refuses_does_so_in_one_harmless_line(tmp_path: Path) -> None:
    with connecting(tmp_path, "import sys; sys.stdin.read()") as (connection, arena):
        for message in (
            {"type": "hello", "protocol": 1, "server": "test"},
            {"type": "error", "code": "full", "message": f"go away{EVIL}{FORGED}", "fatal": True},
            {"type": "bye", "reason": "no"},
        ):
            connection.sendall(json.dumps(message).encode() + b"\n")
        connection.shutdown(socket.SHUT_WR)
        _, told = arena.communicate(timeout=60)
    assert told.decode().startswith("Error: the server refuses: go away\\x1b[2J")
    assert told.count(b"\n") == 1
    assert harmless(told.decode())


@pytest.mark.parametrize("words", [("play",), ("run", "--journal", "cup.jsonl")])
def test_what_a_bot_wrote_before_it_failed_is_told_in_one_harmless_line(
    tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a match without a journal keeps its faults there
    (tmp_path / "bot.py").write_text(BOT)
    bots = (f"bad={sys.executable} bot.py", "random")
    done = subprocess.run(
        [sys.executable, "-m", "arena", *words, *bots, "--rounds", "2"], cwd=tmp_path, capture_output=True, text=True
    )
    assert harmless(done.stdout + done.stderr)
    assert "; on stderr: \\x07caf" in done.stdout + done.stderr
    assert FORGED not in done.stdout + done.stderr
    for bundle in (tmp_path / "cup.faults").glob("*-bad"):
        again = subprocess.run(
            [sys.executable, "-m", "arena", "rerun", str(bundle), "--yes"], cwd=tmp_path, capture_output=True, text=True
        )
        assert again.returncode == 0
        assert harmless(again.stdout + again.stderr)
        *told, last = again.stdout.splitlines()
        assert [line.partition(":")[0] for line in told] == ["Then", "Now"]
        assert last == "The fault came again."


def _faulty() -> RoundLine:
    line = numbered_round(0, ("a", "b"), fault=Fault.CRASHED)
    return msgspec.structs.replace(line, fault=FaultLine(1, f"gone{EVIL}{FORGED}"))


def test_the_live_line_and_the_plain_lines_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    void = VoidLine(id="m.1", match="m", round=1, bots=("a", "b"), reason=f"late{EVIL}", started="")
    said: list[str] = []
    for listener in (lines_of_rounds(said.append), LiveDisplay(BarAndLeaders(), faults, news)):
        listener.heard(RoundFinished(_faulty()))
        listener.heard(RoundVoid(void))
        listener.heard(BotCame(f"anna{EVIL}", 1, "127.0.0.1"))
    text = capsys.readouterr().err
    assert text.count("\\x1b[2J") == 3
    assert harmless(text)
    assert harmless("".join(said))
    assert "".join(said).count("\\x1b[2J") == 3
    assert all(line.count("\n") == 0 for line in said)


POSITION = {
    "type": "position", "match": EVIL, "round": 1, "rules": "base", "bots": ["a", "b"], "first": 0, "points": [0, 0],
    "number": 1, "seat": 0, "move": f"play {EVIL}", "ms": 1, "hands": [["clan"], ["r1"]],
    "stones": [{"sides": [["r2"], []], "owner": None, "needs": 3, "modes": [], "complete_first": None}] * 9,
    "decks": {"clan": 1, "tactic": 0}, "discard": ["r3"], "tactics_played": [["spy"], []], "phase": "play",
    "to_move": 0,
}  # fmt: skip


def watched(**changes: object) -> WatchedPosition:
    position = decode_from_server(json.dumps(POSITION | changes, ensure_ascii=False).encode())
    assert isinstance(position, WatchedPosition)
    return position


def test_a_server_reaches_no_terminal_of_a_watcher() -> None:
    line = json.dumps(POSITION, ensure_ascii=False).encode()
    assert b"\xc2\x9b" in line  # which JSON allows
    assert harmless(json_line(line))
    assert json.loads(json_line(line)) == POSITION
    result = WatchedResult("1.1-2", 1, ("a", "b"), 0, EVIL, (5, 0))
    shown: list[str] = []
    for on_terminal in (False, True):
        screen = Screen(shown.append, on_terminal)
        screen.position(watched())
        screen.result(result)
    text = "".join(shown).replace("\x1b[H", "").replace("\x1b[K", "").replace("\x1b[J", "").replace("\x1b[2J", "")
    assert harmless(text)  # these four are our own


@pytest.mark.parametrize(
    "changes",
    [
        {"hands": [[EVIL], ["r1"]]},
        {"stones": [{"sides": [[EVIL], []], "owner": None, "needs": 3, "modes": [], "complete_first": None}] * 9},
        {"stones": [{"sides": [[], []], "owner": None, "needs": 3, "modes": [EVIL], "complete_first": None}] * 9},
        {"stones": []},
        {"discard": [EVIL]},
        {"tactics_played": [[EVIL], []]},
        {"phase": EVIL},
        {"rules": EVIL},
        {"decks": {"clan": 2**40, "tactic": 0}},
    ],
)
def test_a_watcher_refuses_a_position_with_what_is_not_in_the_game(changes: dict[str, object]) -> None:
    shown: list[str] = []
    with pytest.raises(ConnectError, match="the server sent a position that this program cannot read: ") as caught:
        Screen(shown.append, on_terminal=True).position(watched(**changes))
    assert harmless(str(caught.value))
    assert shown == []


def test_the_library_for_bots_tells_what_a_server_says_harmlessly(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("from protocol.bot_runner import run\nrun(lambda request: request.legal[0])\n")
    heard = [
        {"type": "hello", "protocol": 1, "server": "test"},
        {"type": "error", "code": "full", "message": f"go away{EVIL}", "fatal": True},
    ]
    done = subprocess.run(
        [sys.executable, "bot.py"],
        cwd=tmp_path,
        input="".join(json.dumps(message) + "\n" for message in heard),
        capture_output=True,
        text=True,
    )
    assert "the server says: go away\\x1b[2J" in done.stderr
    assert harmless(done.stderr)


@pytest.mark.parametrize("name", ["x" * 100_000, "a\udcff"], ids=["long", "surrogate"])
@pytest.mark.parametrize(
    "words",
    [["play", "{}=random", "greedy"], ["token", "{}"], ["connect", "127.0.0.1:1", "--name", "{}", "--", "greedy"]],
)
def test_a_name_that_cannot_be_used_is_one_short_sentence(name: str, words: list[str]) -> None:
    told = arena(*(word.replace("{}", name) for word in words))
    assert told.exit_code == 2
    assert "expected 1 to 32 ASCII letters, digits and . _ - +" in told.output
    assert len(told.output) < 1000


@pytest.mark.parametrize("words", [["greedy", "--event", "a\udcff"], ["x=greedy a\udcff"]])
def test_what_no_journal_can_hold_is_one_sentence_before_play(
    tmp_path: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = arena("play", "random", *words, "--journal", "cup.jsonl")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "a\\udcff' is not UTF-8, and a journal can hold nothing else\n" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("cup.secret").exists()


def test_verify_shortens_a_name_in_an_edited_journal(tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    assert arena("play", "greedy", "random", "--rounds", "2", "--journal", journal).exit_code == 0
    journal.write_text(journal.read_text().replace('"greedy"', '"' + "x" * 100_000 + '"'))
    done = arena("verify", journal)
    assert done.exit_code == 1
    assert len(done.stdout) < 2000


def test_a_report_names_a_journal_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    journal = tmp_path / "a\udcff.jsonl"
    assert arena("play", "greedy", "random", "--rounds", "2", "--journal", journal).exit_code == 0
    assert arena("report", journal, "--output", tmp_path / "report").exit_code == 0
    assert "from a\\udcff.jsonl." in (tmp_path / "report/index.html").read_text()
