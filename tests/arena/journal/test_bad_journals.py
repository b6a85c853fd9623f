"""Journals in a bad state: every command says what is wrong and where, counts nothing twice, and never hangs."""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.journal.bot_history import Meetings
from arena.journal.index import rounds_in
from arena.journal.lines import RoundName, TournamentLine, VoidLine, read
from arena.journal.reader import JournalReader
from arena.journal.verify import verify_journals
from arena.stats.standings import fold
from tests.helpers.commands import arena
from tests.helpers.raw_journals import Change, Line, readers, run, write

# What is no regular file


@pytest.fixture(params=["fifo", "socket", "device", "folder"])
def irregular(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "it"
    match request.param:
        case "fifo":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
                yield path
                return
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
    yield path


@pytest.mark.parametrize("command", [*readers(Path(), Path()), "run", "serve", "play"])
def test_what_is_no_regular_file_is_refused_at_once(command: str, irregular: Path, tmp_path: Path) -> None:
    league = tmp_path / "league.toml"
    league.write_text('[server]\nlisten = "127.0.0.1:0"\n[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "random"\n')
    words = readers(irregular, tmp_path) | {
        "run": ["run", "greedy", "random", "--journal", str(irregular)],
        "play": ["play", "greedy", "random", "--journal", str(irregular)],
        "serve": ["serve", str(league), "--journal", str(irregular)],
    }
    done = subprocess.run(
        [sys.executable, "-m", "arena", *words[command]], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert str(irregular) in done.stderr
    assert "regular file" in done.stderr or "is a directory" in done.stderr


def test_a_pipe_is_refused_with_the_way_out_and_a_redirected_file_is_read(journal: Path, played: bytes) -> None:
    journal.write_bytes(played)
    table = f"{sys.executable} -m arena table"
    pipe = subprocess.run(
        ["bash", "-c", f"{table} <(cat {shlex.quote(str(journal))})"], capture_output=True, text=True, timeout=120
    )
    assert pipe.returncode == 2
    assert "this is a FIFO, but a journal is a regular file; save its output to a file first" in pipe.stderr
    with open(journal, "rb") as file:
        redirected = subprocess.run([*table.split(), "/dev/stdin"], stdin=file, capture_output=True, text=True)
    assert redirected.returncode == 0
    assert "Rank" in redirected.stdout


# Lines that say what cannot be


def _ending(lines: list[Line]) -> list[Line]:
    lines[2]["result"]["ending"] = "tired"
    return lines


def _winner(lines: list[Line]) -> list[Line]:
    lines[2]["result"]["winner"] = 7
    return lines


def _first(lines: list[Line]) -> list[Line]:
    lines[2]["first"] = 7
    return lines


def _version(lines: list[Line]) -> list[Line]:
    lines[2]["v"] = 2
    return lines


def _version_unlike_ours(lines: list[Line]) -> list[Line]:
    """A version that has other fields cannot be decoded, but says its number."""
    lines[2] = {"type": "round", "v": 2, "name": "1.1-2.2", "who": ["a", "b"]}
    return lines


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_ending, "tired"),
        (_winner, "7"),
        (_version, "the line has version 2 of the journal format, but this arena reads version 1"),
        (_version_unlike_ours, "the line has version 2 of the journal format, but this arena reads version 1"),
    ],
)
def test_a_line_that_cannot_be_is_told_with_its_place_and_not_counted(
    change: Change, words: str, lines: list[Line], journal: Path, tmp_path: Path
) -> None:
    write(journal, change(lines))
    for command, arguments in readers(journal, tmp_path).items():
        result = arena(*arguments)
        assert isinstance(result.exception, SystemExit | None), command
        assert f"{journal}:3: " in result.output, command
        assert words in result.output, command
    assert fold([journal])[0].rounds == verify_journals([journal]).rounds == len(rounds_in(journal)[0]) == 3
    meetings = Meetings(journal)
    matches = list(meetings.matches("a", list(meetings.rounds_of("a"))))
    assert sum(len(match.rounds) for _, match in matches) == 3


