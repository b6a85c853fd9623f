"""A bot leaves nothing on the files that it can open: another bot could read it there, even in the next tournament."""

import array
import fcntl
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import trio

from arena.plan.bot_spec import BotSpec
from arena.processes.bot_process import spawn
from tests.helpers.escape_rounds import SYSTEM_PYTHON
from tests.helpers.paths import ROOT
from tests.helpers.sandboxes import (
    IS_ROOT,
    SANDBOX_MARKS,
    boxed,
    ordinary_environment,
    ordinary_python,
    reachable_folder,
)

pytestmark = SANDBOX_MARKS
SECONDS = 60
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
F_GET_RW_HINT, F_GETLEASE = 1035, 1025
FLAGS, VERSION, EXTENDED_FLAGS = 0x80086601, 0x80087601, 0x801C581F  # FS_IOC_…

# Every command of fcntl, with arguments that mean something to one of them; flags, times, rights and attributes. It
# keeps its descriptors, and with them its locks and leases.
LEAVING = """
import fcntl, os, signal, struct, sys
for number in range(1, signal.NSIG):
    if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
        signal.signal(number, signal.SIG_IGN)
LOCK = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)

def attempt(call, *arguments, **more):
    try:
        call(*arguments, **more)
    except OSError:
        pass

for path in sys.argv[1:]:
    descriptor = os.open(path, os.O_RDONLY)
    attempt(os.read, descriptor, 1)
    for command in (*range(5, 64), *range(1024, 1030), *range(1031, 1064)):
        for argument in (0, LOCK, struct.pack("Q", 2)):
            attempt(fcntl.fcntl, descriptor, command, argument)
    for command in (0x40086602, 0x40087602, 0x401C5820):
        attempt(fcntl.ioctl, descriptor, command, struct.pack("7I", 0x80, 0, 0, 0, 0, 0, 0))
    attempt(fcntl.flock, descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    attempt(os.utime, path)
    attempt(os.utime, path, (1, 1))
    attempt(os.chmod, path, 0o600)
    attempt(os.chown, path, os.getuid(), os.getgid())
    attempt(os.setxattr, path, "user.arena", b"x")
    attempt(os.link, path, path + "-linked")
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    """A file in a folder that two bots see."""
    with reachable_folder() as folder:
        (folder / "shared").write_text("openings")
        yield folder / "shared"


def state(path: str) -> Mapping[str, object]:
    """All that a file shows to whoever can open it, and that can outlive the process that left it there."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        about = os.fstat(descriptor)
        inode = f":{about.st_ino} "
        return {
            "rights": (about.st_mode, about.st_uid, about.st_gid, about.st_nlink),
            "times": (about.st_atime_ns, about.st_mtime_ns, about.st_ctime_ns),
            "attributes": {name: os.getxattr(path, name) for name in os.listxattr(path)},
            "flags": [asked(descriptor, command) for command in (FLAGS, VERSION, EXTENDED_FLAGS)],
            "hint": fcntl.fcntl(descriptor, F_GET_RW_HINT, bytes(8)),
            "lease": fcntl.fcntl(descriptor, F_GETLEASE),
            "locks": [line for line in Path("/proc/locks").read_text().splitlines() if inode in line],
        }
    finally:
        os.close(descriptor)


def asked(descriptor: int, command: int) -> object:
    told = array.array("I", [0] * 8)
    try:
        fcntl.ioctl(descriptor, command, told)
    except OSError as error:
        return error.errno
    return told.tolist()


async def changed_by(bot: BotSpec, paths: tuple[str, ...]) -> set[tuple[str, str]]:
    """The paths and what is different there, while the bot has them open and after its end."""
    before = {path: state(path) for path in paths}
    async with spawn(bot) as process:
        with trio.fail_after(SECONDS):
            assert await process.stream.receive_some() == b"done\n", await process.last_words()
        meanwhile = {path: state(path) for path in paths}
    after = {path: state(path) for path in paths}
    both = (*meanwhile.items(), *after.items())
    return {(path, name) for path, found in both for name in found if found[name] != before[path][name]}


async def test_a_bot_changes_nothing_of_what_it_can_open(shared: Path) -> None:
    paths = (str(shared), str(shared.parent), SYSTEM_PYTHON, "/usr", *DEVICES)
    command = (SYSTEM_PYTHON, "-c", LEAVING, *paths)
    assert await changed_by(boxed(*command, cwd=shared.parent), paths) == set()


async def test_without_a_sandbox_it_would(shared: Path) -> None:
    spec = BotSpec("x", (SYSTEM_PYTHON, "-c", LEAVING, str(shared)))
    changed = {name for _, name in await changed_by(spec, (str(shared),))}
    assert changed >= {"rights", "times", "hint", "locks"}


@pytest.mark.skipif(not IS_ROOT, reason="the tests above are already run by an ordinary user")
def test_the_same_holds_for_an_ordinary_user_to_whom_the_files_belong() -> None:
    words = [*ordinary_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__]
    environment = ordinary_environment(TMPDIR="/var/tmp", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    assert "2 passed, 1 skipped in " in done.stdout
