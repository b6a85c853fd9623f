"""The keeper of a bot: a small parent process that starts the bot, watches it and kills every process it leaves behind.

Theory of operation. A bot may fork, leave its process group, and let the parents of its processes exit: a caller that
knows only its process id or its group then loses track of it. So each bot gets a parent of its own that is a
*subreaper*: when the parent of any process below the keeper exits, that process becomes the keeper's child, whatever
system calls it has made. The descendants of the keeper are therefore exactly the bot, for counting and for killing
alike, and nothing of the bot is left once the keeper has no children.

The keeper sets limits before the bot's program runs, and regularly measures what all its processes use together. It
reports to the arena (launch.py) through a socket: the start, an exceeded limit, the exit of the bot's first process,
and the end of all processes. When the arena closes its end of the socket, or dies, the keeper kills all and exits.

Keepers are forked by one process (launcher.py), so that each costs only a millisecond or two.

This module uses only the standard library, because it runs without site packages.
"""

import contextlib
import json
import marshal
import math
import os
import resource
import select
import signal
import socket
import time
from typing import Any, Final

from arena.processes.memory_watch import MemoryWatch, oom_kills
from arena.processes.process_end import adopt_orphans, kill_descendants, raise_priority, signal_descendants
from arena.processes.process_tree import (
    ProcessInfo,
    children_of,
    count_descendants,
    descendants,
    descriptors_of,
    hidden_among,
    sockets_beside,
    watches_of,
)
from arena.sandbox.spawning import MOST_DESCRIPTORS, StartRequest, start

TERMINATE: Final = b"T"  # sent by the arena after the request
KILL: Final = b"K"

_MOST_THREADS: Final = 1000  # in all processes: a large Java program has a few hundred, a machine allows far more
_FIRST_PAUSE: Final = 0.002  # seconds before the first measurement; each pause is twice the one before, up to a limit
_SHORTEST_PAUSE: Final = 0.02  # seconds between two measurements when a limit is near
_USUAL_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 0.25
_COUNTS_PER_MEASUREMENT: Final = 5  # if only processes are limited, a quick count is enough most of the time
_PAUSE_PER_MEASUREMENT: Final = 20  # times the length of the last measurement, as far as the longest pause allows
_FASTEST_GROWTH: Final = 4 * 2**30  # bytes per second; decides how soon a bot could reach its limit
_WRITABLE: Final = ("tmp", "dev/shm")  # folders of a sandbox
_BYTES_PER_FILE: Final = 1024  # of scratch; about what the kernel needs for an empty file
# After the kernel has killed a process for its memory, which may take long to be given back. A bot cannot blame a later
# death on it, though it may know of it.
_DYING_SECONDS: Final = 5.0
_SHELL_SIGNAL: Final = 128  # bwrap reports a signal as this plus its number, as a shell does


def keep(control: socket.socket, streams: list[int]) -> None:
    """The life of a keeper: read the request from `control`, start the bot on `streams`, watch it until the end."""
    adopt_orphans()
    raise_priority()
    if (request := _received(control)) is None:
        return  # the arena died in the meantime
    try:
        pid, report = start(request, streams)
    except OSError as error:
        tell(control, refused=error.errno)
        return
    for descriptor in streams:
        os.close(descriptor)
    tell(control, started=pid, keeper=os.getpid())
    Keeper(control, pid, request, report).run()


def _received(control: socket.socket) -> StartRequest | None:
    data = b""
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        if not (part := control.recv(1 << 16)):
            return None
        data += part
    return StartRequest(*marshal.loads(data[4:]))


