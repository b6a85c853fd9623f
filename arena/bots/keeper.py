"""The keeper of a bot: a small process above each bot that starts it, watches it and ends all that it leaves behind.

Theory of operation. A bot may fork, leave its process group, and let its parents end: it then escapes whoever knows it
only by its number or its group. So each bot has a parent of its own that is a *subreaper*: a process below it whose
parent ends becomes its child, whatever that process has called. What is below the keeper is the bot, all of it and
nothing else, for counting and for killing alike, and nothing is left once the keeper has no child any more.

The keeper sets limits before the bot's program runs, and looks from time to time at what all processes together use. It
tells the arena (launch.py) through a socket: the start, a limit that was exceeded, the end of the bot's first process,
the end of all. When the arena closes its end, at the latest by dying, the keeper kills all and leaves.

Keepers are forked by one process (launcher.py), so that one costs a millisecond or two.

Only the standard library is used here, without site packages.
"""

import contextlib
import errno
import json
import marshal
import os
import resource
import select
import signal
import socket
import time
from typing import Any, Final, NamedTuple

from arena.bots.process_end import adopt_orphans, end_all_below, hurry, send_below
from arena.bots.process_tree import Process, below, count_below, memory_of

TERMINATE: Final = b"T"  # what the arena says after the request
KILL: Final = b"K"

_MOST_THREADS: Final = 1000  # of all processes: a few hundred in a large Java program, and far from what a machine has
_FIRST_PAUSE: Final = 0.002  # seconds before the first look; each pause is twice as long, up to the longest
_SHORTEST_PAUSE: Final = 0.02  # seconds between two looks, when a limit is near
_USUAL_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 0.25
_COUNTS_FOR_A_LOOK: Final = 5  # where only processes are limited, counting them quickly is enough most of the time
_TIMES_THE_LOOK: Final = 20  # a pause is that much longer than the look before it: sharing makes it slow to measure
_FASTEST_GROWTH: Final = 4 * 2**30  # bytes in a second; decides when a bot could reach its limit
# Processes and threads that all bots together may have more than there were when a bot started: many for bots, and few
# enough that the keeper gets its turn among them soon.
_ROOM: Final = max(1024, 512 * (os.cpu_count() or 1))
_RESET_SIGNALS: Final = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them; the bot shall not


class Request(NamedTuple):
    command: list[bytes]
    cwd: bytes | None
    environment: dict[bytes, bytes]
    memory: int | None  # bytes
    cpu_seconds: int | None
    processes: int

    def encoded(self) -> bytes:
        data = marshal.dumps(tuple(self))
        return len(data).to_bytes(4, "big") + data


def keep(control: socket.socket, streams: list[int]) -> None:
    adopt_orphans()
    hurry()
    if (request := _received(control)) is None:
        return  # the arena has died meanwhile
    try:
        pid = _start(request, streams)
    except OSError as error:
        tell(control, refused=error.errno)
        return
    for descriptor in streams:
        os.close(descriptor)
    tell(control, started=pid, keeper=os.getpid())
    Keeper(control, pid, request).run()


def _received(control: socket.socket) -> Request | None:
    data = b""
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        if not (part := control.recv(1 << 16)):
            return None
        data += part
    return Request(*marshal.loads(data[4:]))


def _start(request: Request, streams: list[int]) -> int:
    """The bot's first process. Raises OSError if the system does not start the program.

    posix_spawn starts a program more quickly than fork and exec; what it cannot set for the child alone is set for us.
    """
    if request.cwd is not None:
        os.chdir(request.cwd)
    before = resource.getrlimit(resource.RLIMIT_CPU)
    if request.cpu_seconds is not None:
        # For a process that is not looked at in time: all processes together reach their limit before.
        resource.setrlimit(resource.RLIMIT_CPU, _lower(before, request.cpu_seconds + 1))
    _leave_room()
    problem: OSError = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    for program in _places(request):
        try:
            pid = os.posix_spawn(
                program,
                request.command,
                request.environment,
                file_actions=[(os.POSIX_SPAWN_DUP2, stream, place) for place, stream in enumerate(streams)],
                setsid=True,
                setsigmask=[],
                setsigdef=_RESET_SIGNALS,
            )
            resource.setrlimit(resource.RLIMIT_CPU, before)
            return pid
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            problem = error
    raise problem


def _leave_room() -> None:
    """So that a bot that forks without end fails to before the system does. The system counts all processes of the user
    against this limit, and does not use it for root."""
    with open("/proc/loadavg", "rb") as file:
        there_are = int(file.read().split()[3].partition(b"/")[2])
    most = [limit for limit in resource.getrlimit(resource.RLIMIT_NPROC) if limit != resource.RLIM_INFINITY]
    least = min([there_are + _ROOM, *most])
    resource.setrlimit(resource.RLIMIT_NPROC, (least, least))


