"""Attempts to read, to write and to be heard through files."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import socket
import stat
import struct

from arena.devtools.sandbox_attempts import Attempts, NoEffectError, marked, written
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.calls import call, inotify_watch

FILES = Attempts()
_PRIVATE = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/var", "/run", "/sys", "/boot", "/opt")
_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "shm"}
_AT_FDCWD = -100
_IN_ACCESS = 1
_F_OFD_SETLK, _F_SETLEASE, _F_NOTIFY, _DN_ACCESS = 37, 1024, 1026, 1
_F_SET_RW_HINT, _FS_IOC_GETFLAGS = 1036, 0x80086601
_LOCK = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)


@FILES.add("a bot does not read the journal")
def read_journal(targets: AllTargets) -> str:
    return marked(targets.journal)


@FILES.add("a bot does not read the secret from which deals are made")
def read_secret(targets: AllTargets) -> str:
    return marked(targets.secret)


@FILES.add("a bot does not reach the host's files by way of another process")
def read_through_proc(targets: AllTargets) -> str:
    """Also by the bot's own links, one of which might lead to a folder of the host."""
    for process in (str(targets.first_process), "self"):
        for link in ("root", "cwd"):
            try:
                return marked(f"/proc/{process}/{link}{'/..' * 20}{targets.hidden}")
            except OSError as error:
                problem = error
    raise problem


@FILES.add("a bot does not open files by handles, which need no path")
def open_by_handle(targets: AllTargets) -> str:
    handle = struct.pack("Ii", 128, 0) + bytes(128)
    mount = bytes(4)
    call("name_to_handle_at", _AT_FDCWD, targets.shared.encode(), handle, mount, 0)
    return "it got a handle"


@FILES.add("a bot does not see the rest of the machine: its users, homes, settings and services")
def see_machine(targets: AllTargets) -> str:
    ways = (targets.own, os.getcwd())
    seen = [path for path in _PRIVATE if os.path.exists(path) and not _is_only_on_the_way(path, ways)]
    if seen:
        return f"it sees {' '.join(seen)}"
    raise NoEffectError("none of these is there")


def _is_only_on_the_way(path: str, ends: tuple[str, ...]) -> bool:
    """Whether a folder holds nothing but what leads to one of the ends, which a sandbox has to make."""
    if not os.path.isdir(path) or not os.access(path, os.R_OK):
        return False
    inside = [os.path.join(path, name) for name in os.listdir(path)]
    return all(any(f"{end}/".startswith(f"{each}/") for end in ends) for each in inside)


@FILES.add("a bot does not write into /usr")
def write_usr(_: AllTargets) -> str:
    return written("/usr")


@FILES.add("a bot does not change settings of the kernel")
def write_kernel_settings(_: AllTargets) -> str:
    path = "/proc/sys/kernel/core_pattern"
    os.close(os.open(path, os.O_WRONLY))
    return f"it could write {path}"


@FILES.add("/tmp holds no more than its size")
def fill_scratch(targets: AllTargets) -> str:
    return _filled(targets.scratch, targets.scratch_bytes)


@FILES.add("/dev/shm holds no more than its size")
def fill_shared_memory(targets: AllTargets) -> str:
    return _filled(targets.shared_memory, targets.scratch_bytes)


def _filled(folder: str, size: int) -> str:
    """Write more than fits, in pieces of a MiB. Whatever happens, the file is removed: the bot plays on."""
    path = os.path.join(folder, f".arena-escape-{os.getpid()}")
    piece, written = bytes(1 << 20), 0
    with open(path, "wb", buffering=0) as file:
        os.unlink(path)
        while written <= size:
            written += file.write(piece)
    return f"{folder} holds {written} bytes"


@FILES.add("a bot sees no device but /dev/null and its like")
def see_devices(_: AllTargets) -> str:
    """They are not opened: to open a watchdog is to start it."""
    for name in os.listdir("/dev"):
        mode = os.lstat(f"/dev/{name}").st_mode
        if name not in _DEVICES and (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)):
            return f"it sees /dev/{name}"
    raise NoEffectError("there are none")


