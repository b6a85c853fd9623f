"""Files that are there whole, or not at all."""

import contextlib
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
    except OSError:
        with contextlib.suppress(OSError):  # it may not even have been made; the first error is the one to tell
            part.unlink()
        raise