def tell(control: socket.socket, **news: Any) -> None:
    """Report to the arena: one JSON object on a line."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the arena died; the keeper will notice and exit
        control.sendall(json.dumps(news).encode() + b"\n")


class Keeper:
    """Watches a running bot, enforces its limits, and obeys the arena's TERMINATE and KILL."""

    def __init__(self, control: socket.socket, pid: int, request: StartRequest, report: int | None):
        self._control = control
        self._pid = pid
        self._report = report
        self._memory = None if request.memory is None else MemoryWatch(request.memory)
        self._cpu = request.cpu_seconds
        self._processes, self._own_processes = request.processes, request.own_processes
        self._scratch = request.scratch
        self._oom_kills = oom_kills()
        self._oom_killed_at = -math.inf  # when that was seen to rise
        self._over = False
        self._measurements = 0
        self._seen: dict[tuple[int, int], float] = {}  # seconds that each live process had used when last measured
        self._seen_seconds = 0.0  # total over all processes, as far as measurements saw it

    def run(self) -> None:
        """Watch the bot until the arena sends KILL or closes its end; then kill what is left and report that."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        ended = os.pidfd_open(self._pid)
        poll.register(ended, select.POLLIN)
        pause = _FIRST_PAUSE
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(pause * 1000)}
            if self._control.fileno() in ready:
                if self._read_command() != TERMINATE:
                    break
                # Not bwrap itself, because its end would kill the whole sandbox at once.
                signal_descendants(signal.SIGTERM, root=self._pid if self._report else None)
            if ended in ready:
                poll.unregister(ended)
            self._any_left()
            before = time.monotonic()
            wanted = _LONGEST_PAUSE if self._over else self._try_to_measure()
            affordable = _PAUSE_PER_MEASUREMENT * (time.monotonic() - before)
            pause = min(2 * pause, max(wanted, affordable), _LONGEST_PAUSE)
        kill_descendants(self._any_left)
        tell(self._control, gone=True)

    def _read_command(self) -> bytes:
        """The arena's next command; b"" if the arena has closed its end."""
        try:
            return self._control.recv(1)
        except ConnectionResetError:
            return b""

    def _any_left(self) -> bool:
        """Reap exited children, report the exit of the bot's first process, and return whether any child is left."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._pid:
                    self._pid = 0
                    if self._cpu is not None and not self._over:
                        self._check_cpu(descendants(os.getpid()))
                    self._tell_end(os.waitstatus_to_exitcode(ended[1]))
            return True
        return False

    def _look_for_oom_kills(self) -> None:
        if (count := oom_kills()) != self._oom_kills:
            self._oom_kills, self._oom_killed_at = count, time.monotonic()

    def _try_to_measure(self) -> float:
        """Like `_measure`, but an OSError is not fatal: a machine that ran out of a resource, for example descriptors,
        may have it again at the next measurement."""
        try:
            self._look_for_oom_kills()
            return self._measure()
        except OSError:
            return _USUAL_PAUSE

    def _measure(self) -> float:
        """Compare what all processes use with the limits. Returns the seconds until the next measurement."""
        self._measurements += 1
        most = self._processes + self._own_processes
        if count_descendants(os.getpid(), most) > most:  # a fork bomb leaves no time
            self._end_for("processes", self._processes + 1, self._processes)
        only_count = self._memory is None and self._cpu is None and self._measurements % _COUNTS_PER_MEASUREMENT
        if self._over or only_count:
            return _USUAL_PAUSE
        processes = descendants(os.getpid(), enough=most)
        threads = sum(process.threads for process in processes)
        if len(processes) > most:
            self._end_for("processes", len(processes) - self._own_processes, self._processes)
        elif threads > _MOST_THREADS:
            self._end_for("threads", threads, _MOST_THREADS)
        if self._cpu is not None:
            self._check_cpu(processes)
        pause = _USUAL_PAUSE
        if self._memory is not None:
            most, used = self._memory.most, self._memory.used(processes)
            if used > most:
                self._end_for("memory", used, most)
            pause = min(_USUAL_PAUSE, max(_SHORTEST_PAUSE, (most - used) / _FASTEST_GROWTH))
        if self._report is not None:
            self._check_sandbox(processes)
        return pause

    def _check_cpu(self, processes: list[ProcessInfo]) -> None:
        """End the bot if it exceeded its processor time. The kernel adds the time of an exited process to the parent
        that waits for it, but loses it if the parent ignores SIGCHLD. So the keeper also sums up what it saw each
        process use while it was alive, and takes the larger figure."""
        assert self._cpu is not None
        waited = resource.getrusage(resource.RUSAGE_CHILDREN)
        known = waited.ru_utime + waited.ru_stime + sum(each.own_seconds + each.waited_seconds for each in processes)
        now = {(each.pid, each.born): each.own_seconds for each in processes}
        self._seen_seconds += sum(seconds - self._seen.get(key, 0.0) for key, seconds in now.items())
        self._seen = now
        used = max(known, self._seen_seconds)
        if used > self._cpu:
            self._end_for("cpu", used, self._cpu)

    def _check_sandbox(self, processes: list[ProcessInfo]) -> None:
        """End the bot if it keeps memory where no process maps it, or takes what all programs of its user share."""
        try:
            self._check_files()
        except PermissionError as error:
            raise RuntimeError("the keeper cannot look into the sandbox of its bot; it needs CAP_SYS_PTRACE") from error
        sockets = max((sockets_beside(first) for first in children_of(self._pid)), default=0)
        if (open_now := max(descriptors_of(processes), sockets)) > MOST_DESCRIPTORS:
            self._end_for("descriptors", open_now, MOST_DESCRIPTORS)
        elif (watches := watches_of(processes, MOST_DESCRIPTORS)) > MOST_DESCRIPTORS:
            self._end_for("watches", watches, MOST_DESCRIPTORS)
        elif hidden := hidden_among(processes):
            self._end_for("hidden processes", hidden, 0)

    def _check_files(self) -> None:
        """End the bot if it made too many files in its sandbox: a tmpfs limits their bytes, but not their number, and
        the kernel needs memory for each."""
        most = self._scratch // _BYTES_PER_FILE
        for first in children_of(self._pid):
            for folder in _WRITABLE:
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # not made yet, or ended just now
                    system = os.statvfs(f"/proc/{first}/root/{folder}")
                    files = system.f_files - system.f_ffree
                    is_its_own = system.f_blocks * system.f_frsize < self._scratch + system.f_frsize  # not the host's
                    if is_its_own and files > most:
                        self._end_for("files", files, most)

    def _tell_end(self, status: int) -> None:
        """Report the exit of the bot's first process. In a sandbox that is bwrap, which passes on the status of the
        bot's program."""
        ran = True
        if self._report is not None and status >= 0:
            ran = b"exit-code" in _read_all(self._report)
            status = _SHELL_SIGNAL - status if _SHELL_SIGNAL < status < _SHELL_SIGNAL + signal.NSIG else status
        tell(self._control, ended=status, ran=ran, oom=self._was_killed_by_kernel(status))

    def _was_killed_by_kernel(self, status: int) -> bool:
        """Whether the kernel may have killed the bot because the machine, not the bot, was short of memory. It does not
        say whom it killed, only how many processes."""
        by_a_shell = _SHELL_SIGNAL + signal.SIGKILL  # how a script reports the end of the program that it started
        self._look_for_oom_kills()
        is_recent = time.monotonic() - self._oom_killed_at < _DYING_SECONDS
        if status not in (-signal.SIGKILL, by_a_shell) or self._over or not is_recent:
            return False
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024  # of its processes, at any time
        if self._memory is not None and largest > self._memory.most:
            self._end_for("memory", largest, self._memory.most)
            return False
        return True

    def _end_for(self, limit: str, used: float, allowed: int) -> None:
        """Report the exceeded limit, then kill the bot: in this order, so that the arena knows the reason for the
        exit."""
        if not self._over:
            self._over = True
            tell(self._control, over=[limit, used, allowed])
            kill_descendants(self._any_left)


def _read_all(descriptor: int) -> bytes:
    """What can be read from a non-blocking descriptor."""
    data = b""
    with contextlib.suppress(BlockingIOError):
        while part := os.read(descriptor, 1 << 12):
            data += part
    return data
