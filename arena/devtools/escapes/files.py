"""Attempts to read, to write and to be heard through files."""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import socket
import stat
import struct

from arena.devtools.escapes.attempt import MARK, Attempts, Baits, Refused
from arena.devtools.escapes.calls import call, inotify_watch

FILES = Attempts()
_PRIVATE = ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/root", "/home", "/var", "/run", "/sys", "/boot", "/opt")
_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "shm"}
_AT_FDCWD = -100
_IN_ACCESS = 1
_F_OFD_SETLK, _F_SETLEASE, _F_NOTIFY, _DN_ACCESS = 37, 1024, 1026, 1
_LOCK = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)


def marked(path: str) -> str:
    """What was got by reading a bait."""
    with open(path, "rb") as file:
        if MARK in file.read(1 << 20):
            return f"it read {path}"
    raise Refused(f"{path} is not the bait")


@FILES.add("a bot reads no file outside of /usr and its own folder")
def read_hidden_file(baits: Baits) -> str:
    return marked(baits.hidden)


@FILES.add("a bot does not read the journal")
def read_journal(baits: Baits) -> str:
    return marked(baits.journal)


@FILES.add("a bot does not read the secret from which deals are made")
def read_secret(baits: Baits) -> str:
    return marked(baits.secret)


@FILES.add("a bot does not read the folder of another bot")
def read_opponent(baits: Baits) -> str:
    return marked(baits.opponent)


@FILES.add("a bot does not reach the host's files by way of another process")
def read_through_proc(baits: Baits) -> str:
    """Also by the bot's own links, one of which might lead to a folder of the host."""
    for process in (str(baits.first_process), "self"):
        for link in ("root", "cwd"):
            try:
                return marked(f"/proc/{process}/{link}{'/..' * 20}{baits.hidden}")
            except OSError as error:
                problem = error
    raise problem


@FILES.add("a bot does not open files by handles, which need no path")
def open_by_handle(baits: Baits) -> str:
    handle = struct.pack("Ii", 128, 0) + bytes(128)
    mount = bytes(4)
    call("name_to_handle_at", _AT_FDCWD, baits.shared.encode(), handle, mount, 0)
    return "it got a handle"


@FILES.add("a bot does not see the rest of the machine: its users, homes, settings and services")
def see_machine(baits: Baits) -> str:
    ways = (baits.own, os.getcwd())
    seen = [path for path in _PRIVATE if os.path.exists(path) and not _is_only_on_the_way(path, ways)]
    if seen:
        return f"it sees {' '.join(seen)}"
    raise Refused("none of these is there")


def _is_only_on_the_way(path: str, ends: tuple[str, ...]) -> bool:
    """Whether a folder holds nothing but what leads to one of the ends, which a sandbox has to make."""
    if not os.path.isdir(path) or not os.access(path, os.R_OK):
        return False
    inside = [os.path.join(path, name) for name in os.listdir(path)]
    return all(any(f"{end}/".startswith(f"{each}/") for end in ends) for each in inside)


@FILES.add("a bot does not write into its own folder")
def write_own_folder(baits: Baits) -> str:
    return _written(baits.own)


@FILES.add("a bot does not write into /usr")
def write_usr(_: Baits) -> str:
    return _written("/usr")


@FILES.add("a bot writes nowhere but in /tmp and /dev/shm")
def write_elsewhere(_: Baits) -> str:
    problem = OSError("there is no such folder")
    for folder in ("/", "/dev", "/etc", "/proc", "/proc/1", "/var/tmp", "/run", "/home", "/mnt", "/bin", "/lib"):
        try:
            return _written(folder)
        except OSError as error:
            problem = error
    raise problem


def _written(folder: str) -> str:
    path = os.path.join(folder, f".arena-escape-{os.getpid()}")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return f"it wrote {path}"


@FILES.add("a bot does not change settings of the kernel")
def write_kernel_settings(_: Baits) -> str:
    path = "/proc/sys/kernel/core_pattern"
    os.close(os.open(path, os.O_WRONLY))
    return f"it could write {path}"


@FILES.add("/tmp holds no more than its size")
def fill_scratch(baits: Baits) -> str:
    return _filled(baits.scratch, baits.scratch_bytes)


@FILES.add("/dev/shm holds no more than its size")
def fill_shared_memory(baits: Baits) -> str:
    return _filled(baits.shared_memory, baits.scratch_bytes)


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
def see_devices(_: Baits) -> str:
    """They are not opened: to open a watchdog is to start it."""
    for name in os.listdir("/dev"):
        mode = os.lstat(f"/dev/{name}").st_mode
        if name not in _DEVICES and (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)):
            return f"it sees /dev/{name}"
    raise Refused("there are none")


@FILES.add("a bot makes no device")
def make_device(baits: Baits) -> str:
    path = os.path.join(baits.scratch, f".arena-escape-{os.getpid()}")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(path)
    return "it made a device"


@FILES.add("a bot cannot be heard through flock on a shared file")
def lock_by_flock(baits: Baits) -> str:
    with open(baits.shared, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return "it locked a shared file"


@FILES.add("a bot cannot be heard through the locks of POSIX on a shared file")
def lock_by_fcntl(baits: Baits) -> str:
    return _controlled(baits.shared, fcntl.F_SETLK)


@FILES.add("a bot cannot be heard through the lock of an open file description")
def lock_by_description(baits: Baits) -> str:
    return _controlled(baits.shared, _F_OFD_SETLK)


def _controlled(path: str, command: int) -> str:
    with open(path, "rb") as file:
        fcntl.fcntl(file, command, _LOCK)
    return "it locked a shared file"


@FILES.add("a bot cannot be heard through a lease on a shared file")
def take_lease(baits: Baits) -> str:
    with open(baits.shared, "rb") as file:
        fcntl.fcntl(file, _F_SETLEASE, fcntl.F_RDLCK)
    return "it has a lease on a shared file"


@FILES.add("a bot does not notice who opens a shared file")
def watch_by_inotify(baits: Baits) -> str:
    inotify_watch(baits.shared, _IN_ACCESS)
    return "it watches a shared file"


@FILES.add("a bot does not notice who opens the files of a folder")
def watch_by_dnotify(baits: Baits) -> str:
    folder = os.open(baits.own, os.O_RDONLY)
    fcntl.fcntl(folder, _F_NOTIFY, _DN_ACCESS)
    os.close(folder)
    return "it watches its folder"


@FILES.add("a bot does not write to the named pipes of other programs")
def write_to_fifo(baits: Baits) -> str:
    os.close(os.open(baits.fifo, os.O_WRONLY | os.O_NONBLOCK))
    return "it can write to a named pipe"


@FILES.add("a bot does not reach the sockets of other programs that have a path")
def reach_unix_socket(baits: Baits) -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1)
        client.connect(baits.socket)
    return "it reached a unix socket"


@FILES.add("a bot that crashes leaves no core, not even with a handler of the host")
def dump_core(baits: Baits) -> str:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    os.chdir(baits.scratch)
    child = os.fork()
    if child == 0:
        os.abort()
    if os.WCOREDUMP(os.waitpid(child, 0)[1]):
        return "it left a core"
    raise Refused(f"no core was written (limit {hard})")


@FILES.add("a bot has no descriptors but its input, its output and stderr")
def use_inherited_descriptor(_: Baits) -> str:
    for number in INHERITED:
        return f"it has descriptor {number}: {INHERITED[number]}"
    raise Refused("there are none")


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
