"""Reports without a browser: what is written where, and what they say of damage."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena.cli.replay_command import replay
from arena.cli.report_command import report
from arena.journal.lines import VoidLine, encoded
from arena.stats.report_data import gather
from tests.helpers.journals import HOSTILE, NAMES, numbered_round, opening, rounds, write


def ran(*words: str | Path, command: Any = report) -> Result:
    """Without evaluation, which takes long, unless the test is about it."""
    more = ["--evaluate", "0"] if command is report and "--evaluate" not in words else []
    return CliRunner().invoke(command, [*map(str, words), *more])


def chunk(path: Path) -> Any:
    """What a file of rounds hands over."""
    found = re.fullmatch(r"arenaLoaded\((.*)\);\n", path.read_text(), re.DOTALL)
    assert found
    return json.loads(found[1])


# What is written


def test_a_report_holds_every_round_in_small_files(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 45)
    done = ran(journal)
    folder = tmp_path / "cup.report"
    assert done.stdout == f"45 rounds, all with their replay. Open {folder / 'index.html'} in a browser.\n"
    assert sorted(path.name for path in (folder / "rounds").iterdir()) == ["0.js", "1.js", "2.js", "list.js"]
    embedded = [each for number in range(3) for each in chunk(folder / "rounds" / f"{number}.js")]
    assert [each["number"] for each in embedded] == list(range(1, 46))
    for each, line in zip(embedded, rounds(45), strict=True):
        assert (each["id"], tuple(each["bots"]), each["ending"]) == (line.id, line.bots, line.result.ending)
        assert [step["move"] for step in each["steps"] if "move" in step] == [text for _, text, _ in line.moves]
    assert len(chunk(folder / "rounds" / "list.js")["rounds"]) == 45
    assert "A sample" not in (folder / "index.html").read_text()


@pytest.mark.parametrize(("text", "count"), [("0", 0), ("2", 2), ("all", 4)])
def test_as_many_rounds_are_evaluated_as_wanted(tmp_path: Path, text: str, count: int) -> None:
    journal = write(tmp_path / "cup.jsonl", 4)
    assert ran(journal, "--evaluate", text).exit_code == 0
    evaluated = [each for each in chunk(tmp_path / "cup.report" / "rounds" / "0.js") if "evaluation" in each]
    assert len(evaluated) == count
    for each in evaluated:
        evaluation = each["evaluation"]
        assert evaluation["by"] == "the bundled counting bot"
        assert [len(curve) for curve in (evaluation["both"], *evaluation["own"])] == [len(each["steps"]) + 1] * 3
        assert evaluation["both"][-1] == {0: 1000, 1: 0, None: 500}[each["winner"]]


def test_a_round_that_cannot_be_replayed_does_not_shift_the_evaluations(tmp_path: Path) -> None:
    good = list(rounds(3))
    lines = [encoded(opening(NAMES, 3)), *map(encoded, good)]
    lines[2] = lines[2].replace(b'"play ', b'"play play ', 1)
    journal = tmp_path / "cup.jsonl"
    journal.write_bytes(b"".join(lines))
    done = ran(journal, "--evaluate", "all")
    assert "this round cannot be replayed" in done.stderr
    found = chunk(tmp_path / "cup.report" / "rounds" / "0.js")
    assert [each["number"] for each in found] == [1, 3]
    assert [len(each["evaluation"]["both"]) for each in found] == [len(each["steps"]) + 1 for each in found]


def test_a_sample_is_said_to_be_one(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 60)
    done = ran(journal, "-o", tmp_path / "out", "--rounds", "12")
    assert "60 rounds, 12 of them with their replay" in done.stdout
    text = (tmp_path / "out" / "index.html").read_text()
    assert "A sample: 12 of 60 rounds" in text
    assert "<code>arena replay cup.jsonl ROUND</code>" in text
    assert len(chunk(tmp_path / "out" / "rounds" / "list.js")["rounds"]) == 12


def test_a_report_is_written_anew_and_what_is_left_over_goes(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 60)
    assert ran(journal, "-o", tmp_path / "out").exit_code == 0
    (tmp_path / "out" / "notes.txt").write_text("mine")
    assert ran(journal, "-o", tmp_path / "out", "--rounds", "5").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out" / "rounds").iterdir()) == ["0.js", "list.js"]
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def _whole(folder: Path) -> bool:
    """No file ends in its middle, and none is left that was not finished."""
    pages = [path for path in folder.rglob("*") if path.is_file()]
    ends = {".html": "</html>\n", ".js": ");\n"}
    return all(path.suffix in ends and path.read_text().endswith(ends[path.suffix]) for path in pages)


def _written(journal: Path, folder: Path, limit: str = "unlimited") -> subprocess.CompletedProcess[str]:
    command = shlex.join([sys.executable, "-m", "arena", "report", str(journal), "-o", str(folder), "--evaluate", "0"])
    return subprocess.run(["bash", "-c", f"ulimit -f {limit}; exec {command}"], capture_output=True, text=True)


@pytest.mark.parametrize(("limit", "file"), [("8", "replay.html"), ("120", "rounds/0.js")])
def test_a_file_that_cannot_be_written_is_named_and_no_half_page_is_left(limit: str, file: str, tmp_path: Path) -> None:
    journal, folder = write(tmp_path / "cup.jsonl", 40), tmp_path / "pages"
    full = _written(journal, folder, limit)  # `limit` is kilobytes of a file
    assert full.returncode == 3
    assert full.stderr == f"arena: File too large: {folder / file}\n"
    assert _whole(folder)
    assert _written(journal, folder).returncode == 0
    assert (folder / "index.html").is_file()
    assert _whole(folder)


@pytest.mark.extended
def test_a_full_disk_leaves_the_report_that_was_there(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no disk of our own can be mounted here")
    try:
        small, large = write(tmp_path / "small.jsonl", 10), write(tmp_path / "large.jsonl", 200)
        assert _written(small, disk / "pages").returncode == 0
        index = (disk / "pages" / "index.html").read_bytes()
        full = _written(large, disk / "pages")
        assert full.returncode == 3
        assert re.fullmatch(rf"arena: No space left on device: {disk}/pages/rounds/\d+.js\n", full.stderr)
        assert (disk / "pages" / "index.html").read_bytes() == index
        assert _whole(disk / "pages")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_page_of_one_round_goes_to_a_pipe_as_well(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 2)
    words = [sys.executable, "-m", "arena", "replay", str(journal), "1.1", "--html", "/dev/stdout"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "</html>" in done.stdout
    assert Path("/dev/stdout").is_symlink()


def test_a_folder_that_is_no_report_is_left_alone(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 4)
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "index.html").write_text("<h1>my page</h1>")
    done = ran(journal, "-o", precious)
    assert done.exit_code == 1
    assert "contains something other than a report; choose another, or empty it" in done.stderr
    assert [path.name for path in precious.iterdir()] == ["index.html"]
    (tmp_path / "empty").mkdir()
    assert ran(journal, "-o", tmp_path / "empty").exit_code == 0


@pytest.mark.parametrize("text", ["many", "-3", "1.5", ""])
def test_a_number_of_rounds_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    done = ran(write(tmp_path / "cup.jsonl", 2), "--rounds", text)
    assert done.exit_code == 2
    assert f"{text!r}, but expected a number such as 2000, or all" in done.stderr


class Elements(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_nothing_that_a_bot_chose_is_markup(tmp_path: Path) -> None:
    names = (HOSTILE, '"><img src=x>', "a&amp;b", "plain")
    journal = write(tmp_path / "cup.jsonl", 40, names)
    assert ran(journal, "-o", tmp_path / "out").exit_code == 0
    assert ran(journal, "1.1", "--html", tmp_path / "round.html", command=replay).exit_code == 0
    for path, scripts in ((tmp_path / "out" / "index.html", 1), (tmp_path / "round.html", 2)):
        found = Elements(path.read_text())
        assert found.tags.count("script") == scripts
        assert "img" not in found.tags
        assert {HOSTILE, '"><img src=x>'} <= {text.strip() for text in found.texts} or path.name == "round.html"
    for path in (tmp_path / "out" / "rounds").iterdir():
        assert not re.search(r"[<>&\u2028\u2029]", path.read_text())


def test_pages_allow_nothing_but_themselves(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 4)
    ran(journal, "-o", tmp_path / "out")
    ran(journal, "1.1", "--html", tmp_path / "round.html", command=replay)
    for path in (tmp_path / "out" / "index.html", tmp_path / "out" / "replay.html", tmp_path / "round.html"):
        text = path.read_text()
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert policy
        assert "default-src &#x27;none&#x27;" in policy[1]
        assert "unsafe" not in policy[1]
        assert ("self" in policy[1]) is (path.name != "round.html")
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_commands_and_environments_of_bots_are_not_shown(tmp_path: Path) -> None:
    ran(write(tmp_path / "cup.jsonl", 6), "-o", tmp_path / "out")
    for path in (tmp_path / "out").rglob("*.*"):
        assert "TOKEN" not in path.read_text()
        assert "./bot" not in path.read_text()


def test_the_page_has_settings_voids_and_all_sections(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 30)
    void = VoidLine(id="9.9", match="9", round=1, bots=("greedy", "random"), reason="the host was late", started="now")
    with open(journal, "ab") as file:
        file.write(encoded(void))
    ran(journal, "-o", tmp_path / "out")
    text = (tmp_path / "out" / "index.html").read_text()
    names = ["standings", "cross", "course", "surprises", "endings", "beginning", "thinking", "rounds", "reading"]
    assert re.findall(r'<section id="(\w+)"', text) == [*names, "settings", "voids"]
    for words in ("the host was late", "Evening cup", "1 s for a move", "tactics", "2026-01-31"):
        assert words in text


# Damage


def damaged(path: Path, lines: Sequence[bytes]) -> Path:
    path.write_bytes(b"".join(lines))
    return path


def test_damaged_lines_are_told_and_sound_rounds_are_shown(tmp_path: Path) -> None:
    lines = [encoded(opening(NAMES, 2)), *(encoded(each) for each in rounds(8))]
    unfair = numbered_round(8, ("greedy", "random"))
    cheat = encoded(unfair).replace(b'"moves":[[', b'"moves":[[%d,"claim 1",3],[' % unfair.first, 1)
    journal = damaged(tmp_path / "cup.jsonl", [*lines[:3], b"{broken\n", *lines[3:], cheat, lines[1][:50]])
    done = ran(journal, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert [problem.rpartition("cup.jsonl:")[2].partition(":")[0] for problem in done.stderr.splitlines()] == [
        "4",
        "12",
        "11",
    ]
    assert "this round cannot be replayed" in done.stderr
    assert "9 rounds, 8 of them with their replay" in done.stdout
    assert len(chunk(tmp_path / "out" / "rounds" / "list.js")["rounds"]) == 8
    assert "3 lines of the journal could not be used" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ": the journal is empty: nothing was played yet"),
        (b"hello\nworld\n", ": this is not a journal, but a text; expected .*"),
        (b'{"type":"tour', ":1: the line is torn: .*; there is nothing to report"),
    ],
)
def test_a_file_without_a_round_is_no_report(tmp_path: Path, content: bytes, words: str) -> None:
    journal = damaged(tmp_path / "cup.jsonl", [content])
    done = ran(journal, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert re.fullmatch(rf"Error: {journal}{words}\n", done.stderr)
    assert not (tmp_path / "out").exists()


def test_what_a_damaged_line_says_reaches_the_terminal_made_fit_for_it(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 4)
    journal.write_bytes(journal.read_bytes() + b'{"type":"\\u001b[2J"}\n')
    problems = gather([journal]).problems
    assert len(problems) == 1
    assert problems[0].isprintable()


def test_a_surprise_without_a_replay_has_no_link(tmp_path: Path) -> None:
    ran(write(tmp_path / "cup.jsonl", 300), "-o", tmp_path / "out", "--rounds", "3")
    page = (tmp_path / "out" / "index.html").read_text()
    numbers = {number for number, *_ in chunk(tmp_path / "out" / "rounds" / "list.js")["rounds"]}
    assert {int(number) for number in re.findall(r"replay\.html#round=(\d+)", page)} == numbers
    assert len(re.findall(r">round [\d.]+<", page)) > 3
