"""The folder of a bot: which one it is, and what is in it."""

import os
import re
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

import attrs

from arena.journal.file import kind_of_file
from arena.plan.bot_spec import BotSpec, has_interpreter, is_crowded
from arena.support.text import printable

_CACHES: Final = ("__pycache__", ".git")
_NUMBER: Final = re.compile(r"\.\d+$")  # the secret of an earlier tournament is called cup.secret.1
_MOST_FILES: Final = 20_000  # of a bot's folder; with more it is not the folder of one bot
_DEEPEST: Final = 100  # folders in folders: each takes a descriptor, and a level of Python's stack


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
class FolderEntry:
    """Something in a folder: a file, a folder with nothing in it, a link, or something else."""

    path: Path
    mode: int  # of itself, as os.lstat tells it
    target: Path | None = None  # of a link: relative if it is in the same folder, absolute if it is elsewhere
    place: int | None = None  # a descriptor of the folder that holds it, open until the next entry is asked for

    def opened(self) -> BufferedReader:
        """The file, for reading. The bot may change its folder meanwhile, with fewer rights than the reader has: so no
        link is followed, neither here nor on the way, and nothing blocks. Raises FolderError if it is not a file."""
        if not stat.S_ISREG(self.mode):
            raise self._error(f"this is {kind_of_file(self.mode)}, and only files can be sent; remove it")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = os.open(self.path if self.place is None else self.path.name, flags, dir_fd=self.place)
        except OSError as error:
            raise self._error(f"this cannot be read ({error.strerror})") from None
        if stat.S_ISREG(os.fstat(file).st_mode):
            return os.fdopen(file, "rb")
        os.close(file)
        raise self._error("this changed while it was read")

    def _error(self, problem: str) -> FolderError:
        return FolderError(printable(f"{self.path}: {problem}"))


def entries_of(folder: Path, ignored: frozenset[str] = frozenset()) -> Iterator[FolderEntry]:
    """What is in a folder, in a fixed order, without caches and what has a name in `ignored`; `folder` itself, if it is
    a file. Raises FolderError if there are too many or too deep, and OSError."""
    if not folder.is_dir():
        target = Path(os.path.realpath(folder)) if folder.is_symlink() else None
        yield FolderEntry(folder, os.lstat(folder).st_mode, target)
        return
    root, count = os.path.realpath(folder), 0
    for inner, folders, names, place in os.fwalk(root):
        here = folder / os.path.relpath(inner, root)
        if len(here.parts) > len(folder.parts) + _DEEPEST:
            raise FolderError(f"{folder} has more than {_DEEPEST} folders in each other; give the bot simpler ones")
        wanted = [name for name in folders if name not in _CACHES and name not in ignored]
        has_only_caches = not wanted and any(name in _CACHES for name in folders)
        wanted += [name for name in names if _NUMBER.sub("", name) not in ignored]
        modes = {name: os.stat(name, dir_fd=place, follow_symlinks=False).st_mode for name in sorted(wanted)}
        # The walk goes on into these folders, but not into links to folders, which are entries.
        folders[:] = [name for name, mode in modes.items() if stat.S_ISDIR(mode)]
        found = [_entry(here / name, mode, Path(root), ignored, place) for name, mode in modes.items()]
        entries = [entry for entry in found if entry is not None]
        # A folder is listed only if it is empty; else what is in it shows that it is there.
        if not entries and not folders and not has_only_caches and here != folder:
            entries = [FolderEntry(here, os.fstat(place).st_mode)]
        count += len(entries)
        if count > _MOST_FILES:
            raise FolderError(f"{folder} has more than {_MOST_FILES:,} files; give the bot a folder of its own")
        yield from entries


def _entry(path: Path, mode: int, root: Path, ignored: frozenset[str], place: int) -> FolderEntry | None:
    """What is not a folder; None if it is one, or a link inside that leads nowhere or to what does not count."""
    if not stat.S_ISLNK(mode):
        return None if stat.S_ISDIR(mode) else FolderEntry(path, mode, place=place)
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(root):
        return FolderEntry(path, mode, target)
    inside = target.relative_to(root)
    if not target.exists() or any(part in _CACHES or part in ignored for part in inside.parts):
        return None
    return FolderEntry(path, mode, inside)
