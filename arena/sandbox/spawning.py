"""Start the first process of a bot, with its limits and with exactly the descriptors that it shall have.

This module uses only the standard library, because keepers have nothing else.
"""

import contextlib
import errno
import fcntl
import json
import marshal
import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

# How many more processes and threads all bots together may have than existed when a bot started: plenty for bots, and
# few enough that the scheduler still gives the keeper its turn soon.
_SPARE_PROCESSES: Final = max(1024, 512 * (os.cpu_count() or 1))
_MOST_TASKS: Final = 1024  # processes and threads in a sandbox; more than the keeper allows, so that it sees the excess
MOST_DESCRIPTORS: Final = 512  # in a sandbox, of all processes together; each may have half of them
_MOST_SIGNALS: Final = 256  # that wait in a sandbox
_LIMITS_OF_USERS: Final = {resource.RLIMIT_NPROC: _MOST_TASKS, resource.RLIMIT_SIGPENDING: _MOST_SIGNALS}
# Each running bot of root is the user whose number is the first of these and the process id of its keeper: nobody else
# has that while the keeper lives. Linux has process ids up to 2**22, and systemd gives such numbers to nobody.
OWN_USERS: Final = range(0x70000000, 0x70000000 + 2**22)
OWN_USER: Final = "--reuid=\0"  # for setpriv; the number takes the place of the null byte, which no word of a bot has
_RESET_SIGNALS: Final = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them, but others must not inherit that


class StartRequest(NamedTuple):
    """What the arena asks a keeper to start, and the limits to enforce."""

    command: list[bytes]
    cwd: bytes | None
    environment: dict[bytes, bytes]
    memory: int | None  # bytes
    cpu_seconds: int | None
    processes: int
    # In a sandbox (bubblewrap.py) the command is that of bwrap.
    data: list[bytes]  # what bwrap reads from descriptors 3, 4, …; for those after them, see bubblewrap.py
    own_processes: int  # of the sandbox; they are not the bot's
    scratch: int  # bytes of each writable folder

    def encoded(self) -> bytes:
        """The request as bytes: its length, then the marshalled fields."""
        data = marshal.dumps(tuple(self))
        return len(data).to_bytes(4, "big") + data


def start(request: StartRequest, streams: list[int]) -> tuple[int, int | None]:
    """Start the bot's first process. Returns its pid, and for a sandbox the descriptor to read the report of bwrap
    from. Raises OSError if the system does not start the program.

    What cannot be set for the child alone is set for the keeper as well.
    """
    if request.cwd is not None:
        os.chdir(request.cwd)
    report, gate, more = None, None, []
    if request.data:
        _limit_leftovers()
        (report, theirs), (theirs_too, gate) = os.pipe(), os.pipe()
        more = [*map(file_with, request.data), theirs, theirs_too]
    _limit_user(request)
    before = resource.getrlimit(resource.RLIMIT_CPU)
    if request.cpu_seconds is not None:
        # A fallback for one process between two measurements: the sum of all processes usually reaches the limit first.
        resource.setrlimit(resource.RLIMIT_CPU, _lower(before, request.cpu_seconds + 1))
    problem: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for program in _candidate_paths(request):
        try:
            with _killed_before_the_arena():
                pid = spawn(program, request.command, request.environment, [*streams, *more])
            resource.setrlimit(resource.RLIMIT_CPU, before)
            for descriptor in more:
                os.close(descriptor)
            if report is not None and gate is not None:
                _open_gate(report, gate)
            return pid, report
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            problem = error
    raise problem


@contextlib.contextmanager
def _killed_before_the_arena() -> Iterator[None]:
    """A process that starts in this block is killed before the arena if the machine is short of memory, and so are its
    children. Every process may make itself the first to be killed, and go back again."""
    with open("/proc/self/oom_score_adj", "r+b", buffering=0) as file:
        before = file.read()
        file.write(b"1000")
        try:
            yield
        finally:
            file.write(before)


