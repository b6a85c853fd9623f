"""`arena new-bot`: writes a bot to start from, in many languages. The bot and its files are named after their folder.

In Python it is a bot with the SDK beside it. In the other languages it is an example bot, which needs no library. It
plays at random; in some languages there is also a bot with a strategy and with tests of its own.
"""

import enum
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Final

import attrs

from arena.devtools.agents_file import AGENTS, agents_file
from arena.devtools.ci_files import TEST, WORKFLOW, github_files, sequential_test
from arena.devtools.sdk_copy import PACKAGE, sdk_files
from arena.plan.bot_spec import name_from
from arena.support.suggestion import did_you_mean
from arena.support.version import installed_from
from protocol.names import NAME_RULE, name_problem


class StarterError(Exception):
    """The starter does not exist, or cannot be written where the caller wants it."""


class Strategy(enum.Enum):
    """How a new bot plays until its author changes it."""

    RANDOM = "random"
    GREEDY = "greedy"


def _example(file: str) -> str:
    return (resources.files("example_bots") / file).read_text(encoding="utf-8")


@attrs.frozen
class Starter:
    """An example bot that is copied under another name."""

    file: str
    run: str
    needs: str  # the program that builds or runs it
    build: str | None = None
    tests: str | None = None  # another file to copy
    run_tests: str | None = None

    def text(self) -> str:
        return _example(self.file)


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
_GREEDY_STARTERS: Final = {
    "javascript": Starter(
        "greedy_starter.js",
        "node greedy_starter.js",
        "node",
        tests="greedy_starter.test.js",
        run_tests="node --test",
    ),
}

_ABOUT: Final = """{name}, a bot for Schotten Totten. It plays a random legal move, until you change choose().

Try it:  {check}
         {play}
"""
_ABOUT_GREEDY: Final = """{name}, a bot for Schotten Totten.

Try it:   {check}
          {play}
Test it:  {run_tests}

It has a simple strategy: claim what can be proven, and build strong formations.

"""
_GREEDY_TITLE: Final = (
    "A bot for Schotten Totten with a simple strategy: claim what can be proven, and build strong formations.\n\n"
)
_PYTHON_BOT: Final = '''\
"""{about}"""

import random

from {package} import Request, run


def choose(request: Request) -> str:
    """Return one of request.legal. The cards are in request.state; `arena spec` explains everything."""
    return random.choice(request.legal)


if __name__ == "__main__":
    run(choose, name="{name}")
'''


@attrs.frozen
class NewBot:
    """What is written into an author's folder, and how it is built and run there."""

    files: Mapping[str, str]  # text by path; the first is the file for the author to change
    run: str
    needs: str
    build: str | None = None
    run_tests: str | None = None
    name: str | None = None  # if the command would give the bot another one

    @property
    def check(self) -> str:
        return f'arena check "{self.run}"'

    @property
    def play(self) -> str:
        name = f"{self.name}=" if self.name else ""
        return f'arena play {name}"{self.run}" greedy'


def new_bot(language: str, name: str, strategy: Strategy = Strategy.RANDOM) -> NewBot:
    """The starter in `language` for a bot called `name`. Raises StarterError if there is none, or the name is bad."""
    if language not in LANGUAGES:
        known = ", ".join(LANGUAGES) + did_you_mean(language, LANGUAGES)
        raise StarterError(f"there is no starter in {language!r}; there are: {known}")
    if language == "python":
        return _python_bot(name, strategy)
    starters = STARTERS if strategy is Strategy.RANDOM else _GREEDY_STARTERS
    if language not in starters:
        known = ", ".join(("python", *starters))
        raise StarterError(f"there is no {strategy.value} starter in {language!r}, only in: {known}")
    _check_name(name, plain=True)
    starter = starters[language]
    texts = {starter.file: starter.text()} | ({starter.tests: _example(starter.tests)} if starter.tests else {})
    stem = name.replace("-", "_") if language == "java" else name  # there it is the name of a class
    if language == "java" and re.search(rf"\b{stem}\b", re.sub("//.*", "", starter.text())):
        raise StarterError(
            f"the bot is named after its folder, but {stem!r} is a word of {language} that the bot uses; "
            "choose another name for the folder"
        )
    files = {_named(file, name, stem): _named(text, name, stem) for file, text in texts.items()}
    build = starter.build and _named(starter.build, name, stem)
    run = _named(starter.run, name, stem)
    other_name = name if name_from(shlex.split(run)) != name else None
    return NewBot(files, run, starter.needs, build, starter.run_tests, other_name)


