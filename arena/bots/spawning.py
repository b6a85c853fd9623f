"""Start the first process of a bot, with its limits and with exactly the descriptors that it shall have.

This module uses only the standard library, because keepers have nothing else.
"""

import errno
import fcntl
import marshal
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

# How many more processes and threads all bots together may have than existed when a bot started: plenty for bots, and
# few enough that the scheduler still gives the keeper its turn soon.
_SPARE_PROCESSES: Final = max(1024, 512 * (os.cpu_count() or 1))
MOST_DESCRIPTORS: Final = 512  # in a sandbox, of all processes together; each may have half of them
_MOST_SIGNALS: Final = 1024  # that wait in a sandbox
_RESET_SIGNALS: Final = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them, but others must not inherit that


class StartRequest(NamedTuple):
    """What the arena asks a keeper to start, and the limits to enforce."""

    command: list[bytes]
    cwd: bytes | None
    environment: dict[bytes, bytes]
    memory: int | None  # bytes
    cpu_seconds: int | None
    processes: int
    # In a sandbox (sandbox.py) the command is that of bwrap.
    data: list[bytes]  # what bwrap reads from descriptors 3, 4, …; it reports the exit of the bot on the one after them
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
    report, more = None, []
    if request.data:
        _limit_leftovers()
        report, theirs = os.pipe()
        os.set_blocking(report, False)
        more = [*map(file_with, request.data), theirs]
    before = resource.getrlimit(resource.RLIMIT_CPU)
    if request.cpu_seconds is not None:
        # A fallback for one process between two measurements: the sum of all processes usually reaches the limit first.
        resource.setrlimit(resource.RLIMIT_CPU, _lower(before, request.cpu_seconds + 1))
    _limit_forks()
    problem: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for program in _candidate_paths(request):
        try:
            pid = spawn(program, request.command, request.environment, [*streams, *more])
            resource.setrlimit(resource.RLIMIT_CPU, before)
            for descriptor in more:
                os.close(descriptor)
            return pid, report
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            problem = error
    raise problem


def _limit_leftovers() -> None:
    """Limit what could stay on the machine or in the kernel: core dumps, descriptors, which hold memory that no process
    maps, and signals that wait, which are counted for all programs of the user. The limit of core dumps is 1, because
    with 0 a crash still starts the system's program for them."""
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))
    descriptors = min(MOST_DESCRIPTORS // 2, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    signals = min(_MOST_SIGNALS, resource.getrlimit(resource.RLIMIT_SIGPENDING)[1])
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (signals, signals))


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
