"""The AGENTS.md of a new bot: short, true, and every command in it runs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click import Context

from arena.cli.main import main
from arena.devtools.agents_file import EXIT_STATUSES
from arena.devtools.starters import LANGUAGES, Strategy, create, new_bot
from engine.scoring import WIN_POINTS
from tests.docs.documents import README
from tests.docs.test_commands import environment
from tests.helpers.commands import arena

TIMEOUT = 600  # seconds; a busy machine
ALL = [(language, Strategy.RANDOM) for language in LANGUAGES] + [
    (language, Strategy.GREEDY) for language in ("python", "javascript")
]


def written(language: str, folder: Path, strategy: Strategy = Strategy.RANDOM) -> str:
    create(language, folder, strategy)
    return (folder / "AGENTS.md").read_text()


@pytest.mark.parametrize(("language", "strategy"), ALL)
def test_it_has_at_most_sixty_lines_and_names_what_there_is(language: str, strategy: Strategy, tmp_path: Path) -> None:
    text = written(language, tmp_path / "mybot", strategy)
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= 120
    named = set(re.findall(r"\barena ([a-z-]+)", text))
    assert {"check", "sprt", "replay", "play", "rerun", "spec"} <= named <= set(main.list_commands(Context(main)))
    assert re.search(r"\{[a-z]+\}", text) is None
    assert f"`{next(iter(new_bot(language, 'mybot', strategy).files))}` is the bot" in text
    assert (tmp_path / "mybot" / "sprt.toml").is_file()


def test_exit_statuses_are_those_that_the_commands_and_the_readme_say(tmp_path: Path) -> None:
    text = " ".join(written("python", tmp_path / "mybot").split())
    for command, words in EXIT_STATUSES.items():
        assert f"The exit status is {words}" in " ".join(arena(command, "--help").output.split())
        assert f"* `arena {command}`: {words}." in text
    said = "2 and one sentence if it cannot use what it was given"
    assert f"Every command: {said}" in text
    assert f"with {said}" in " ".join(README.text.split())


def test_the_points_are_those_of_the_rules(tmp_path: Path) -> None:
    assert f"any five: {WIN_POINTS} points" in written("python", tmp_path / "mybot")


def run(command: str, folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, cwd=folder, env=variables, capture_output=True, text=True, timeout=TIMEOUT
    )


def commands_of(text: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return "".join(blocks).splitlines()


@pytest.mark.extended
@pytest.mark.parametrize("language", LANGUAGES)
def test_its_commands_run_one_after_the_other(language: str, tmp_path: Path) -> None:
    """The bot is not changed, so the test of the change has nothing to test."""
    bot, folder = new_bot(language, "mybot"), tmp_path / "mybot"
    if not shutil.which(bot.needs):
        pytest.skip(f"no {bot.needs} on this machine")
    commands, variables = commands_of(written(language, folder)), environment(tmp_path)
    for command in commands:
        done = run(command, folder, variables)
        expected = 3 if command == "arena sprt sprt.toml" else 0
        assert done.returncode == expected, f"{command}\n{done.stdout}{done.stderr}"
    assert "nothing to test" in run("arena sprt sprt.toml", folder, variables).stdout
    assert "mybot" in done.stdout  # the mistakes of the bot


@pytest.mark.extended
def test_a_change_for_the_better_passes_and_a_fault_is_where_it_says(tmp_path: Path) -> None:
    folder, variables = tmp_path / "mybot", environment(tmp_path)
    text = written("python", folder)
    keep, check, test, play, *_ = commands_of(text)
    assert run(keep, folder, variables).returncode == 0
    better = new_bot("python", "mybot", Strategy.GREEDY)
    (folder / "mybot.py").write_text(better.files["mybot.py"])
    assert run(check, folder, variables).returncode == 0
    assert run(test, folder, variables).returncode == 0
    (folder / "mybot.py").write_text("import sys; sys.exit('broken')")
    assert run(check, folder, variables).returncode == 1
    run(play, folder, variables)
    assert os.listdir(folder / "games.stderr")
    fault = sorted((folder / "games.faults").glob("*-mybot"))[0]
    assert run(f"arena rerun {fault} --yes", folder, variables).returncode == 0
    assert (fault / "position.txt").is_file()
