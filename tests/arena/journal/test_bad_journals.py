"""Journals in a bad state: every command says what is wrong and where, counts nothing twice, and never hangs."""

import contextlib
import os
import random
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from arena.cli.main import main
from arena.journal.bot_history import Meetings
from arena.journal.index import rounds_in
from arena.journal.lines import Journal, JournalError, RoundName, TournamentLine, VoidLine, encoded, read
from arena.journal.matches_over import MatchesOver
from arena.journal.reader import JournalReader
from arena.journal.verify import verify_journals
from arena.plan.config import from_command_line
from arena.stats.standings import fold
from arena.tournament.ledger import resume
from tests.helpers.paths import STEADY_BOT

Line = dict[str, Any]
Change = Callable[[list[Line]], list[Line]]


def steady(name: str) -> str:
    return f"{name}={sys.executable} {STEADY_BOT} {name}"


def arena(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def run(journal: Path) -> Result:
    bots = [steady("a"), steady("b")]
    return arena("run", *bots, "--rounds", "4", "--seed", "7", "--st", "5", "--quiet", "--journal", str(journal))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    journal = tmp_path_factory.mktemp("cup") / "cup.jsonl"
    assert run(journal).exit_code == 0
    return journal.read_bytes()


@pytest.fixture
def lines(played: bytes) -> list[Line]:
    """The opening line and four rounds."""
    return [msgspec.json.decode(raw) for raw in played.splitlines()]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "cup.jsonl"


def write(journal: Path, lines: list[Line]) -> Path:
    journal.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return journal


def readers(journal: Path, folder: Path) -> dict[str, list[str]]:
    """Every command that reads a journal and plays nothing."""
    return {
        "table": ["table", str(journal)],
        "verify": ["verify", str(journal)],
        "replay": ["replay", str(journal)],
        "replay one": ["replay", str(journal), "1.1-2.2"],
        "report": ["report", str(journal), "-o", str(folder / "report")],
        "regress": ["regress", str(journal), steady("a"), "--limit", "1"],
    }


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
    assert pipe.returncode == 1
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
    assert result.exit_code == 1
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
    assert run(journal).exit_code == 1


# Rounds of no tournament, and of another one


def test_rounds_before_the_opening_line_belong_to_no_tournament(lines: list[Line], journal: Path) -> None:
    opening, *rounds = lines
    write(journal, [*rounds[:2], opening, *rounds])
    what = f"{journal}:1: no opening line comes before this round, so it and all that follow are left out"
    standings, problems = fold([journal])
    assert standings.rounds == 4
    assert problems == [what]
    report = verify_journals([journal])
    assert [str(problem) for problem in report.problems] == [what]
    assert report.rounds == 4
    assert [each.line for each in rounds_in(journal)[0]] == [4, 5, 6, 7]
    write(journal, [*rounds[:2], opening])
    result = run(journal)
    assert result.exit_code == 1
    assert what in result.output


def _foreign_id(lines: list[Line]) -> list[Line]:
    lines[2]["id"] = "9.1-2.2"
    return lines


def _foreign_bots(lines: list[Line]) -> list[Line]:
    lines[2]["bots"] = ["a", "zoe"]
    return lines


def _foreign_rules(lines: list[Line]) -> list[Line]:
    lines[2]["rules"] = "tactics"
    return lines


def _twice(lines: list[Line]) -> list[Line]:
    lines[2] = lines[1]
    return lines


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_foreign_id, "round 9.1-2.2: it is not in the schedule of this tournament"),
        (_foreign_bots, "round 1.1-2.2: it is between a and zoe, but the schedule says a and b"),
        (_foreign_rules, "round 1.1-2.2: it was played by tactics, but the tournament by base"),
        (_twice, "round 1.1-2.1 is in the journal twice"),
    ],
)
def test_a_tournament_does_not_go_on_from_rounds_that_are_not_its_own(
    change: Change, words: str, lines: list[Line], journal: Path, tmp_path: Path
) -> None:
    before = write(journal, change(lines)[:-1]).read_bytes()
    assert f"{journal}:3: {words}; mend or remove the line to resume" in run(journal).output
    cup = tmp_path / "cup.toml"
    bots = "".join(
        f'[[bot]]\nname = "{name}"\ncmd = ["{sys.executable}", "{STEADY_BOT}", "{name}"]\n' for name in ("a", "b")
    )
    server = '[server]\nlisten = "127.0.0.1:0"\npublic-seed = true\n'
    cup.write_text(f'rounds = 4\nseed = "7"\n{server}[each]\nst = 5\n{bots}')
    served = arena("serve", str(cup), "--quiet")
    assert served.exit_code == 1
    assert f"{journal}:3: {words}; mend or remove the line to resume" in served.output
    assert journal.read_bytes() == before


def test_a_damaged_configuration_is_told_where_a_tournament_would_go_on(lines: list[Line], journal: Path) -> None:
    for key, value in (("bots", 5), ("bots", [{"name": "a"}, 7]), ("cycles", 10**18), ("seed", 5), ("rounds", "four")):
        config = lines[0]["config"] | {key: value}
        write(journal, [lines[0] | {"config": config}, *lines[1:]])
        result = run(journal)
        assert result.exit_code == 1
        assert f"{journal}:1: " in result.output
        assert "the configuration is damaged" in arena("verify", str(journal)).output


