"""The folder of a bot: which one it is, and what is in it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from arena.plan.bot_spec import BotSpec, has_interpreter, is_crowded

_CACHES: Final = ("__pycache__", ".git")
_NUMBER: Final = re.compile(r"\.\d+$")  # the secret of an earlier tournament is called cup.secret.1
_MOST_FILES: Final = 20_000  # of a bot's folder; with more it is not the folder of one bot


class FolderError(Exception):
    """A folder cannot be compared or sent; the text says why."""


def folder_of(spec: BotSpec) -> Path | None:
    """The folder that holds the bot: its `dir`, or that of its program or script; only a file if that folder holds more
    than one bot. None if the bot is bundled or belongs to the system."""
    cwd = spec.cwd or Path()
    if spec.sandbox.own_dir:
        return Path(os.path.abspath(cwd))
    if spec.is_bundled:
        return None
    for word in spec.command:
        path = Path(os.path.abspath(cwd / word))
        named = "/" in word or word != spec.command[0]
        if named and path.exists() and not path.is_relative_to("/usr") and not _is_run_by(spec, word):
            whole = path if path.is_dir() else path.parent
            return path if is_crowded(whole) else whole
    return None


def _is_run_by(spec: BotSpec, word: str) -> bool:
    return word == spec.command[0] and has_interpreter(spec.command)


@attrs.frozen
class Entry:
    """Something in a folder: a file, a folder with nothing in it, or a link."""

    path: Path
    target: Path | None = None  # of a link: relative if it is in the same folder, absolute if it is elsewhere


def entries_of(folder: Path, ignored: frozenset[str] = frozenset()) -> Iterator[Entry]:
    """What is in a folder, in a fixed order, without caches and what has a name in `ignored`; `folder` itself, if it is
    a file. A link to a file elsewhere counts as that file. Raises FolderError if there are too many."""
    if folder.is_file():
        yield Entry(folder)
        return
    root, count = folder.resolve(), 0
    for place, folders, names in os.walk(folder):
        files = [name for name in names if _NUMBER.sub("", name) not in ignored]
        inner = [name for name in folders if name not in _CACHES and name not in ignored]
        links = [name for name in inner if Path(place, name).is_symlink()]
        has_only_caches = not inner and any(name in _CACHES for name in folders)
        folders[:] = sorted(set(inner) - set(links))
        entries = [entry for name in sorted(files + links) if (entry := _entry(Path(place, name), root, ignored))]
        if not entries and not folders and not has_only_caches and Path(place) != folder:
            entries = [Entry(Path(place))]
        count += len(entries)
        if count > _MOST_FILES:
            raise FolderError(f"{folder} has more than {_MOST_FILES:,} files; give the bot a folder of its own")
        yield from entries


def _entry(path: Path, root: Path, ignored: frozenset[str]) -> Entry | None:
    """A file or a link; None if it is something else, or leads nowhere or to what does not count."""
    if not path.is_symlink():
        return Entry(path) if path.is_file() else None
    target = path.resolve()
    if not target.is_relative_to(root):
        return Entry(path) if target.is_file() else Entry(path, target) if target.is_dir() else None
    inside = target.relative_to(root)
    if not target.exists() or any(part in _CACHES or part in ignored for part in inside.parts):
        return None
    return Entry(path, inside)
