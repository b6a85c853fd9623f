"""Take the fingerprint of a bot: hash what its command starts, just before it is started.

That is the program, every file that a word of the command names, and what the organiser adds (option `fingerprint`). Of
a folder that the command names (java -cp DIR, python3 -m PACKAGE), it is the code in it. What a bot loads by itself is
not known here. Journals and what belongs to them may lie in the same folder; they are left out.

Nothing here raises, and nothing blocks: files of a bot may be changed while a tournament runs, perhaps by the bot.
"""

import contextlib
import hashlib
import itertools
import os
import shlex
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.journal.file import is_of_a_journal
from arena.journal.identity import Fingerprint
from arena.plan.bot_spec import BotSpec, matching, sources_of_bundled_bot
from arena.plan.recorded_config import recorded_command
from arena.support.text import printable

_LARGEST: Final = 1 << 30  # bytes of a file that is hashed: about a second
_CHUNK: Final = 1 << 20
_NAMED: Final = 40  # files of a folder or pattern that are listed one by one
_MOST_SEEN: Final = 5000  # entries of a folder that is searched for code
_CODE: Final = (".py", ".class", ".jar", ".js", ".mjs", ".cjs", ".rb", ".pl", ".lua", ".php", ".sh")
_RECENT: Final = 1.0  # seconds; two changes of a file within the precision of its times look like one

_Stamp = tuple[int, int, int, int, int]
_hashes: dict[str, tuple[_Stamp, str]] = {}  # by path: as it was when it was hashed, and its hash


def fingerprint_of(spec: BotSpec) -> Fingerprint:
    """What would be started now. Files that have not changed since the last time are not read again."""
    command = tuple(map(printable, recorded_command(spec.command)))
    if own := spec.bundled:
        return Fingerprint(command, {path.name: _content(path) for path in sources_of_bundled_bot(own.module)})
    cwd, found = spec.cwd or Path(), dict[str, str]()
    if program := _program(spec, cwd):
        found[spec.command[0]] = _content(program)
    for word in _words(spec.command[1:]):
        found.update(_named(word, cwd))
    for pattern in spec.fingerprint:
        found.update(_listed(pattern, matching(pattern, cwd), cwd))
    return Fingerprint(command, {printable(name): found[name] for name in sorted(found)})


def _program(spec: BotSpec, cwd: Path) -> Path | None:
    word = spec.command[0]
    if "/" in word:
        return cwd / word if _mode(cwd / word) == stat.S_IFREG else None
    found = shutil.which(word, path=spec.environment().get("PATH"))
    return Path(found) if found else None


def _words(command: tuple[str, ...]) -> Iterator[str]:
    """All texts in these words that may be paths: words, values (--net=FILE), parts of class paths, modules, and the
    words of a shell's command (bash -c "…")."""
    for place, word in enumerate(command):
        if any(char.isspace() for char in word):
            yield from _words(_of_shell(word))
        elif place and command[place - 1] == "-m":
            yield word
            yield word.replace(".", "/") + ".py"
            yield word.partition(".")[0]
        elif word.startswith("-"):
            yield word.partition("=")[2]
        else:
            yield word
            yield from (part.removesuffix("/*") for part in word.split(os.pathsep)) if _is_list(word) else ()


def _is_list(word: str) -> bool:
    return os.pathsep in word or word.endswith("/*")


def _of_shell(text: str) -> tuple[str, ...]:
    """The words of a shell's command, those after `cd DIR` as paths from DIR."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    with contextlib.suppress(ValueError):  # a quote without its end
        words = [word for word in lexer if not any(char.isspace() for char in word)]
        found, folder = [], "."
        for before, word in itertools.pairwise(["", *words]):
            if before == "cd":
                folder = os.path.normpath(os.path.join(folder, word))
            else:
                found.append(word if folder == "." or word.startswith("-") else os.path.join(folder, word))
        return tuple(found)
    return ()


def _named(word: str, cwd: Path) -> dict[str, str]:
    """The contents of the file or folder that a word names; nothing if it names none."""
    path = cwd / word
    match _mode(path) if word else None:
        case stat.S_IFREG:
            return {word: _content(path)}
        case stat.S_IFDIR:
            return _listed(word, _code_in(path), cwd)
    return {}


def _code_in(folder: Path) -> list[Path] | None:
    """The files of a folder that look like code; None if there are too many files to look at."""
    found, seen = [], 0
    for parent, folders, names in os.walk(folder):
        folders.sort()
        seen += len(folders) + len(names)
        if seen > _MOST_SEEN:
            return None
        found += [Path(parent, name) for name in sorted(names) if name.endswith(_CODE)]
    return [path for path in found if _mode(path) == stat.S_IFREG]


def _listed(source: str, paths: list[Path] | None, cwd: Path) -> dict[str, str]:
    """The contents of these files, which come from one folder or pattern. Many of them are one entry, because the
    journal is not the place for a long list."""
    if paths is None:
        return {source: f"not read: it has more than {_MOST_SEEN} files"}
    contents = {os.path.relpath(path, cwd): _content(path) for path in paths if not is_of_a_journal(path)}
    if len(contents) <= _NAMED:
        return contents
    all_of_them = "".join(f"{content}  {name}\n" for name, content in sorted(contents.items()))
    return {source: hashlib.sha256(os.fsencode(all_of_them)).hexdigest()}


def _mode(path: Path) -> int | None:
    """What kind of file this is; None if there is none."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except (OSError, ValueError):  # ValueError: a null byte, or a word that no path can be
        return None


def _content(path: Path) -> str:
    """The SHA-256 of a file, or what else is known of it if it cannot be read."""
    try:
        found = os.stat(path)
    except OSError as error:
        return f"not read: {error.strerror}"
    if not stat.S_ISREG(found.st_mode):
        return "not read: it is not a regular file"
    known_otherwise = f"it has {found.st_size} bytes and was changed at {found.st_mtime_ns} ns"
    if found.st_size > _LARGEST:
        return f"not read: {known_otherwise}"
    stamp = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    known = _hashes.get(key := os.path.abspath(path))
    if known is not None and known[0] == stamp:
        return known[1]
    try:
        content = _hashed(path)
    except OSError as error:
        return f"not read: {error.strerror}; {known_otherwise}"
    if abs(time.time() - found.st_ctime) > _RECENT:
        _hashes[key] = stamp, content
    return content


def _hashed(path: Path) -> str:
    # It may have become a FIFO just now, and opening that would block.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as file:
        content = hashlib.sha256()
        for _ in range(_LARGEST // _CHUNK):  # it may grow while it is read
            if not (chunk := file.read(_CHUNK)):
                break
            content.update(chunk)
        return content.hexdigest()
