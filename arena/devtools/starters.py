"""`arena new-bot`: writes a bot to start from, in many languages.

In Python it is a bot with the SDK beside it, named after its folder. In the other languages it is the smallest example
bot, which needs no library.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Final

import attrs

from arena.devtools.sdk_copy import PACKAGE, sdk_files
from arena.support.suggestion import did_you_mean
from protocol.names import NAME_RULE, name_problem


class StarterError(Exception):
    """The starter does not exist, or cannot be written where the caller wants it."""


@attrs.frozen
class Starter:
    """An example bot that is copied as it is."""

    file: str
    run: str
    needs: str  # the program that builds or runs it
    build: str | None = None

    def text(self) -> str:
        return (resources.files("example_bots") / self.file).read_text(encoding="utf-8")


STARTERS: Final = {
    "javascript": Starter("random_bot.js", "node random_bot.js", "node"),
    "c": Starter("random_bot.c", "./random_bot_c", "cc", "cc -O2 -Wall -Wextra -o random_bot_c random_bot.c"),
    "c++": Starter(
        "random_bot.cpp",
        "./random_bot_cpp",
        "c++",
        "c++ -std=c++17 -O2 -Wall -Wextra -o random_bot_cpp random_bot.cpp",
    ),
    "java": Starter("RandomBot.java", "java -cp . RandomBot", "javac", "javac RandomBot.java"),
    "rust": Starter("random_bot.rs", "./random_bot_rust", "rustc", "rustc -O -o random_bot_rust random_bot.rs"),
    "go": Starter("random_bot.go", "./random_bot_go", "go", "go build -o random_bot_go random_bot.go"),
    "bash": Starter("random_bot.sh", "bash random_bot.sh", "bash"),
}
LANGUAGES: Final = ("python", *STARTERS)

_ABOUT: Final = """{name}, a bot for Schotten Totten. It plays a random legal move, until you change choose().

Try it:  {check}
         {play}
"""
_PYTHON_BOT: Final = '''\
"""{about}"""

import random

from {package} import Request, run


def choose(request: Request) -> str:
    """Return one of request.legal. The cards are in request.state; `arena spec` explains everything."""
    return random.choice(request.legal)


if __name__ == "__main__":
    run(choose, name={name})
'''


@attrs.frozen
class NewBot:
    """What is written into an author's folder, and how it is built and run there."""

    files: Mapping[str, str]  # text by path; the first is the file for the author to change
    run: str
    needs: str
    build: str | None = None

    @property
    def check(self) -> str:
        return f"arena check {_quoted(self.run)}"

    @property
    def play(self) -> str:
        return f"arena play {_quoted(self.run)} greedy"


def _quoted(command: str) -> str:
    return shlex.quote(command) if set(command) & set("\"'$`\\!") else f'"{command}"'


def new_bot(language: str, name: str) -> NewBot:
    """The starter in `language` for a bot called `name`. Raises StarterError if there is none, or the name is bad."""
    if language == "python":
        return _python_bot(name)
    if language not in STARTERS:
        known = ", ".join(LANGUAGES) + did_you_mean(language, LANGUAGES)
        raise StarterError(f"there is no starter in {language!r}; there are: {known}")
    starter = STARTERS[language]
    return NewBot({starter.file: starter.text()}, starter.run, starter.needs, starter.build)


def _python_bot(name: str) -> NewBot:
    """The starter in Python. Raises StarterError if a bot, or its module, cannot have that name."""
    if problem := name_problem(name):
        raise StarterError(
            f"the bot is named after its folder, but {name!r} cannot be the name of a bot: {problem}; "
            f"a name is {NAME_RULE}"
        )
    if name == PACKAGE or name in sys.stdlib_module_names:
        raise StarterError(
            f"the bot is named after its folder, but {name}.py would hide the module {name!r} that the bot imports; "
            "choose another name for the folder"
        )
    file = f"{name}.py"
    bot = NewBot({}, shlex.join(("python3", file)), "python3")
    about = _ABOUT.format(name=name, check=bot.check, play=bot.play)
    about = about.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')  # a name may contain any of them
    text = _PYTHON_BOT.format(about=about, package=PACKAGE, name=json.dumps(name, ensure_ascii=False))
    return attrs.evolve(bot, files={file: text} | sdk_files())


def create(language: str, folder: Path) -> str:
    """Writes the starter into the folder, which must be new or empty. Returns what to do next. Raises StarterError."""
    bot = new_bot(language, folder.resolve().name)
    try:
        if folder.exists() and any(folder.iterdir()):
            raise StarterError(f"{folder} is not empty; nothing was changed")
        for file, text in bot.files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StarterError(f"cannot write {error.filename or folder}: {error.strerror}") from error
    return "\n".join(_next_steps(bot, folder))


def _next_steps(bot: NewBot, folder: Path) -> list[str]:
    first = next(iter(bot.files))
    sdk = f", with the SDK that it needs in {folder / PACKAGE}" if len(bot.files) > 1 else ""
    lines = [f"Created {folder / first}{sdk}. Next:", f"  cd {shlex.quote(str(folder))}"]
    if bot.build:
        lines.append(f"  {bot.build}")
    lines += [f"  {bot.check}", f"  {bot.play}"]
    if not shutil.which(bot.needs):
        lines.append(f"It needs {bot.needs}, which is not on this machine.")
    return lines