# What the examples call themselves in their hello, and how their files, programs and classes are called.
_NAMES: Final = re.compile(r"\b(?:random|greedy)-(?:js|c|cpp|java|rust|go|bash)\b")
_STEMS: Final = re.compile(r"\b(?:random_bot(?:_[a-z]+)?|RandomBot|greedy_starter)\b")


def _named(text: str, name: str, stem: str) -> str:
    return _STEMS.sub(stem, _NAMES.sub(name, text))


def _check_name(name: str, *, plain: bool = False) -> None:
    """Raise StarterError if a bot cannot have that name; `plain`: or a file in any language and on any system."""
    problem, rule = name_problem(name), NAME_RULE
    if plain and not problem and not re.fullmatch("[A-Za-z][A-Za-z0-9_-]*", name):
        problem, rule = "files are named after it, too", "letters, digits, _ and -, and begins with a letter"
    if problem:
        raise StarterError(
            f"the bot is named after its folder, but {name!r} cannot be the name of a bot: {problem}; a name is {rule}"
        )


def _python_bot(name: str, strategy: Strategy) -> NewBot:
    """The starter in Python. Raises StarterError if a bot, or its module, cannot have that name."""
    _check_name(name)
    if name in (PACKAGE, "test_bot") or name in sys.stdlib_module_names:
        raise StarterError(
            f"the bot is named after its folder, but {name}.py would hide the module {name!r} that the bot imports; "
            "choose another name for the folder"
        )
    bot = NewBot({}, shlex.join(("python3", f"{name}.py")), "python3")
    match strategy:
        case Strategy.RANDOM:
            text = _PYTHON_BOT.format(about=_about(_ABOUT, name, bot), package=PACKAGE, name=name)
            return attrs.evolve(bot, files={f"{name}.py": text} | sdk_files())
        case Strategy.GREEDY:
            bot = attrs.evolve(bot, run_tests="python3 -m unittest")
            return attrs.evolve(bot, files=_greedy_files(name, bot) | sdk_files())


def _about(text: str, name: str, bot: NewBot) -> str:
    """`text` for the docstring of a bot."""
    return text.format(name=name, check=bot.check, play=bot.play, run_tests=bot.run_tests)


def _greedy_files(name: str, bot: NewBot) -> dict[str, str]:
    """The example bot with a strategy and its tests, for a bot of this name with its own copy of the SDK."""
    replaced = {
        _GREEDY_TITLE: _about(_ABOUT_GREEDY, name, bot),
        "from protocol.bot_runner import": f"from {PACKAGE} import",
        "from protocol.messages import": f"from {PACKAGE}.messages import",
        '"greedy-starter"': f'"{name}"',
        '"example_bots.greedy_starter"': f'"{name}"',
    }
    texts = {f"{name}.py": _example("greedy_starter.py"), "test_bot.py": _example("greedy_starter_test.py")}
    for file, text in texts.items():
        for old, new in replaced.items():
            text = text.replace(old, new)
        texts[file] = text
    return texts


class Ci(enum.Enum):
    """A service that runs the checks of a bot whenever its author pushes a change."""

    GITHUB = "github"


def create(language: str, folder: Path, strategy: Strategy = Strategy.RANDOM, ci: Ci | None = None) -> str:
    """Writes the starter into the folder, which must be new or empty. Returns what to do next. Raises StarterError."""
    name = folder.resolve().name
    bot = new_bot(language, name, strategy)
    more = sequential_test(bot.files, bot.run)
    if ci is Ci.GITHUB:
        more |= github_files(bot.check, bot.build, bot.run_tests, installed_from() or "")
    more[AGENTS] = agents_file(name, next(iter(bot.files)), bot.build, bot.run_tests, bot.check, bot.play)
    bot = attrs.evolve(bot, files={**bot.files, **more})
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
    has_sdk = any(file.startswith(f"{PACKAGE}/") for file in bot.files)
    sdk = f", with the SDK that it needs in {folder / PACKAGE}" if has_sdk else ""
    lines = [f"Created {folder / first}{sdk}. Next:", f"  cd {shlex.quote(str(folder))}"]
    if bot.build:
        lines.append(f"  {bot.build}")
    if bot.run_tests:
        lines.append(f"  {bot.run_tests}")
    lines += [f"  {bot.check}", f"  {bot.play}"]
    if WORKFLOW in bot.files:
        lines.append(f"GitHub will run {folder / WORKFLOW}; {folder / TEST} says how much better a change has to be.")
        if not installed_from():
            lines.append(f"Before that, set ARENA in {folder / WORKFLOW}: what pip installs the arena from.")
    if not shutil.which(bot.needs):
        lines.append(f"It needs {bot.needs}, which is not on this machine.")
    return lines
