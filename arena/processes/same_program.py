"""Whether two bots are the same program, so that no test could tell which of them plays better.

The same fingerprint is not enough: a bot may load any file of its folder, such as weights.json, and its fingerprint has
only those that the arena can name. So the folders are compared, too. Whatever is not certain counts as a difference: a
test that is played without need costs time, one that is left out lets a worse bot pass.
"""

import os
import stat
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Final

import attrs

from arena.journal.file import is_of_a_journal
from arena.journal.identity import UNREAD, same_wherever_it_lies
from arena.plan.bot_spec import BotSpec, is_crowded
from arena.processes.fingerprint import MOST_BYTES, MOST_SEEN, content_of, fingerprint_of, mode_of, size_of, words_of
from arena.support.text import printable

_LEFT_OUT: Final = (".git", "__pycache__")  # they differ in every copy, and what matters of them is in the other files
_FOR_PEOPLE: Final = ".md"  # no bot reads such a file
COMPARED: Final = f"all files in their folders except for {', '.join(_LEFT_OUT)}, *{_FOR_PEOPLE} and journals"


class _NotComparedError(Exception):
    """Why the files of a folder are not known."""


def is_same_bot(one: BotSpec, two: BotSpec) -> bool:
    """Whether it makes no difference which of these two is started, as far as the arena can know."""
    return same_program(one, two) and difference_beside(one, two) is None


def same_program(one: BotSpec, two: BotSpec) -> bool:
    """Whether two bots have the same fingerprint, wherever they lie, and the same settings."""
    return _settings(one) == _settings(two) and same_wherever_it_lies(fingerprint_of(one), fingerprint_of(two))


def _settings(spec: BotSpec) -> BotSpec:
    """The bot without what its fingerprint knows better, and without its place."""
    return attrs.evolve(spec, name="", command=(), cwd=None, fingerprint=None)


def difference_beside(one: BotSpec, two: BotSpec) -> str | None:
    """What differs in the folders of two bots with the same fingerprint, in words; None if nothing does. Copies of the
    program make no difference, such as an earlier version that is kept beside it."""
    if one.is_bundled:
        return None  # its fingerprint has all of it
    found = fingerprint_of(one)
    itself = found.files.get(found.main)
    for ours, theirs in zip_longest(_folders(one), _folders(two)):
        if ours == theirs:
            continue
        if ours is None or theirs is None:
            return printable(f"only one of them has {ours or theirs}")
        try:
            here, there = _files_in(ours, itself), _files_in(theirs, itself)
        except _NotComparedError as error:
            return printable(f"what lies in {error}")
        for name in sorted(here.keys() | there.keys()):
            if here.get(name) != there.get(name) or here[name].startswith(UNREAD):
                return printable(f"{name} differs")
    return None


def _folders(spec: BotSpec) -> Iterator[Path]:
    """The folders from which a bot may load files: the one in which it is started, and that of each file which its
    command names, also where a link leads to."""
    cwd = spec.cwd or Path()
    yield Path(os.path.realpath(cwd))
    program, *words = spec.command
    for word in filter(None, [program if "/" in program else "", *words_of(tuple(words))]):
        path = cwd / word
        match mode_of(path):
            case stat.S_IFDIR:
                yield Path(os.path.realpath(path))
            case stat.S_IFREG:
                yield Path(os.path.realpath(path.parent))
                yield Path(os.path.realpath(path)).parent


def _files_in(folder: Path, itself: str | None) -> dict[str, str]:
    """The contents of all files in a folder and below it, other than `itself`. Raises _NotComparedError."""
    if is_crowded(folder):
        raise _NotComparedError(f"{folder} was not compared: it is not the folder of one bot")
    try:
        found = [path for path in _walk(folder) if not is_of_a_journal(path)]
    except OSError as error:
        raise _NotComparedError(f"{error.filename} was not compared: {error.strerror}") from None
    if sum(map(size_of, found)) > MOST_BYTES:
        raise _NotComparedError(f"{folder} was not compared: it has more than {MOST_BYTES >> 20} MB")
    contents = {str(path.relative_to(folder)): _content(path, folder) for path in found}
    return {name: content for name, content in contents.items() if content != itself}


def _walk(folder: Path) -> Iterator[Path]:
    """Yield what lies in a folder and below it. Raises _NotComparedError if it is too much, and OSError."""
    seen, left = 0, [folder]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > MOST_SEEN:
                    raise _NotComparedError(f"{folder} was not compared: it has more than {MOST_SEEN} files")
                if entry.name in _LEFT_OUT or entry.name.endswith(_FOR_PEOPLE):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    left.append(Path(entry.path))
                else:
                    yield Path(entry.path)


def _content(path: Path, folder: Path) -> str:
    """What a file holds. A link to a folder is where it leads to: inside its own folder, what is there is compared
    anyway."""
    if path.is_symlink() and path.is_dir():
        target = Path(os.path.realpath(path))
        return str(target.relative_to(folder) if target.is_relative_to(folder) else target)
    return content_of(path)
