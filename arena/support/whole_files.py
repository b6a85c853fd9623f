"""Files that are there whole, or not at all."""

import contextlib
import errno
import os
import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes beside the file, and takes its place once everything is written. Raises OSError with the name of the file,
    also where the system does not tell it, as when the disk is full."""
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")  # a pipe or a terminal: nobody takes its place
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
        with contextlib.suppress(OSError):  # it may not even have been made; the first error is the one to tell
            part.unlink()
        raise


def write_private(path: Path, data: bytes) -> None:
    """A file that only its owner can read, in the place of one that is there; on the disk when this returns. Raises
    OSError."""
    descriptor, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # nobody else can read it
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
    sync_folder(path)


def sync_folder(path: Path) -> None:
    """So that the name of a new file outlives a power cut."""
    folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot, and need not
            raise
    finally:
        os.close(folder)