def test_a_round_that_comes_twice_counts_once(lines: list[Line], journal: Path) -> None:
    opening, *rounds = lines
    for count in (3, 4):  # while its match goes on, and when it is over
        write(journal, [opening, *rounds[:count], rounds[0]])
        standings, problems = fold([journal])
        assert standings.rounds == count
        assert len(problems) == 1
        assert "round 1.1-2.1 is in the journal twice" in problems[0]


def test_matches_that_end_in_any_order_are_known_to_be_over() -> None:
    for seed in range(20):
        over, ids = MatchesOver(), [f"{cycle}.{pair}" for cycle in range(1, 9) for pair in ("1-2", "1-3")]
        ids += ["x", "7", "8", "07.1-2", "", ".", "1.", "99999999999999.1-2"]
        random.Random(seed).shuffle(ids)
        for done, match in enumerate(ids):
            assert match not in over
            over.add(match)
            assert [each in over for each in ids] == [index <= done for index in range(len(ids))]


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
    assert run(journal).exit_code == 1


def test_unknown_types_reach_the_terminal_made_fit_for_it(lines: list[Line], journal: Path) -> None:
    names = ["\x1b[2J", "x" * 500, *(f"type{number}" for number in range(50))]
    write(journal, [*lines, *({"type": name} for name in names)])
    (told,) = fold([journal])[1]
    assert told.isprintable()
    assert len(told) < len(str(journal)) + 200
    assert "52 lines" in told


# The reader itself


def test_a_line_longer_than_any_journal_writes_is_not_read_into_memory(
    played: bytes, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.journal.lines._LONGEST", len(max(played.splitlines(keepends=True))) + 5000)
    journal.write_bytes(b"x" * 100_000 + b"\n" + played)
    entries = list(read(journal, TournamentLine | VoidLine))
    assert "the line is longer than" in entries[0].problem
    assert isinstance(entries[1].line, TournamentLine)
    assert entries[1].start == 100_001


def test_the_reader_counts_tournaments_of_several_files(lines: list[Line], tmp_path: Path) -> None:
    opening, *rounds = lines
    other = opening | {"started": "later"}
    one = write(tmp_path / "1", [opening, *rounds[:2]])
    two = write(tmp_path / "2", [*rounds[2:], other, *rounds])
    reader = JournalReader(RoundName)
    assert len([*reader.read(one), *reader.read(two)]) == 10
    assert reader.tournaments == 2
    assert [str(problem) for problem in verify_journals([one, two]).problems] == []


# Whatever is done to the lines of a journal


ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    7,
    2**70,
    1.5,
    "",
    "x",
    "\x1b[2J",
    "‮",
    [],
    [[]],
    {},
    {"a": None},
    "🦊" * 50,
    10**300,
)


def _mutated(lines: list[Line], rng: random.Random) -> bytes:
    """One to three things changed at any depth, or bytes of the file itself."""
    lines = msgspec.json.decode(msgspec.json.encode(lines))
    for _ in range(rng.randint(1, 3)):
        place: Any = lines
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], dict | list) and rng.random() < 0.8:
                place = place[key]
                continue
            match rng.randrange(4):
                case 0:
                    del place[key]
                case 1 if isinstance(place, list):
                    place.insert(rng.choice(keys), place[key])
                case _:
                    place[key] = rng.choice(ODD)
            break
    raw = bytearray(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    if rng.random() < 0.3:
        for _ in range(rng.randint(1, 4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_done_to_a_journal_no_reader_ends_in_a_traceback(
    seed: int, lines: list[Line], journal: Path, tmp_path: Path
) -> None:
    rng = random.Random(seed)
    void = VoidLine(id="1.1-2.2", match="1.1-2", round=2, bots=("a", "b"), reason="late", started="")
    broken = msgspec.to_builtins(lines[1]) | {
        "moves": [],
        "result": {"winner": 0, "ending": "crashed", "points": [5, 0], "owners": [None] * 9},
        "fault": {"seat": 1, "detail": "gone"},
    }
    config = from_command_line([steady("a"), steady("b")], (), {"rounds": "4", "seed": "7", "st": "5"})
    sound = [lines[0], broken, lines[2], msgspec.json.decode(encoded(void)), *lines[3:]]
    for _ in range(10):
        journal.write_bytes(_mutated(sound, rng))
        saved = journal.read_bytes()
        for command, arguments in readers(journal, tmp_path).items():
            if command == "regress":
                continue  # its reading is tried below: its bot would take too long
            result = arena(*arguments)
            assert isinstance(result.exception, SystemExit | None), (command, saved)
        meetings = Meetings(journal)
        for name in meetings.names:
            list(meetings.matches(name, list(meetings.rounds_of(name))))
        with Journal(journal) as writer, contextlib.suppress(JournalError):
            resume(writer, config)
