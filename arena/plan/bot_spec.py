"""How the arena knows a bot, wherever it comes from: a program that it starts, one that connects, a person, or a Python
function. Also the bundled bots."""

import glob
import importlib.util
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol, Self

import attrs
from msgspec import Struct

from arena.plan.option_rows import FROM_ROW, with_rows
from arena.plan.options import PROGRAM
from arena.plan.options import Restart as Restart
from arena.plan.sandbox import VARIABLES, Level, Sandbox
from arena.plan.time_control import TimeLimits
from arena.support.suggestion import did_you_mean


class BotError(Exception):
    """A text or a record does not describe a bot that can be started."""


class AnySpec(Protocol):
    """A bot as the organiser describes it. Callers ask what they need to know, not of which kind it is."""

    @property
    def name(self) -> str: ...

    @property
    def limits(self) -> TimeLimits: ...

    @property
    def restart(self) -> Restart: ...

    @property
    def program(self) -> "BotSpec | None":
        """What the arena starts, in a worker process if no other player prevents it; None if the bot comes otherwise.
        Only what the arena starts can be at fault for not being there."""

    @property
    def may_be_away(self) -> bool:
        """Whether the bot comes and goes as it likes, so that matches wait for it, and begin without it in the end."""

    @property
    def connects(self) -> bool:
        """Whether the journal says that the bot connected, and knows nothing of it but its clock."""

    @property
    def token_hash(self) -> str | None:
        """The hash of the token that proves who connects; None if no token does."""

    def named(self, name: str) -> Self:
        """The same bot under another name."""


@attrs.frozen(field_transformer=with_rows(PROGRAM))
class BotSpec:
    name: str
    command: tuple[str, ...]
    cwd: Path | None = FROM_ROW
    env: tuple[tuple[str, str], ...] = FROM_ROW
    limits: TimeLimits = attrs.field(factory=TimeLimits)
    restart: Restart = FROM_ROW
    memory: int | None = FROM_ROW  # bytes
    cpu_seconds: int | None = FROM_ROW
    inherit_env: bool = FROM_ROW
    processes: int = FROM_ROW  # at once
    sandbox: Sandbox = attrs.field(factory=Sandbox)
    # Patterns of the files that belong to it; None: what lies beside a script.
    fingerprint: tuple[str, ...] | None = FROM_ROW

    may_be_away = False
    connects = False
    token_hash = None

    @property
    def program(self) -> "BotSpec":
        return self

    def named(self, name: str) -> Self:
        return attrs.evolve(self, name=name)

    @property
    def is_sandboxed(self) -> bool:
        return self.sandbox.level is Level.FULL

    @property
    def is_bundled(self) -> bool:
        return self.bundled is not None

    @property
    def bundled(self) -> "OwnBot | None":
        """The bundled bot that this is."""
        return next((own for own in BUNDLED_BOTS.values() if self.command[: len(own.command)] == own.command), None)

    def environment(self) -> dict[str, str]:
        """The environment of the bot's process: a small part of our own, which may contain secrets, and `env`."""
        if self.is_sandboxed:
            passed = dict(VARIABLES)
        elif self.inherit_env:
            passed = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
        else:
            passed = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
        if self.is_bundled:
            passed["PYTHONPATH"] = _path_of_bundled_bots(self.is_sandboxed)
        return passed | dict(self.env)


@attrs.frozen
class RemoteSpec:
    """A bot that connects from outside. The hash of its token is kept here, and never in the journal."""

    name: str
    token_hash: str | None = attrs.field(default=None, repr=False)  # None: an open server admitted it under a free name
    limits: TimeLimits = attrs.field(factory=TimeLimits)
    restart: Restart = attrs.field(default=Restart.NEVER, init=False)  # its author starts it, not the arena

    program = None
    may_be_away = True
    connects = True

    def named(self, name: str) -> Self:
        return attrs.evolve(self, name=name)


@attrs.frozen
class PersonSpec:
    """The person at this terminal."""

    name: str
    limits: TimeLimits
    restart: Restart = attrs.field(default=Restart.NEVER, init=False)

    program = None
    may_be_away = False  # but a match waits until they have seen how the last round ended
    connects = True  # on a connection that does not leave the process
    token_hash = None

    def named(self, name: str) -> Self:
        return attrs.evolve(self, name=name)


