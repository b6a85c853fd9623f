"""What a machine of a cluster is like, as far as a tournament depends on it: its arena, and its bots."""

import hashlib
import os
import platform
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import attrs
import msgspec

import arena
from arena.bots.sandbox_check import SandboxError, settled
from arena.plan.bot_spec import BotSpec, missing_program
from arena.support import compilation
from arena.support.text import printable
from arena.support.version import VERSION
from arena.worker.away import localized, portable
from arena.worker.job import Away

_PACKAGES: Final = ("arena", "engine", "protocol", "example_bots")  # ours, whose sources are compared
PEERS: Final = ("distributed", "dask", "msgpack", "cloudpickle")  # what Dask needs to be the same everywhere
_IGNORED: Final = ("__pycache__", ".git")
HOST_VARIABLE: Final = "ARENA_HOST"  # names a machine whose own name means nothing, such as a container
_DIGITS: Final = 32  # of a digest
_NUMBER: Final = re.compile(r"\.\d+$")  # the secret of an earlier tournament is called cup.secret.1
_FEW_FILES: Final = 500
_MOST_FILES: Final = 20_000  # of a bot's folder; with more it is not the folder of one bot
_CROWDED: Final = ("/", "/tmp", "/var/tmp", "/etc", "/home", "/root", "/usr", "/opt")  # never the folder of one bot


@attrs.frozen
class Asked:
    """What a machine is asked about. `run` changes from run to run: answers are kept for the same question."""

    run: str
    bots: tuple[BotSpec, ...]  # as `portable` and `without_values` make them
    away: Away = attrs.field(eq=False)
    ignored: frozenset[str] = frozenset()  # names of files and folders that belong to no bot


class BotFacts(msgspec.Struct, frozen=True):
    """A bot as a machine has it."""

    missing: str | None = None  # why its program cannot be started
    folder: str = ""
    digest: str = ""  # of its folder; empty if there is none
    files: dict[str, str] = {}  # their digests by name, if they are not too many; to say which one differs
    problem: str | None = None  # why the folder cannot be compared


class Facts(msgspec.Struct, frozen=True):
    host: str
    arena: str  # its version
    sources: str  # their digest
    kind: str  # pure or compiled
    python: str
    packages: dict[str, str]
    bots: dict[str, BotFacts]
    sandbox: str | None = None  # why the sandboxes that were asked for cannot be had

    def packed(self) -> bytes:
        return msgspec.json.encode(self)


def unpacked(data: bytes) -> Facts:
    return msgspec.json.decode(data, type=Facts)


def asked_about(run: str, bots: Sequence[BotSpec], away: Away, ignored: frozenset[str] = frozenset()) -> Asked:
    """The question about these bots. It has no values of their environments, which may be secrets, except for PATH."""
    return Asked(run, tuple(map(_without_values, map(portable, bots))), away, ignored)


def _without_values(spec: BotSpec) -> BotSpec:
    return attrs.evolve(spec, env=tuple((name, value if name == "PATH" else "") for name, value in spec.env))


@lru_cache(maxsize=8)
def facts_of(asked: Asked) -> Facts:
    """The facts about this machine. They are found out once for each run."""
    bots = [localized(bot, asked.away) for bot in asked.bots]
    found = {bot.name: _bot_facts(bot, asked.ignored) for bot in bots}
    return Facts(
        host=os.environ.get(HOST_VARIABLE) or platform.node(),
        arena=VERSION,
        sources=_sources(),
        kind=compilation.kind(),
        python=".".join(platform.python_version_tuple()[:2]),
        packages={name: installed(name) for name in PEERS},
        bots=found,
        sandbox=None if any(each.missing for each in found.values()) else _sandbox_problem(bots),
    )


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _sandbox_problem(bots: Sequence[BotSpec]) -> str | None:
    try:
        settled(bots)
    except SandboxError as error:
        return str(error)
    return None


def _sources() -> str:
    """The digest of all sources of the arena, which says more than its version."""
    root, total = Path(arena.__file__).parents[1], hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            total.update(f"{path.relative_to(root)}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:_DIGITS]


def _bot_facts(spec: BotSpec, ignored: frozenset[str]) -> BotFacts:
    if missing := missing_program(spec):
        return BotFacts(missing=missing)
    if (folder := folder_of(spec)) is None:
        return BotFacts()
    try:
        files = _digests(folder, ignored)
        return BotFacts(folder=str(folder), digest=_digest(files), files=files if len(files) <= _FEW_FILES else {})
    except (OSError, FolderError) as error:
        return BotFacts(folder=str(folder), problem=str(error))


class FolderError(Exception):
    """A folder cannot be compared or sent; the text says why."""


def folder_of(spec: BotSpec) -> Path | None:
    """The folder that holds the bot: its `dir`, or that of its program or script; only a file if that folder holds more
    than one bot. None if the bot is bundled or belongs to the system."""
    cwd = spec.cwd or Path()
    if spec.sandbox.folder is not None:
        return Path(os.path.abspath(cwd))
    if spec.is_bundled:
        return None
    for word in spec.command:
        path = Path(os.path.abspath(cwd / word))
        named = "/" in word or word != spec.command[0]
        if named and path.exists() and not path.is_relative_to("/usr") and not _is_interpreter(spec, word):
            whole = path if path.is_dir() else path.parent
            return path if str(whole) in _CROWDED or whole == Path.home() else whole
    return None


def _is_interpreter(spec: BotSpec, word: str) -> bool:
    """Whether the first word of the command only runs what a later one names, as the python of a venv does."""
    if word != spec.command[0] or len(spec.command) == 1:
        return False
    return Path(word).name.startswith(("python", "node", "java", "ruby", "perl", "deno", "bash", "sh"))


def _digests(folder: Path, ignored: frozenset[str]) -> dict[str, str]:
    """The digest of each file in a folder: what is in it, and whether it can be run. Raises OSError, and FolderError if
    there are too many."""
    found = {}
    for path in files_in(folder, ignored):
        with open(path, "rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        is_program = "x" if os.access(path, os.X_OK) else "-"
        found[printable(str(path.relative_to(folder)))] = f"{is_program}{content[:_DIGITS]}"
    return found


def _digest(files: dict[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(files)).hexdigest()[:_DIGITS]


def files_in(folder: Path, ignored: frozenset[str] = frozenset()) -> Iterator[Path]:
    """The regular files in a folder, in a fixed order, without caches and what has a name in `ignored`; `folder`
    itself, if it is a file. Raises FolderError if there are too many."""
    if folder.is_file():
        yield folder
        return
    count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _IGNORED and name not in ignored)
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and _NUMBER.sub("", name) not in ignored:
                count += 1
                if count > _MOST_FILES:
                    raise FolderError(f"{folder} has more than {_MOST_FILES:,} files; give the bot a folder of its own")
                yield path
