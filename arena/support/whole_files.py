"""Write files atomically: readers see the complete file or none."""

import contextlib
import errno
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write `text` to a temporary file, which then replaces `path`. Raises OSError that always names the file: the
    system's own error does not where, for example, the disk is full."""
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")  # a pipe or a terminal must not be replaced
        else:
            _write_and_rename(path.resolve(), text)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write_and_rename(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # it may not exist; the first error is the one to report
            part.unlink()
        raise


def write_private(path: Path, data: bytes, *, kept: bool = True) -> None:
    """Write or replace a file that only its owner can read. If it is to be kept, it is on the disk when this returns.
    Raises OSError."""
    descriptor, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if kept:
                os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
    if kept:
        sync_folder(path)


def sync_folder(path: Path) -> None:
    """Flush the folder of `path` to the disk, so that the name of a new file survives a power cut."""
    folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems do not support this, and do not need it
            raise
    finally:
        os.close(folder)
