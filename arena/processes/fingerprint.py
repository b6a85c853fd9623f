"""Take the fingerprint of a bot: hash what its command starts, just before it is started.

That is the program and every file that a word of the command names. Of a folder that the command names (java -cp DIR,
python3 -m PACKAGE), it is the code in it. Scripts load what lies beside and below them, so what the folder of a script
holds with the same ending belongs to it, unless the organiser says what does (option `fingerprint`). What else a bot
loads is not known here. Journals and what belongs to them may lie in the same folder; they are left out.

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
from arena.journal.identity import GROUP, UNREAD, Fingerprint
from arena.plan.bot_spec import BotSpec, is_crowded, matching, sources_of_bundled_bot
from arena.plan.recorded_config import recorded_command
from arena.support.text import printable

_LARGEST: Final = 1 << 30  # bytes of a file that is hashed: about a second
_CHUNK: Final = 1 << 20
_NAMED: Final = 40  # files of a folder or pattern that are listed one by one
MOST_SEEN: Final = 5000  # entries of a folder that is searched
_MOST_FILES: Final = 1000  # of code in it: about 50 milliseconds at each start of the bot
MOST_BYTES: Final = 256 << 20  # in these files: about a quarter of a second, if they are new
_SCRIPTS: Final = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".lua", ".php", ".sh")
_CODE: Final = (*_SCRIPTS, ".class", ".jar")
_NOT_OF_A_BOT: Final = ("__pycache__", "node_modules", "site-packages")  # folders: what was installed or compiled
_RECENT: Final = 1.0  # seconds; two changes of a file within the precision of its times look like one

_Stamp = tuple[int, int, int, int, int]
_hashes: dict[str, tuple[_Stamp, str]] = {}  # by path: as it was when it was hashed, and its hash


def fingerprint_of(spec: BotSpec) -> Fingerprint:
    """What would be started now. Files that have not changed since the last time are not read again."""
    command = tuple(map(printable, recorded_command(spec.command)))
    if own := spec.bundled:
        return Fingerprint(command, {path.name: content_of(path) for path in sources_of_bundled_bot(own.module)})
    cwd, with_folder = spec.cwd or Path(), spec.fingerprint is None
    found = _program(spec, cwd, with_folder)
    for word in words_of(spec.command[1:]):
        found = _named(word, cwd, with_folder) | found
    for pattern in spec.fingerprint or ():
        found |= _listed(pattern, matching(pattern, cwd), cwd)
    return Fingerprint(command, {printable(name): found[name] for name in sorted(found)})


def _program(spec: BotSpec, cwd: Path, with_folder: bool) -> dict[str, str]:
    word = spec.command[0]
    if "/" in word:
        return _named(word, cwd, with_folder) if mode_of(cwd / word) == stat.S_IFREG else {}
    found = shutil.which(word, path=spec.environment().get("PATH"))
    return {word: content_of(Path(found))} if found else {}


def words_of(command: tuple[str, ...]) -> Iterator[str]:
    """All texts in these words that may be paths: words, values (--net=FILE), parts of class paths, modules, and the
    words of a shell's command (bash -c "…")."""
    for place, word in enumerate(command):
        if any(char.isspace() for char in word):
            yield from words_of(_of_shell(word))
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


def _named(word: str, cwd: Path, with_folder: bool) -> dict[str, str]:
    """The contents of the file or folder that a word names; nothing if it names none."""
    path = cwd / word
    match mode_of(path) if word else None:
        case stat.S_IFREG:
            return (_beside(word, path) if with_folder else {}) | {word: content_of(path)}
        case stat.S_IFDIR:
            return _listed(word, _code_in(path, _CODE), path, word)
    return {}


def _beside(word: str, script: Path) -> dict[str, str]:
    """The contents of what belongs to the script that a word names, which lies where a link leads to. A folder like the
    user's home is that of no bot: whoever writes to it would change one."""
    real, ending = Path(os.path.realpath(script)), script.suffix
    folder = real.parent
    if ending not in _SCRIPTS or is_crowded(folder):
        return {}
    place = os.path.dirname(word) if os.path.realpath(script.parent) == str(folder) else str(folder)
    found = _code_in(folder, (ending,))
    itself = real, folder / script.name
    others = found if isinstance(found, str) else [path for path in found if path not in itself]
    return _listed(os.path.normpath(os.path.join(place, f"**/*{ending}")), others, folder, place)


def _code_in(folder: Path, endings: tuple[str, ...]) -> list[Path] | str:
    """The files in a folder and below it that have these endings, without hidden ones; if they are too many, a text
    that says so."""
    found, seen, left = list[Path](), 0, [folder]
    while left:
        with contextlib.suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > MOST_SEEN:
                    return f"it has more than {MOST_SEEN} files"
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    left += [Path(entry.path)] if entry.name not in _NOT_OF_A_BOT else []
                elif entry.name.endswith(endings):
                    found.append(Path(entry.path))
    files = [path for path in sorted(found) if mode_of(path) == stat.S_IFREG]
    if len(files) > _MOST_FILES:
        return f"it has more than {_MOST_FILES} files of code"
    if sum(map(size_of, files)) > MOST_BYTES:
        return f"it has more than {MOST_BYTES >> 20} MB of code"
    return files


def _listed(source: str, paths: list[Path] | str, folder: Path, place: str = "") -> dict[str, str]:
    """The contents of these files, which come from one folder or pattern, or why there are none. They are named from
    `folder`, which is called `place`. Many of them are one entry, because the journal is not the place for a long
    list."""
    if isinstance(paths, str):
        return {source: f"{UNREAD}{paths}; name those of the bot by fingerprint"}
    contents = {os.path.relpath(path, folder): content_of(path) for path in paths if not is_of_a_journal(path)}
    if len(contents) <= _NAMED:
        return {os.path.normpath(os.path.join(place, name)): content for name, content in contents.items()}
    all_of_them = "".join(f"{content}  {name}\n" for name, content in sorted(contents.items()))
    return {source: f"{len(contents)}{GROUP}{hashlib.sha256(os.fsencode(all_of_them)).hexdigest()}"}


def mode_of(path: Path) -> int | None:
    """What kind of file this is; None if there is none."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except (OSError, ValueError):  # ValueError: a null byte, or a word that no path can be
        return None


def size_of(path: Path) -> int:
    """The bytes of a file; 0 if they are not known."""
    with contextlib.suppress(OSError):
        return os.stat(path).st_size
    return 0


def content_of(path: Path) -> str:
    """The SHA-256 of a file, or what else is known of it if it cannot be read."""
    try:
        found = os.stat(path)
    except OSError as error:
        return f"{UNREAD}{error.strerror}"
    if not stat.S_ISREG(found.st_mode):
        return f"{UNREAD}it is not a regular file"
    known_otherwise = f"it has {found.st_size} bytes and was changed at {found.st_mtime_ns} ns"
    if found.st_size > _LARGEST:
        return f"{UNREAD}{known_otherwise}"
    stamp = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    known = _hashes.get(key := os.path.abspath(path))
    if known is not None and known[0] == stamp:
        return known[1]
    try:
        content = _hashed(path)
    except OSError as error:
        return f"{UNREAD}{error.strerror}; {known_otherwise}"
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