def _limit_leftovers() -> None:
    """Limit what could stay on the machine or in the kernel: core dumps, and descriptors, which hold memory that no
    process maps. The limit of core dumps is 1, because with 0 a crash still starts the system's program for them."""
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    descriptors = min(MOST_DESCRIPTORS // 2, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))


def _limit_user(request: StartRequest) -> None:
    """Limit what the kernel counts for each user: processes and threads, and signals that wait.

    It counts these for each user namespace as well (since Linux 5.14). It compares the number inside with the limit of
    the process, and the number of the whole user with the limit in force when the namespace was made. So without root,
    the limits stay as high as they can be until then, and `_open_gate` lowers them inside: otherwise one bot could use
    up what all of them have together."""
    if request.data and os.geteuid() != 0:
        for kind in _LIMITS_OF_USERS:
            resource.setrlimit(kind, (resource.getrlimit(kind)[1],) * 2)
    elif os.fsencode(OWN_USER) in request.command:
        for kind, most in _LIMITS_OF_USERS.items():
            _limit(0, kind, most)
    else:
        _limit_forks()


def _limit(pid: int, kind: int, most: int) -> None:
    """Lower a limit of a process, or of this one (0), so far that it is at most `most`."""
    hard = resource.prlimit(pid, kind)[1]
    lowest = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.prlimit(pid, kind, (lowest, lowest))


def _open_gate(report: int, gate: int) -> None:
    """Let bwrap run the bot, in its new namespaces and with its limits there. bwrap writes a line on `report` when it
    has made the namespaces, and then waits until `gate` is closed."""
    if os.geteuid() != 0 and (first := _first_process(report)):
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            for kind, most in _LIMITS_OF_USERS.items():
                _limit(first, kind, most)
    os.close(gate)
    os.set_blocking(report, False)


def _first_process(report: int) -> int | None:
    """The process that bwrap has started in the new namespaces; None if bwrap has failed."""
    said = b""
    while not said.endswith(b"\n"):
        if not (part := os.read(report, 1 << 10)):
            return None
        said += part
    return int(json.loads(said)["child-pid"])


def _limit_forks() -> None:
    """Limit the number of processes, so that the forks of a fork bomb fail before the system runs out of processes. The
    kernel counts all processes of the user against this limit, and ignores it for root."""
    with open("/proc/loadavg", "rb") as file:
        existing = int(file.read().split()[3].partition(b"/")[2])
    current = [limit for limit in resource.getrlimit(resource.RLIMIT_NPROC) if limit != resource.RLIM_INFINITY]
    lowest = min([existing + _SPARE_PROCESSES, *current])
    resource.setrlimit(resource.RLIMIT_NPROC, (lowest, lowest))


def _lower(limit: tuple[int, int], seconds: int) -> tuple[int, int]:
    """The (soft, hard) `limit` with the soft one lowered to `seconds`. The hard one stays, so that the keeper can raise
    the soft one again."""
    return (seconds if limit[1] == resource.RLIM_INFINITY else min(seconds, limit[1]), limit[1])


def _candidate_paths(request: StartRequest) -> list[bytes]:
    """Paths to try for the program: as given if it contains a slash, otherwise in the folders of the bot's own PATH."""
    name = request.command[0]
    if b"/" in name:
        return [name]
    folders = request.environment.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    return [os.path.join(folder, name) for folder in folders if os.path.exists(os.path.join(folder, name))]


def spawn(program: bytes, command: list[bytes], environment: Mapping[bytes, bytes], descriptors: Sequence[int]) -> int:
    """Start `program` in a session of its own, with `descriptors` as 0, 1, 2 and so on, and return its pid. Raises
    OSError. posix_spawn is faster than fork and exec."""
    number = str(OWN_USERS.start + os.getpid()).encode()
    command = [word.replace(b"\0", number) for word in command]  # of OWN_USER
    # Copies with high numbers, because to put one descriptor into its place must not overwrite another one.
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, len(descriptors)) for descriptor in descriptors]
    try:
        return os.posix_spawn(
            program,
            command,
            environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, each, place) for place, each in enumerate(high)],
            setsid=True,
            setsigmask=[],
            setsigdef=_RESET_SIGNALS,
        )
    finally:
        for each in high:
            os.close(each)


def file_with(data: bytes) -> int:
    """A descriptor from which `data` can be read."""
    descriptor = os.memfd_create("arena")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