@FILES.add("a bot makes no device")
def make_device(targets: AllTargets) -> str:
    path = os.path.join(targets.scratch, f".arena-escape-{os.getpid()}")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(path)
    return "it made a device"


@FILES.add("a bot cannot be heard through flock on a shared file")
def lock_by_flock(targets: AllTargets) -> str:
    with open(targets.shared, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return "it locked a shared file"


@FILES.add("a bot cannot be heard through the locks of POSIX on a shared file")
def lock_by_fcntl(targets: AllTargets) -> str:
    return _controlled(targets.shared, fcntl.F_SETLK)


@FILES.add("a bot cannot be heard through the lock of an open file description")
def lock_by_description(targets: AllTargets) -> str:
    return _controlled(targets.shared, _F_OFD_SETLK)


def _controlled(path: str, command: int) -> str:
    with open(path, "rb") as file:
        fcntl.fcntl(file, command, _LOCK)
    return "it locked a shared file"


@FILES.add("a bot cannot be heard through a lease on a shared file")
def take_lease(targets: AllTargets) -> str:
    with open(targets.shared, "rb") as file:
        fcntl.fcntl(file, _F_SETLEASE, fcntl.F_RDLCK)
    return "it has a lease on a shared file"


@FILES.add("a bot does not notice who opens a shared file")
def watch_by_inotify(targets: AllTargets) -> str:
    inotify_watch(targets.shared, _IN_ACCESS)
    return "it watches a shared file"


@FILES.add("a bot does not notice who opens the files of a folder")
def watch_by_dnotify(targets: AllTargets) -> str:
    folder = os.open(targets.own, os.O_RDONLY)
    fcntl.fcntl(folder, _F_NOTIFY, _DN_ACCESS)
    os.close(folder)
    return "it watches its folder"


@FILES.add("a bot leaves no hint on a shared file, which another bot could read later")
def leave_hint(targets: AllTargets) -> str:
    """The one that is there already, or none: what is refused is refused for all values."""
    with open(targets.shared, "rb") as file:
        fcntl.fcntl(file, _F_SET_RW_HINT, struct.pack("Q", 0))
    return "it left a hint"


@FILES.add("a bot leaves no flags on a shared file, and does not even read them")
def read_flags(targets: AllTargets) -> str:
    with open(targets.shared, "rb") as file:
        fcntl.ioctl(file, _FS_IOC_GETFLAGS, bytes(8))
    return "it read the flags of a shared file"


@FILES.add("a bot leaves no time on a device, which another bot could read later")
def touch_device(_: AllTargets) -> str:
    before = os.stat("/dev/null").st_mtime_ns
    os.utime("/dev/null")
    if os.stat("/dev/null").st_mtime_ns == before:
        raise NoEffectError("the time is as before")
    return "it chose when /dev/null was changed"


@FILES.add("a bot does not write to the named pipes of other programs")
def write_to_fifo(targets: AllTargets) -> str:
    os.close(os.open(targets.fifo, os.O_WRONLY | os.O_NONBLOCK))
    return "it can write to a named pipe"


@FILES.add("a bot does not reach the sockets of other programs that have a path")
def reach_unix_socket(targets: AllTargets) -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(targets.socket)
    return "it reached a unix socket"


@FILES.add("a bot that crashes leaves no core, not even with a handler of the host")
def dump_core(targets: AllTargets) -> str:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    os.chdir(targets.scratch)
    child = os.fork()
    if child == 0:
        os.abort()
    if os.WCOREDUMP(os.waitpid(child, 0)[1]):
        return "it left a core"
    raise NoEffectError(f"no core was written (limit {hard})")


@FILES.add("a bot has no descriptors but its input, its output and stderr")
def use_inherited_descriptor(_: AllTargets) -> str:
    for number in INHERITED:
        return f"it has descriptor {number}: {INHERITED[number]}"
    raise NoEffectError("there are none")


def _descriptors() -> dict[int, str]:
    """Those above stderr, with what they lead to. Listing them needs one, which is gone afterwards."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise
    return {number: target for number, target in found.items() if number > 2}


INHERITED = _descriptors()  # when the program starts, before it opens anything itself
