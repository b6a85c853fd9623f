"""Write files atomically: readers see the complete file or none."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


def write_whole(path: Path, text: str) -> None:
    """Write `text` to a temporary file, which then replaces `path`. Raises OSError that always names the file: the
    system's own error does not where, for example, the disk is full."""
    with whole_file(path) as file:
        file.write(text.encode())


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Yields a file for the block to write, which then replaces `path`; if the block raises, `path` stays as it is. The
    file has no name until it is whole, so that nothing is left of it however the process ends. An OSError of the block
    that names no other file names this one."""
    if path.exists() and not path.is_file():
        with _naming(path), open(path, "wb") as file:  # a pipe or a terminal must not be replaced
            yield file
        return
    target = path.resolve()
    part = target.with_name(f".{target.name}.part")
    with _naming(path, target.parent, part), _removed_on_error(part), _open_part(part) as file:
        yield file
        file.flush()
        if not os.fstat(file.fileno()).st_nlink:
            _link(file, part)
        part.replace(target)


@contextmanager
def _naming(path: Path, *instead_of: Path) -> Iterator[None]:
    """Let an OSError that names no file, or one of these, name this one."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and str(error.filename) not in map(str, (path, *instead_of)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _open_part(part: Path) -> IO[bytes]:
    """A new file in this folder: without a name if the file system has such files, and else with this one."""
    try:
        return open(os.open(part.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666), "wb")
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR):
            raise
        return open(part, "wb")


def _link(file: IO[bytes], name: Path) -> None:
    """Give a name to a file that has none. The name is free then: it can only be what an earlier process left."""
    name.unlink(missing_ok=True)
    source = Path(f"/proc/self/fd/{file.fileno()}")
    with _naming(name, source), _folder(name) as folder:
        os.link(source, name.name, src_dir_fd=folder, dst_dir_fd=folder)  # without them, the link itself is linked


@contextmanager
def _removed_on_error(part: Path) -> Iterator[None]:
    try:
        yield
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
    with _folder(path) as folder:
        try:
            os.fsync(folder)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some file systems do not support this, and do not need it
                raise


@contextmanager
def _folder(path: Path) -> Iterator[int]:
    """The descriptor of the folder of `path`."""
    folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield folder
    finally:
        os.close(folder)
