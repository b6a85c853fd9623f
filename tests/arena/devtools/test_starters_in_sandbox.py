"""The starters of all languages pass the check in a sandbox, and play there, also for an ordinary user."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from arena.devtools.starters import LANGUAGES, new_bot
from tests.helpers.sandboxes import (
    IS_ROOT,
    PYTHON,
    SANDBOX_MARKS,
    TIMEOUT,
    ordinary_environment,
    ordinary_python,
    reachable_folder,
)

pytestmark = SANDBOX_MARKS
PATH = "/usr/local/bin:/usr/bin:/bin"  # of this machine, not of a user


@pytest.fixture
def folder() -> Iterator[Path]:
    with reachable_folder() as found:
        yield found


def built(language: str, folder: Path) -> str:
    """The command of a starter that was built in this folder."""
    bot = new_bot(language, "mybot")
    program = bot.run.split()[0]
    if not shutil.which(bot.needs) or ("/" not in program and not shutil.which(program, path=PATH)):
        pytest.skip(f"no {bot.needs} on this machine, or not for all users")
    for file, text in bot.files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    if bot.build:
        subprocess.run(bot.build.split(), cwd=folder, check=True, timeout=TIMEOUT)
    return bot.run


def starters() -> Iterator[tuple[list[str], Mapping[str, str]]]:
    """Who starts the bots: whoever runs the tests, and an ordinary user."""
    if IS_ROOT:
        yield [sys.executable], os.environ | {"PATH": PATH}
    yield ordinary_python(), ordinary_environment(PATH=PATH)


def output_of(words: list[str], cwd: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_starter_passes_the_check_in_a_sandbox(language: str, folder: Path) -> None:
    command = built(language, folder)
    words = [sys.executable, "-m", "arena", "check", command, "--rounds", "2", "--sandbox"]
    assert f"{command}: fit to play" in output_of(words, folder, os.environ | {"PATH": PATH})


@pytest.mark.parametrize(("one", "two"), [("python", "c"), ("javascript", "bash")])
def test_bots_in_two_languages_play_in_sandboxes(one: str, two: str, folder: Path) -> None:
    bots = []
    for language in (one, two):
        *runner, file = built(language, folder / language).split()
        bots.append(f"{language}={' '.join([*runner, str(folder / language / file)])}")
    for python, environment in starters():
        words = [*python, "-m", "arena", "play", "--sandbox", *bots, "--rounds", "2"]
        said = output_of(words, folder, environment)
        assert f"Points of {one} vs {two}: " in said
        assert "did not start" not in said
        assert "All bots that the arena started were in a sandbox." in said


def test_a_bot_by_the_sdk_plays_against_a_bundled_one(folder: Path) -> None:
    """The bundled bot is run by the interpreter of the arena, so the arena's user has to be able to reach that."""
    command = built("python", folder / "mybot").replace("python3", PYTHON)
    words = [*ordinary_python(), "-m", "arena", "play", command, "greedy", "--sandbox", "--rounds", "2"]
    said = output_of(words, folder / "mybot", ordinary_environment())
    assert "Points of mybot vs greedy: " in said
    assert "All bots that the arena started were in a sandbox." in said
