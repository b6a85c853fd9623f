"""What people stumble over in their first hour, and what they read then."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.plan.config import ConfigError
from arena.plan.server_config import read_server_file
from arena.stats.columns import COLUMNS
from tests.helpers.commands import arena
from tests.helpers.journals import write
from tests.helpers.processes import bad_command
from tests.helpers.tournaments import steady


def test_the_help_of_table_names_every_column() -> None:
    named = arena("table", "--help").output.partition("Columns:")[2].partition("\n\n")[0]
    assert [name.strip() for name in " ".join(named.split()).split(",")] == [column.header for column in COLUMNS]


@pytest.fixture
def withdrawn(tmp_path: Path) -> Path:
    """The journal of a match that one bot had to forfeit."""
    journal = tmp_path / "cup.jsonl"
    bad = f"bad={bad_command('crash')}"
    done = arena("play", bad, steady("good"), "--rounds", "4", "--max-faults", "1", "--journal", journal)
    assert done.exit_code == 0, done.output
    return journal


def test_only_a_table_tells_of_an_option_of_tables(withdrawn: Path, tmp_path: Path) -> None:
    advice = "`arena table --no-faults` leaves out rounds that ended by a fault or were forfeited."
    assert advice in arena("table", withdrawn).output
    assert "--no-faults" not in arena("table", withdrawn, "--no-faults").output
    assert arena("report", withdrawn, "-o", tmp_path / "report").exit_code == 0
    page = (tmp_path / "report" / "index.html").read_text()
    assert "Rounds forfeited by bots that were withdrawn: bad (3)." in page
    assert "--no-faults" not in page


def test_one_of_a_thing_is_not_called_many(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 1, ("a", "b"))
    assert "1 round, with its replay. Open " in arena("report", journal).output
    last = [line for line in arena("verify", journal).output.splitlines() if line.startswith("1 round of 1 tournament")]
    assert re.fullmatch(r"1 round of 1 tournament, 0 void: (1 problem|\d+ problems|all in order.*)", last[0])
    journal.write_bytes(journal.read_bytes() + b"{}\n")
    assert "1 line cannot be used" in arena("replay", journal, "9.9").output


def test_an_open_server_says_when_a_resumed_tournament_begins(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text("")
    with pytest.raises(ConfigError, match=r"say when to begin, .*; to resume a tournament, --begin all waits"):
        read_server_file(tmp_path / "cup.toml", {"open": "true", "listen": "127.0.0.1:0"})


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["table", "JOURNAL", "--columns", "Rank,Nmae"], "did you mean Name?"),
        (["table", "JOURNAL", "--anchor", "gredy=1500"], "did you mean greedy?"),
        (["replay", "JOURNAL", "--bot", "gredy"], "did you mean greedy?"),
        (["replay", "JOURNAL", "--rules", "tactic"], "did you mean tactics?"),
        (["regress", "JOURNAL", "random", "--as", "gredy"], "did you mean greedy?"),
        (["new-bot", "pyhton", "mybot"], "did you mean python?"),
        (["connect", "127.0.0.1:1", "--", "gredy"], "did you mean greedy?"),
        (["check", "gredy"], "did you mean greedy?"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_one_that_was_meant(tmp_path: Path, words: list[str], hint: str) -> None:
    journal = str(write(tmp_path / "cup.jsonl", 4, ("greedy", "random")))
    done = arena(*(journal if word == "JOURNAL" else word for word in words))
    assert done.exit_code in (1, 2)
    assert hint in done.output


@pytest.mark.parametrize("words", [["table"], ["verify"], ["replay"], ["report"], ["regress"]])
def test_a_tournament_file_is_not_taken_for_its_journal(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "cup.toml").write_text("rounds = 4\n")
    done = arena(*words, tmp_path / "cup.toml", *(["greedy"] if words == ["regress"] else []))
    assert done.exit_code == 2
    assert f"cup.toml is a tournament file; its journal is {tmp_path / 'cup.jsonl'}" in done.output


def test_a_round_that_a_bot_did_not_play_comes_with_the_command_that_lists_them(tmp_path: Path) -> None:
    journal = write(tmp_path / "cup.jsonl", 4, ("greedy", "random"))
    done = arena("regress", journal, "greedy", "--round", "9")
    assert f"; arena replay {journal} --bot greedy lists the 4 it has" in done.output


def test_an_unknown_host_is_reported_without_an_error_number() -> None:
    done = arena("watch", "no-such-host.invalid:4000")
    assert done.exit_code == 1
    assert re.match(r"Error: cannot connect to no-such-host.invalid:4000: [A-Z][a-z]+ ", done.output)


def test_a_server_with_nothing_left_to_play_says_so(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text('rounds = 2\n[[bot]]\ncmd = "greedy"\n[[bot]]\ncmd = "random"\n')
    command = [sys.executable, "-m", "arena", "serve", "cup.toml", "--listen", "127.0.0.1:0"]
    first, second = (
        subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60) for _ in range(2)
    )
    assert "Finished round 2" in first.stderr
    assert re.fullmatch(r"[\d-]{10} [\d:]{8} 2 of 2 rounds are in the journal already: .*\n", second.stderr)
    assert second.stdout == first.stdout


def test_a_crash_in_a_round_shows_what_the_bot_wrote(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "arena", "play", f"bad={bad_command('crash')}", steady("good"), "--rounds", "1"]
    done = subprocess.run([*command, "--journal", "m.jsonl"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "  round 1.1-2.1: it ended (exit status 3); on stderr: I am leaving; see " in done.stdout


def test_a_command_without_quotes_is_shown_with_them() -> None:
    done = arena("check", "python3", "mybot/mybot.py")
    assert done.exit_code == 2
    assert "A bot is one argument: put its command in quotes, such as 'python3 mybot/mybot.py'" in done.output


def test_a_folder_and_a_script_without_its_interpreter_are_named(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("print()")
    for bot, hint in ((tmp_path, "folder"), (tmp_path / "bot.py", f"such as python3 {tmp_path / 'bot.py'}")):
        assert hint in arena("check", bot).output
        assert hint in arena("play", bot, "greedy").output


def test_a_text_that_is_no_journal_at_all_gets_one_line(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("hello\n" * 50)
    done = arena("table", notes)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"Error: {notes}: this is not a journal, but a text; expected ")


def test_a_match_without_decisions_cannot_be_compared(tmp_path: Path) -> None:
    journal = tmp_path / "cup.jsonl"
    arena("play", steady("a"), "broken=false", "--rounds", "2", "--journal", journal)
    done = arena("regress", journal, steady("a"))
    assert done.exit_code == 2
    assert done.stderr == "Error: there is no decision of a in these rounds to compare\n"


def test_the_old_name_of_a_command_says_the_new_one() -> None:
    assert "No such command 'again'; it is called rerun now" in arena("again", "cup.faults").output
