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

from arena.cluster.machine import FolderError, files_in

_MOST_BYTES: Final = 64 << 20  # of a folder: it is sent to every Dask worker through the scheduler
_MODE: Final = 0o777


class _File(msgspec.Struct, frozen=True, array_like=True):
    path: bytes  # relative, in the file system's own bytes
    mode: int
    data: bytes


def packed(folder: Path, ignored: frozenset[str] = frozenset()) -> bytes:
    """All files in a folder without those whose names are in `ignored`, or one file. Raises FolderError if they are too
    many or too large, and OSError."""
    root, size, files = folder.parent if folder.is_file() else folder, 0, []
    for path in files_in(folder, ignored):
        size += path.stat().st_size
        if size > _MOST_BYTES:
            raise FolderError(f"{folder} has more than {_MOST_BYTES >> 20} MB; copy it to each machine instead")
        files.append(_File(os.fsencode(path.relative_to(root)), stat.S_IMODE(path.stat().st_mode), path.read_bytes()))
    return zlib.compress(msgspec.msgpack.encode(files), 1)


def unpacked_into(folder: Path, data: bytes) -> None:
    """Write the files of a parcel into a folder. Raises FolderError if a path would leave it, and OSError."""
    for file in msgspec.msgpack.decode(zlib.decompress(data), type=list[_File]):
        name = os.fsdecode(file.path)
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise FolderError(f"{name!r} is not a path inside a folder")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        path.chmod(file.mode & _MODE)


_received: Final[dict[str, Path]] = {}  # by run: the folder with what this process received for it


def receive(run: str, parcels: Sequence[bytes]) -> str:
    """Unpack parcels on this machine, into folders 0, 1, … of one that is returned. Raises FolderError, and OSError."""
    if run not in _received:
        root = Path(tempfile.mkdtemp(prefix="arena-"))
        root.chmod(0o755)  # a sandboxed bot may run as another user
        _received[run] = root
        for number, parcel in enumerate(parcels):
            (root / str(number)).mkdir()
            unpacked_into(root / str(number), parcel)
    return str(_received[run])


def discard(run: str) -> None:
    """Remove what this machine received for a run."""
    if (root := _received.pop(run, None)) is not None:
        shutil.rmtree(root, ignore_errors=True)
