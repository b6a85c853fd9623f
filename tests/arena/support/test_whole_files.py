"""Files that appear under their name only when they are whole."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.support.whole_files import whole_file, write_whole


@pytest.fixture(params=["without names", "with names only"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems, such as NFS, have no files without a name."""
    original = os.open

    def refusing(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported", path)
        return original(path, flags, *more, **named)

    if request.param == "with names only":
        monkeypatch.setattr(os, "open", refusing)


@pytest.mark.usefixtures("file_system")
def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    (tmp_path / ".a.txt.part").write_text("left by a process that was killed")
    with whole_file(path) as file:
        file.write(b"whole")
        assert path.read_text() == "before"
    assert path.read_text() == "whole"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.usefixtures("file_system")
def test_nothing_is_left_of_a_file_if_the_block_raises(tmp_path: Path) -> None:
    def write() -> None:
        with whole_file(tmp_path / "a.txt") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_of_a_file_if_the_process_is_killed(tmp_path: Path) -> None:
    code = """if True:
        import os, signal, sys
        from pathlib import Path
        from arena.support.whole_files import whole_file
        with whole_file(Path(sys.argv[1])) as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a.txt"])
    assert (done.returncode, os.listdir(tmp_path)) == (-signal.SIGKILL, [])


@pytest.mark.usefixtures("file_system")
def test_everybody_may_read_it_whom_the_umask_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a.txt", "whole")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.usefixtures("file_system")
def test_an_error_names_the_file_unless_it_is_about_another(tmp_path: Path) -> None:
    nowhere, path = tmp_path / "nowhere" / "a.txt", tmp_path / "a.txt"
    with pytest.raises(FileNotFoundError) as raised:
        write_whole(nowhere, "whole")
    assert raised.value.filename == str(nowhere)
    with pytest.raises(IsADirectoryError) as raised_of_folder:
        write_whole(tmp_path, "whole")
    assert raised_of_folder.value.filename == str(tmp_path)
    with pytest.raises(OSError, match="No space left") as full, whole_file(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert full.value.filename == str(path)
    with pytest.raises(FileNotFoundError) as missing, whole_file(path):
        (tmp_path / "journal").read_bytes()
    assert missing.value.filename == str(tmp_path / "journal")


def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(path, "whole")
    assert (os.read(reader, 100), path.is_fifo()) == (b"whole", True)
    os.close(reader)
