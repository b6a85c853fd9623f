"""What a machine of a cluster is like, as far as a tournament depends on it: its arena, and its bots."""

import hashlib
import os
import platform
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import attrs
import msgspec

import arena
from arena.cluster.folder import FolderEntry, FolderError, entries_of, folder_of
from arena.plan.bot_spec import BotSpec, has_interpreter, missing_program
from arena.processes.fingerprint import fingerprint_of
from arena.sandbox.sandbox_check import SandboxError, settled
from arena.support import compilation
from arena.support.text import printable
from arena.support.version import VERSION
from arena.worker.job import Relocation
from arena.worker.relocation import at_home, localized, portable

_PACKAGES: Final = ("arena", "engine", "protocol", "example_bots")  # ours, whose sources are compared
PEERS: Final = ("distributed", "dask", "msgpack", "cloudpickle")  # what Dask needs to be the same everywhere
HOST_VARIABLE: Final = "ARENA_HOST"  # names a machine whose own name means nothing, such as a container
_DIGITS: Final = 32  # of a digest
_FEW_FILES: Final = 500


@attrs.frozen
class MachineQuestion:
    """What a machine is asked about. `run` changes from run to run: answers are kept for the same question."""

    run: str
    bots: tuple[BotSpec, ...]  # as `portable` and `without_values` make them
    relocation: Relocation = attrs.field(eq=False)
    ignored: frozenset[str] = frozenset()  # names of files and folders that belong to no bot


class BotFacts(msgspec.Struct, frozen=True):
    """A bot as a machine has it."""

    missing: str | None = None  # why its program cannot be started
    folder: str = ""
    digest: str = ""  # of its folder; empty if there is none
    files: dict[str, str] = {}  # their digests by name, if they are not too many; to say which one differs
    problem: str | None = None  # why the folder cannot be compared
    named: dict[str, str] = {}  # hashes of its program and of the files that its command names, wherever they are
    interpreter: str = ""  # the hash of what only runs the program, which may differ


class MachineFacts(msgspec.Struct, frozen=True):
    host: str
    arena: str  # its version
    sources: str  # their digest
    kind: str  # pure or compiled
    python: str
    packages: dict[str, str]
    bots: dict[str, BotFacts]
    sandbox: str | None = None  # why the sandboxes that were asked for are unavailable

    def packed(self) -> bytes:
        return msgspec.json.encode(self)


def unpacked(data: bytes) -> MachineFacts:
    return msgspec.json.decode(data, type=MachineFacts)


def asked_about(
    run: str, bots: Sequence[BotSpec], relocation: Relocation, ignored: frozenset[str] = frozenset()
) -> MachineQuestion:
    """The question about these bots. It has no values of their environments, which may be secrets, except for PATH."""
    return MachineQuestion(run, tuple(map(_without_values, map(portable, bots))), relocation, ignored)


def _without_values(spec: BotSpec) -> BotSpec:
    return attrs.evolve(spec, env=tuple((name, value if name == "PATH" else "") for name, value in spec.env))


@lru_cache(maxsize=8)
def facts_of(asked: MachineQuestion) -> MachineFacts:
    """The facts about this machine. They are found out once for each run."""
    bots = [localized(bot, asked.relocation) for bot in asked.bots]
    found = {bot.name: _bot_facts(bot, asked) for bot in asked.bots}
    return MachineFacts(
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


def _bot_facts(spec: BotSpec, asked: MachineQuestion) -> BotFacts:
    """The facts about a portable bot."""
    local = localized(spec, asked.relocation)
    if missing := missing_program(local):
        return BotFacts(missing=missing)
    if local.is_bundled:
        return BotFacts()
    named = at_home(fingerprint_of(local), spec, asked.relocation).files
    interpreter = named.pop(printable(spec.command[0]), "") if has_interpreter(spec.command) else ""
    folder = folder_of(local)
    if folder is None or not folder.exists():
        return BotFacts(named=named, interpreter=interpreter)
    try:
        files = _digests(folder, asked.ignored)
    except (OSError, FolderError) as error:
        return BotFacts(folder=str(folder), problem=str(error))
    few = files if len(files) <= _FEW_FILES else {}
    return BotFacts(folder=str(folder), digest=_digest(files), files=few, named=named, interpreter=interpreter)


def _digests(folder: Path, ignored: frozenset[str]) -> dict[str, str]:
    """The digest of each entry of a folder: of a file what is in it, and whether it can be run. A link to a file
    elsewhere counts as that file. Raises OSError, and FolderError if there are too many."""
    found = {}
    for entry in entries_of(folder, ignored):
        if entry.path.is_file() or entry.path.is_dir():
            found[printable(str(entry.path.relative_to(folder)))] = _digest_of(entry)
    return found


def _digest_of(entry: FolderEntry) -> str:
    if entry.path.is_dir():
        return "folder" if entry.target is None else f"link to {printable(str(entry.target))}"
    with open(entry.path, "rb") if entry.target else entry.opened() as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{'x' if os.access(entry.path, os.X_OK) else '-'}{content[:_DIGITS]}"


def _digest(files: dict[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(files)).hexdigest()[:_DIGITS]