def _lower(limit: tuple[int, int], seconds: int) -> tuple[int, int]:
    """Only the limit that counts, so that it can be raised again."""
    return (seconds if limit[1] == resource.RLIM_INFINITY else min(seconds, limit[1]), limit[1])


def _places(request: Request) -> list[bytes]:
    """Where the program may be: in the folders of the bot's own PATH, unless it is named with its folder."""
    name = request.command[0]
    if b"/" in name:
        return [name]
    folders = request.environment.get(b"PATH", os.fsencode(os.defpath)).split(b":")
    return [os.path.join(folder, name) for folder in folders if os.path.exists(os.path.join(folder, name))]


def tell(control: socket.socket, **news: Any) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the arena has died, which ends us soon
        control.sendall(json.dumps(news).encode() + b"\n")


class Keeper:
    def __init__(self, control: socket.socket, pid: int, request: Request):
        self._control = control
        self._pid = pid
        self._memory, self._cpu, self._processes = request.memory, request.cpu_seconds, request.processes
        self._over = False
        self._looks = 0
        self._seen: dict[tuple[int, int], float] = {}  # seconds that a living process had used at the last look
        self._seen_seconds = 0.0  # used by all processes while they were looked at

    def run(self) -> None:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        ended = os.pidfd_open(self._pid)
        poll.register(ended, select.POLLIN)
        pause = _FIRST_PAUSE
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(pause * 1000)}
            if self._control.fileno() in ready:
                if self._heard() != TERMINATE:
                    break
                send_below(signal.SIGTERM)
            if ended in ready:
                poll.unregister(ended)
            self._any_left()
            before = time.monotonic()
            wanted = _LONGEST_PAUSE if self._over else self._look_if_possible()
            spared = _TIMES_THE_LOOK * (time.monotonic() - before)
            pause = min(2 * pause, max(wanted, spared), _LONGEST_PAUSE)
        end_all_below(self._any_left)
        tell(self._control, gone=True)

    def _heard(self) -> bytes:
        """Nothing if the arena has closed its end."""
        try:
            return self._control.recv(1)
        except ConnectionResetError:
            return b""

    def _any_left(self) -> bool:
        """Reaps what has ended, and tells of the bot's own process."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._pid:
                    self._pid = 0
                    if self._cpu is not None and not self._over:
                        self._check_cpu(below(os.getpid()))
                    tell(self._control, ended=os.waitstatus_to_exitcode(ended[1]))
            return True
        return False

    def _look_if_possible(self) -> float:
        """A machine that is out of something, descriptors for example, may have it again at the next look."""
        try:
            return self._look()
        except OSError:
            return _USUAL_PAUSE

    def _look(self) -> float:
        """At what all processes use. Returns the seconds until the next look."""
        self._looks += 1
        if count_below(os.getpid(), self._processes) > self._processes:  # where it matters there is no time for more
            self._end_for("processes", self._processes + 1, self._processes)
        if self._over or (self._memory is None and self._cpu is None and self._looks % _COUNTS_FOR_A_LOOK):
            return _USUAL_PAUSE
        processes = below(os.getpid(), enough=self._processes)
        threads = sum(process.threads for process in processes)
        if len(processes) > self._processes:
            self._end_for("processes", len(processes), self._processes)
        elif threads > _MOST_THREADS:
            self._end_for("threads", threads, _MOST_THREADS)
        if self._cpu is not None:
            self._check_cpu(processes)
        pause = _USUAL_PAUSE
        if self._memory is not None:
            used = memory_of(processes, self._memory)
            if used > self._memory:
                self._end_for("memory", used, self._memory)
            pause = min(_USUAL_PAUSE, max(_SHORTEST_PAUSE, (self._memory - used) / _FASTEST_GROWTH))
        return pause

    def _check_cpu(self, processes: list[Process]) -> None:
        """What ended processes used is known from whoever waited for them, unless they told the system not to be waited
        for. Therefore what was seen of each process while it lived is summed up as well."""
        assert self._cpu is not None
        waited = resource.getrusage(resource.RUSAGE_CHILDREN)
        known = waited.ru_utime + waited.ru_stime + sum(each.own_seconds + each.waited_seconds for each in processes)
        now = {(each.pid, each.born): each.own_seconds for each in processes}
        self._seen_seconds += sum(seconds - self._seen.get(key, 0.0) for key, seconds in now.items())
        self._seen = now
        used = max(known, self._seen_seconds)
        if used > self._cpu:
            self._end_for("cpu", used, self._cpu)

    def _end_for(self, limit: str, used: float, allowed: int) -> None:
        """Told before the killing, so that the arena knows why when it sees the end."""
        if not self._over:
            self._over = True
            tell(self._control, over=[limit, used, allowed])
            end_all_below(self._any_left)
