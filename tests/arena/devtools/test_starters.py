"""`arena new-bot`: what it writes can be checked and played at once, and it never destroys anything."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena.cli.main import main
from arena.devtools.starters import LANGUAGES, STARTERS, Strategy, new_bot
from tests.helpers.tournaments import essence, rounds_in

pytestmark = pytest.mark.extended

ARENA = [sys.executable, "-m", "arena"]


def create(language: str, folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["new-bot", language, str(folder), *options])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_starter_is_copied_builds_passes_the_check_and_repeats_its_rounds(language: str, tmp_path: Path) -> None:
    """In one test, because some compilers take long."""
    bot = new_bot(language, "mybot")
    if not shutil.which(bot.needs):
        pytest.skip(f"no {bot.needs} on this machine")
    folder = tmp_path / "mybot"
    made = create(language, folder)
    assert made.exit_code == 0
    assert f'arena check "{bot.run}"' in made.output
    if bot.build:
        subprocess.run(bot.build.split(), cwd=folder, check=True, timeout=120)
    words = [*ARENA, "check", bot.run, "--rounds", "10", "--move-ms", "5000"]
    checked = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    first, again = (rounds_of(bot.run, folder, name) for name in ("first.jsonl", "again.jsonl"))
    assert len(first) == 4
    assert again == first


def rounds_of(command: str, folder: Path, journal: str) -> dict[str, Any]:
    """What two of this bot played against each other, by a public seed, but for the times."""
    options = ["--rules", "tactics", "--rounds", "4", "--seed", "repeated", "--journal", journal]
    words = [*ARENA, "play", f"one={command}", f"two={command}", *options]
    subprocess.run(words, cwd=folder, capture_output=True, check=True, timeout=120)
    return essence(rounds_in(folder / journal))


def in_shell(commands: list[str], folder: Path) -> str:
    """What these commands print, typed one after the other; all must succeed."""
    define = f'arena() {{ {shlex.join(ARENA)} "$@"; }}'
    script = "\n".join(["set -e", define, *commands])
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.parametrize(("language", "ok"), [("python", "\nOK\n"), ("javascript", "# pass 5\n# fail 0\n")])
def test_a_starter_with_a_strategy_passes_its_tests_and_beats_random_in_95_of_100_rounds(
    language: str, ok: str, tmp_path: Path
) -> None:
    bot = new_bot(language, "mybot", Strategy.GREEDY)
    if not shutil.which(bot.needs):
        pytest.skip(f"no {bot.needs} on this machine")
    made = create(language, tmp_path / "mybot", "--strategy", "greedy")
    _, enter, run_tests, check, play = made.output.splitlines()
    printed = in_shell([enter, run_tests, f"{check} --rounds 4", f"{play} --rounds 2"], tmp_path)
    assert ok in printed
    assert "fit to play (18 ok)" in printed
    for rules in ("base", "tactics"):
        match = f"arena play 'mine={bot.run}' random --rounds 100 --rules {rules} --seed {rules}"
        score = next(
            line for line in in_shell([enter, match], tmp_path).splitlines()[::-1] if line.startswith("Score of ")
        )
        wins = int(score.removeprefix("Score of mine vs random: ").split(" - ")[0])
        assert wins >= 95, score


def test_a_python_starter_with_a_strategy_may_have_any_name(tmp_path: Path) -> None:
    name = "2nd-bot+x_y"
    assert create("python", tmp_path / name, "--strategy", "greedy").exit_code == 0
    run_tests = [sys.executable, "-m", "unittest"]
    done = subprocess.run(run_tests, cwd=tmp_path / name, capture_output=True, text=True, timeout=60)
    assert done.stderr.endswith("\nOK\n")
    for file in ("test_bot.py", f"{name}.py"):
        text = (tmp_path / name / file).read_text()
        assert not re.search("example_bots|protocol\\.|greedy.starter", text)


def test_a_language_without_a_strategy_names_those_with_one(tmp_path: Path) -> None:
    refused = create("c", tmp_path / "mybot", "--strategy", "greedy")
    assert refused.exit_code == 2
    assert refused.output == "Error: there is no greedy starter in 'c', only in: python, javascript\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["mybot", "2nd.bot+x_y-1"])
def test_what_new_bot_prints_can_be_typed_and_the_bot_is_named_after_its_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "it's $HOME" / name
    made = create("python", folder)
    assert made.exit_code == 0
    first, *commands = made.output.splitlines()
    assert first.startswith(f"Created {folder / name}.py")
    assert [line.split()[0] for line in commands] == ["cd", "arena", "arena"]
    printed = in_shell([commands[0], *(f"{command} --rounds 2" for command in commands[1:])], tmp_path)
    assert f"it calls itself {name!r}" in printed
    assert f"Points of {name} vs greedy: " in printed


def test_the_python_starter_needs_nothing_but_python(tmp_path: Path) -> None:
    assert create("python", tmp_path / "mybot").exit_code == 0
    words = [sys.executable, "-E", "-S", "mybot/mybot.py"]
    hello = b'{"type":"hello","protocol":1,"server":"x"}\n'
    done = subprocess.run(words, cwd=tmp_path, env={}, input=hello, capture_output=True, check=True)
    assert json.loads(done.stdout) == {"type": "hello", "protocol": 1, "name": "mybot"}
    assert done.stderr == b""


def test_the_folder_in_which_one_stands_will_do_if_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "mybot").mkdir()
    done = subprocess.run([*ARENA, "new-bot", "python", "."], cwd=tmp_path / "mybot", capture_output=True, check=True)
    assert done.stdout.startswith(b"Created mybot.py")
    assert (tmp_path / "mybot" / "mybot.py").exists()


@pytest.mark.parametrize("language", ["python", "c"])
def test_a_folder_that_is_not_empty_is_left_alone(language: str, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    there = create(language, tmp_path)
    assert there.exit_code == 2
    assert there.output == f"Error: {tmp_path} is not empty; nothing was changed\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "x" * 33,
            "cannot be the name of a bot: it has 33 characters; a name is 1 to 32 ASCII letters, digits and . _",
        ),
        ("my bot", "cannot be the name of a bot: it has ' ' at position 3"),
        ("hid\u200bden", "cannot be the name of a bot: it has '\\u200b' at position 4"),
        ("random", "random.py would hide the module 'random' that the bot imports; choose another name"),
        ("schotten_sdk", "schotten_sdk.py would hide the module 'schotten_sdk'"),
    ],
)
def test_a_folder_after_which_no_bot_can_be_named_is_refused(name: str, problem: str, tmp_path: Path) -> None:
    refused = create("python", tmp_path / name)
    assert refused.exit_code == 2
    assert refused.output.startswith("Error: the bot is named after its folder, but ")
    assert problem in refused.output
    assert refused.output.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_and_an_unknown_language_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = create("python", tmp_path / "file" / "mybot")
    assert nowhere.exit_code == 2
    assert nowhere.output == f"Error: cannot write {tmp_path / 'file' / 'mybot'}: {os.strerror(20)}\n"
    unknown = create("cobol", tmp_path / "mybot")
    assert unknown.exit_code == 2
    assert "there is no starter in 'cobol'; there are: python, javascript, c, c++" in unknown.output


@pytest.mark.parametrize("language", STARTERS)
def test_everything_in_every_language_is_named_after_the_folder(language: str) -> None:
    strategies = [Strategy.RANDOM, Strategy.GREEDY] if language == "javascript" else [Strategy.RANDOM]
    for strategy in strategies:
        bot = new_bot(language, "my-bot", strategy)
        stem = "my_bot" if language == "java" else "my-bot"
        assert {file.partition(".")[0] for file in bot.files} == {stem}
        assert all(stem in command for command in (bot.run, bot.build or bot.run))
        text = bot.files[next(iter(bot.files))]
        assert bot.run in text  # the comment at its top has the same commands
        assert (bot.build or "") in text
        assert re.search(r"""name\W+my-bot\b""", text)  # in its hello
        left = r"random[_-]?bot|greedy[_-]starter|-(js|cpp|java|rust|bash)\b"
        assert not re.search(left, " ".join([*bot.files.values(), *bot.files, bot.run, bot.build or ""]), re.IGNORECASE)


@pytest.mark.parametrize(
    ("language", "name", "problem"),
    [
        ("c", "my.bot", "a name is letters, digits, _ and -, and begins with a letter"),
        ("go", "-o", "a name is letters, digits, _ and -, and begins with a letter"),
        ("java", "String", "'String' is a word of java that the bot uses; choose another name for the folder"),
        ("java", "new", "'new' is a word of java that the bot uses; choose another name for the folder"),
    ],
)
def test_a_folder_after_which_no_file_can_be_named_is_refused(
    language: str, name: str, problem: str, tmp_path: Path
) -> None:
    refused = create(language, tmp_path / name)
    assert refused.exit_code == 2
    assert problem in refused.output
    assert not list(tmp_path.iterdir())


def test_the_header_of_the_python_starter_names_the_same_commands() -> None:
    python = new_bot("python", "mybot")
    assert all(command in python.files["mybot.py"] for command in (python.check, python.play))


def test_the_printed_command_plays_under_the_name_of_the_bot_where_its_program_has_another() -> None:
    assert new_bot("java", "mybot").play == 'arena play mybot="java -cp . mybot" greedy'
    assert new_bot("c", "mybot").play == 'arena play "./mybot" greedy'