@attrs.frozen
class FunctionSpec:
    """A Python function in this process, which takes a request and returns a move. It has no clock: nobody could stop
    it."""

    name: str
    choose: Callable[[Any], Any] = attrs.field(repr=False)
    limits: TimeLimits = attrs.field(default=TimeLimits(move_ms=None, start_ms=None), init=False)
    restart: Restart = attrs.field(default=Restart.NEVER, init=False)

    program = None
    may_be_away = False
    connects = False
    token_hash = None

    def named(self, name: str) -> Self:
        return attrs.evolve(self, name=name)


class OwnBot(Struct, frozen=True):
    module: str
    summary: str

    @property
    def command(self) -> tuple[str, ...]:
        return (sys.executable, "-P", "-m", self.module)  # -P: load nothing from the folder in which it plays


BUNDLED_BOTS: Final = {
    "random": OwnBot("example_bots.random_bot", "any legal move"),
    "greedy": OwnBot("example_bots.greedy", "takes what it can prove, builds the strongest formations"),
    "counting": OwnBot("example_bots.counting", "estimates each stone from the cards that are still unseen"),
}


HUMAN: Final = "human"  # instead of a bot: the person at this terminal, in the commands that can ask one

# The variables of our own environment that every bot gets.
PASSED_VARIABLES: Final = ("PATH", "HOME", "LANG", "TMPDIR")
TOKEN_VARIABLE: Final = "ARENA_TOKEN"  # the user's own token: a bot does not get it unless its `env` names it


_CROWDED: Final = ("/", "/tmp", "/var/tmp", "/etc", "/home", "/root", "/opt")
_INTERPRETER: Final = re.compile(r"(python|node|java|ruby|perl|deno|php|lua|bash|sh|env|nice|taskset|timeout)[\d.]*")
_PACKAGES_OF_BUNDLED_BOTS: Final = ("example_bots", "engine", "protocol", "attr", "attrs", "msgspec")


def packages_of_bundled_bots() -> list[Path]:
    """The folders of all packages that the bundled bots import, except for Python's own."""
    found = [importlib.util.find_spec(name) for name in _PACKAGES_OF_BUNDLED_BOTS]
    return [Path(place) for spec in found if spec for place in spec.submodule_search_locations or ()]


@cache
def sources_of_bundled_bot(module: str) -> tuple[Path, ...]:
    """The file of a bundled bot's module, and those of the modules beside it that it imports."""
    folder = packages_of_bundled_bots()[0]
    found: dict[str, Path] = {}
    names = [module.rpartition(".")[2]]
    while names:
        if (name := names.pop()) not in found:
            found[name] = folder / f"{name}.py"
            text = found[name].read_text(encoding="utf-8")
            names += re.findall(rf"^(?:from|import) {folder.name}\.(\w+)", text, re.MULTILINE)
    return tuple(found[name] for name in sorted(found))


def _path_of_bundled_bots(sandboxed: bool) -> str:
    """PYTHONPATH, with which Python finds the bundled bots from any folder, even if they are not installed. In a
    sandbox it also finds what they import, which may be installed in the user's home."""
    folders = dict.fromkeys(str(package.parent) for package in packages_of_bundled_bots())
    more = [] if sandboxed else [*filter(None, [os.environ.get("PYTHONPATH")])]
    return os.pathsep.join([*(folders if sandboxed else [*folders][:1]), *more])


def command_of(words: Sequence[str]) -> tuple[str, ...]:
    """The command in these words, the first of which may be the name of a bundled bot."""
    first, *more = words
    return (*(BUNDLED_BOTS[first].command if first in BUNDLED_BOTS else (first,)), *more)


def not_a_person(where: str, words: Sequence[str]) -> str:
    """Why a person cannot play instead of the bot that `where` names by these words."""
    hint = "without any arguments" if len(words) > 1 else "not here"
    return f"{where}: {HUMAN} plays in `arena play` and `arena connect`, {hint}"


def split_name(text: str) -> tuple[str, str]:
    """Split name=command. The name is empty if the text is only a command."""
    name, equals, command = text.partition("=")
    named = bool(equals) and name.strip() != "" and not set(name) & set(" /'\"")
    return (name, command) if named else ("", text)