@pytest.mark.parametrize("change", [_ending, _winner, _first, _version, _version_unlike_ours])
def test_no_tournament_goes_on_from_a_line_that_cannot_be(change: Change, lines: list[Line], journal: Path) -> None:
    before = write(journal, change(lines)[:-1]).read_bytes()
    result = run(journal)
    assert result.exit_code == 2
    assert f"{journal}:3: " in result.output
    assert "mend or remove the line to resume" in result.output
    assert journal.read_bytes() == before


def test_an_opening_line_of_another_version_takes_its_rounds_with_it(lines: list[Line], journal: Path) -> None:
    lines[0]["v"] = 2
    write(journal, lines)
    standings, problems = fold([journal])
    assert standings.rounds == 0
    version = "the line has version 2 of the journal format, but this arena reads version 1"
    assert problems == [f"{journal}:1: {version}; the rounds of its tournament are left out"]
    assert run(journal).exit_code == 2


# Types of line that a later version may write


def test_lines_of_unknown_types_are_skipped_and_counted_by_every_reader(
    lines: list[Line], journal: Path, tmp_path: Path
) -> None:
    opening, *rounds = lines
    strangers: list[Line] = [
        {"type": "amendment", "v": 3, "round": "1.1-2.1"},
        {"type": "identity", "bots": {"a": "sha256:00"}},
    ]
    write(journal, [strangers[1], opening, *rounds[:2], *strangers, *rounds[2:]])
    what = f"{journal}: 3 lines of types that this version does not know were skipped (amendment, identity)"
    for command, arguments in readers(journal, tmp_path).items():
        result = arena(*arguments)
        assert result.exit_code == 0, (command, result.output)
        if command != "replay one":
            assert what in result.output, command
    write(journal, [opening, *rounds[:2], *strangers])
    went_on = run(journal)
    assert went_on.exit_code == 0
    assert f"{journal}: 2 lines of types that this version does not know were skipped" in went_on.output
    assert fold([journal])[0].rounds == 4


@pytest.mark.parametrize("head", [b"{}", b'{"type":7}', b'{"type":null}', b'{"type":["round"]}', b"[]", b'"round"'])
def test_a_line_without_a_type_is_damaged(head: bytes, played: bytes, journal: Path) -> None:
    journal.write_bytes(played + head + b"\n")
    assert fold([journal])[1][0].startswith(f"{journal}:6: this is not a line of a journal")
    assert run(journal).exit_code == 2


def test_unknown_types_reach_the_terminal_made_fit_for_it(lines: list[Line], journal: Path) -> None:
    names = ["\x1b[2J", "x" * 500, *(f"type{number}" for number in range(50))]
    write(journal, [*lines, *({"type": name} for name in names)])
    (told,) = fold([journal])[1]
    assert told.isprintable()
    assert len(told) < len(str(journal)) + 200
    assert "52 lines" in told


# The reader itself


def test_a_line_longer_than_any_journal_writes_is_not_read_into_memory(played: bytes, journal: Path) -> None:
    journal.write_bytes(b"x" * 20_000_000 + b"\n" + played)
    entries = list(read(journal, TournamentLine | VoidLine))
    assert "the line is longer than" in entries[0].problem
    assert isinstance(entries[1].line, TournamentLine)
    assert entries[1].start == 20_000_001


def test_the_reader_counts_tournaments_of_several_files(lines: list[Line], tmp_path: Path) -> None:
    opening, *rounds = lines
    other = opening | {"started": "later"}
    one = write(tmp_path / "1", [opening, *rounds[:2]])
    two = write(tmp_path / "2", [*rounds[2:], other, *rounds])
    reader = JournalReader(RoundName)
    assert len([*reader.read(one), *reader.read(two)]) == 10
    assert reader.tournaments == 2
    assert [str(problem) for problem in verify_journals([one, two]).problems] == []
