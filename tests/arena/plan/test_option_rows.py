"""A setting is one row: a copy of the arena gets two more rows, and nothing else of it knows them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.commands import arena
from tests.helpers.paths import ROOT

ROWS = {
    "TOURNAMENT": 'Option("weather", read.text, "What falls.", default="rain", recorded=True, label="Weather"),',
    "PROGRAM": 'Option("mood", read.whole_number(1), "How cheerful.", "N", 3, recorded=True, label="Mood"),',
}
BOTS = '[[bot]]\ncmd = "greedy"\n{}\n[[bot]]\ncmd = "random"\n'
PLAIN = "rounds = 2\nseed = 7\n{}\n" + BOTS

# Runs commands in one interpreter, which takes a second, and prints what each printed.
COMMANDS = """
import json, sys
from click.testing import CliRunner
from arena.cli.main import main
done = [CliRunner().invoke(main, words) for words in json.load(sys.stdin)]
print(json.dumps([(each.exit_code, each.output) for each in done]))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the two rows."""
    folder = tmp_path_factory.mktemp("copy")
    for package in ("arena", "engine", "protocol", "example_bots"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("*.so"))
    path = folder / "arena" / "plan" / "options.py"
    text = path.read_text()
    for table, row in ROWS.items():
        head = f"\n{table}: Final = (\n"
        assert text.count(head) == 1
        text = text.replace(head, f"{head}    {row}\n")
    path.write_text(text)
    return folder


def in_copy(copy: Path, folder: Path, *commands: list[str]) -> list[tuple[int, str]]:
    """The exit status and the output of each command."""
    environment = os.environ | {"PYTHONPATH": str(copy), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        cwd=folder,
        env=environment,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=True,
    )
    return [(status, output) for status, output in json.loads(done.stdout)]


def opening(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text().splitlines()[0])["config"]
    return found


def test_a_new_setting_is_one_row(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(PLAIN.format('weather = "hail"', "mood = 5"))
    (tmp_path / "bad.toml").write_text(PLAIN.format("", "mood = 0"))
    spoken, again, changed, wrong, help_text, by_words, _ = in_copy(
        copy,
        tmp_path,
        ["run", "cup.toml"],
        ["run", "cup.toml"],
        ["run", "cup.toml", "--weather", "snow", "--mood", "1"],
        ["run", "bad.toml"],
        ["run", "--help"],
        ["run", "greedy", "random", "--rounds", "2", "--weather", "fog", "--mood", "2", "--journal", "words.jsonl"],
        ["report", "cup.jsonl", "--rounds", "1", "--evaluate", "0"],
    )
    # in the file, on the command line and in the opening line, where it is left out if it has its default
    assert (spoken[0], again[0], by_words[0]) == (0, 0, 0), spoken[1]
    config = opening(tmp_path / "cup.jsonl")
    assert (config["weather"], [bot.get("mood") for bot in config["bots"]]) == ("hail", [5, None])
    config = opening(tmp_path / "words.jsonl")
    assert (config["weather"], [bot["mood"] for bot in config["bots"]]) == ("fog", [2, 2])
    # in the difference that a resume names, and in messages
    assert changed[0] == 2
    assert '  the journal has weather = "hail", now it is "snow"\n' in changed[1]
    assert "  bot greedy: the journal has mood = 5, now it is 1\n" in changed[1]
    assert "  bot random: the journal has mood = 3, now it is 1\n" in changed[1]
    assert wrong == (2, "Error: bad.toml:6: mood = 0, but expected a whole number, 1 or more\n")
    # in the help and in the report
    assert [line.split() for line in help_text[1].splitlines() if "--weather" in line or "--mood" in line] == [
        ["--weather", "TEXT", "What", "falls.", "[rain]"],
        ["--mood", "N", "How", "cheerful.", "[3]"],
    ]
    page = (tmp_path / "cup.report" / "index.html").read_text()
    assert "<dt>Weather</dt><dd>hail</dd>" in page
    assert '<th scope="col" class="number">Mood</th>' in page
    assert '<td class="number">5</td>' in page


def test_a_journal_from_before_a_setting_resumes_with_its_default(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(PLAIN.format("", ""))
    assert arena("run", tmp_path / "cup.toml").exit_code == 0
    before = (tmp_path / "cup.jsonl").read_bytes()
    same, other = in_copy(copy, tmp_path, ["run", "cup.toml"], ["run", "cup.toml", "--weather", "fog"])
    assert same[0] == 0
    assert other[0] == 2
    assert 'the journal has weather = "rain", now it is "fog"' in other[1]
    assert (tmp_path / "cup.jsonl").read_bytes() == before