def parse_bot(text: str) -> BotSpec:
    """Parse a BOT argument: the name of a bundled bot, a command, or name=command. Raises BotError."""
    name, command = split_name(text)
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BotError(f"{command!r} is not a command line: {error}") from None
    if not words:
        raise BotError(
            f"{text!r} does not name a command; write a command, name=command or one of {', '.join(BUNDLED_BOTS)}"
        )
    if words[0] == HUMAN:
        raise BotError(not_a_person(text, words))
    own = words[0] in BUNDLED_BOTS
    return BotSpec(name or (words[0] if own else name_from(words)), command_of(words))


def missing_part(spec: BotSpec) -> str | None:
    """Why the bot cannot be started: its folder, its program or its script is missing; None if all are there."""
    return missing_program(spec) or _missing_script(spec)


def missing_program(spec: BotSpec) -> str | None:
    """Why the bot's program cannot be started; None if its folder and it exist and it is executable."""
    if spec.cwd is not None and not spec.cwd.is_dir():
        return f"there is no folder {str(spec.cwd)!r}"
    program = spec.command[0]
    if "/" in program:
        path = (spec.cwd or Path()) / program
        if path.is_file():
            return None if os.access(path, os.X_OK) else _not_executable(program)
    elif shutil.which(program, path=dict(spec.env).get("PATH")):
        return None
    path = (spec.cwd or Path()) / program
    if path.is_dir():
        return f"{program!r} is a folder; name the program in it"
    here = " (there is a file of this name here: put ./ before it, or name its interpreter)"
    return f"there is no program {program!r}{here if path.is_file() else did_you_mean(program, BUNDLED_BOTS)}"


def has_interpreter(command: Sequence[str]) -> bool:
    """Whether the first word of a command only runs what a later one names, as the python of a venv does."""
    return len(command) > 1 and _INTERPRETER.fullmatch(Path(command[0]).name) is not None


def is_crowded(folder: Path) -> bool:
    """Whether a folder is never that of one bot: it is the user's home, or belongs to the system or to all users."""
    return str(folder) in _CROWDED or folder.is_relative_to("/usr") or folder == Path(os.path.expanduser("~"))


def matching(pattern: str, folder: Path) -> list[Path]:
    """The files that a pattern of the option `fingerprint` matches in a bot's folder."""
    paths = (folder / name for name in sorted(glob.glob(pattern, root_dir=folder, recursive=True)))
    return [path for path in paths if path.is_file()]


# Interpreters that run the file which their first word names. bash looks for it on the PATH, too.
_INTERPRETERS: Final = re.compile(r"(?P<python>(?:python|pypy)[\d.]*)|(?P<node>node)|bash|sh|ruby|perl|lua|php")
_FLAGS_OF_PYTHON: Final = re.compile("-[bBdEiIOPqsSuvx]+")  # those that take no value
_FILES_OF_NODE: Final = (".js", ".mjs", ".cjs", ".ts")  # without one of these endings, node adds it to the name


def _missing_script(spec: BotSpec) -> str | None:
    """Why an interpreter finds no script; None if it is there, or if the command does not plainly name one."""
    program, *words = spec.command
    if (interpreter := _INTERPRETERS.fullmatch(Path(program).name)) is None:
        return None
    script = next((word for word in words if not (interpreter["python"] and _FLAGS_OF_PYTHON.fullmatch(word))), "-")
    if script.startswith("-") or (interpreter["node"] and not script.endswith(_FILES_OF_NODE)):
        return None
    if os.path.exists((spec.cwd or Path()) / script):
        return None
    if "/" not in script and shutil.which(script, os.F_OK, dict(spec.env).get("PATH")):
        return None
    return f"there is no file {script!r}" + (f" in {spec.cwd}" if spec.cwd and not os.path.isabs(script) else "")


def _not_executable(program: str) -> str:
    return f"{program!r} is there, but it is not executable; put its interpreter first, such as python3 {program}"


def name_from(words: list[str]) -> str:
    """The name that a command gives its bot: that of the program, or of the script that an interpreter runs."""
    scripts = [word for word in words[1:] if not word.startswith("-") and Path(word).suffix]
    program = Path(words[0]).name
    runs_scripts = program.startswith(("python", "node", "bash", "sh", "java", "ruby", "perl", "deno"))
    return Path(scripts[0]).stem if scripts and runs_scripts else Path(program).stem or program
