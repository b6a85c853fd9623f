"""The folder of a bot as bytes: packed on the machine of the tournament, unpacked on a machine of the cluster."""

import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from arena.cluster.folder import FolderEntry, FolderError, entries_of
from arena.support.text import printable

_MOST_BYTES: Final = 64 << 20  # of a folder: it is sent to every Dask worker through the scheduler
_MODE: Final = 0o777


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    path: bytes  # relative, in the file system's own bytes
    mode: int
    data: bytes | None  # of a file
    target: bytes | None = None  # of a link; without it and without data it is an empty folder


def packed(folder: Path, ignored: frozenset[str] = frozenset()) -> bytes:
    """What is in a folder without what has a name in `ignored`, or one file. Only what lies in the folder itself: its
    bot may have fewer rights than the reader, and must not get more by a link. Raises FolderError if something cannot
    be sent, or if it is too much or too large, and OSError."""
    root, left, found = folder if folder.is_dir() else folder.parent, _MOST_BYTES, []
    for entry in entries_of(folder, ignored):
        each = _packed(entry, os.fsencode(entry.path.relative_to(root)), left)
        left -= len(each.data or b"")
        if left < 0:
            raise FolderError(f"{folder} has more than {_MOST_BYTES >> 20} MB; copy it to each machine instead")
        found.append(each)
    return zlib.compress(msgspec.msgpack.encode(found), 1)


def _packed(entry: FolderEntry, name: bytes, most: int) -> _Packed:
    """One entry. Of a file with more than `most` bytes, one byte more than these."""
    if entry.target is not None:
        if entry.target.is_absolute():
            raise _leaving(entry.path, entry.target)
        return _Packed(name, 0, None, os.fsencode(entry.target))
    if stat.S_ISDIR(entry.mode):
        return _Packed(name, stat.S_IMODE(entry.mode), None)
    with entry.opened() as file:
        return _Packed(name, stat.S_IMODE(os.fstat(file.fileno()).st_mode), file.read(most + 1))


def _leaving(link: Path, target: Path) -> FolderError:
    kind = "folder" if target.is_dir() else "file"
    return FolderError(printable(f"{link} -> {target}: this link leaves the bot's folder; copy the {kind} into it"))


def unpacked_into(folder: Path, data: bytes) -> None:
    """Write what was packed into a folder. Raises FolderError if a path would leave it, and OSError."""
    found = msgspec.msgpack.decode(zlib.decompress(data), type=list[_Packed])
    for each in sorted(found, key=lambda each: each.target is not None):  # links last: nothing is written through one
        path = _inside(folder, each.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if each.target is not None:
            path.symlink_to(os.path.relpath(_inside(folder, each.target), path.parent))
        elif each.data is None:
            path.mkdir(exist_ok=True)
            path.chmod(each.mode & _MODE)
        else:
            path.write_bytes(each.data)
            path.chmod(each.mode & _MODE)


def _inside(folder: Path, name: bytes) -> Path:
    path = PurePosixPath(os.fsdecode(name))
    if path.is_absolute() or ".." in path.parts:
        raise FolderError(f"{os.fsdecode(name)!r} is not a path inside a folder")
    return folder / path


_received: Final[dict[str, Path]] = {}  # by run: the folder with what this process received for it


def receive(run: str, folders: Sequence[bytes]) -> str:
    """Unpack folders of bots on this machine, into folders 0, 1, … of one that is returned. Raises FolderError, and
    OSError."""
    if run not in _received:
        root = Path(tempfile.mkdtemp(prefix="arena-bots-"))
        try:
            root.chmod(0o755)  # a sandboxed bot may run as another user
            for number, data in enumerate(folders):
                (root / str(number)).mkdir()
                unpacked_into(root / str(number), data)
        except BaseException:
            shutil.rmtree(root, ignore_errors=True)
            raise
        _received[run] = root  # only now: half a folder is none, and the next one may arrive whole
    return str(_received[run])


def discard(run: str) -> None:
    """Remove what this machine received for a run."""
    if (root := _received.pop(run, None)) is not None:
        shutil.rmtree(root, ignore_errors=True)
