"""The launcher: the process that forks keepers (see keeper.py). It imports little, so that forking is quick.

If a keeper is killed, its bot's processes become children of the launcher, which kills every child that is not a
keeper. When the arena closes its end of the socket, or dies, the launcher kills all that is left, and exits. That bwrap
ends with its parent is not enough: in its first milliseconds, the first process inside of a sandbox does not.

This module uses only the standard library, because it runs without site packages.
"""

import gc
import os
import select
import signal
import socket
import traceback
from collections.abc import Collection
from typing import Final

from arena.processes.keeper import keep, tell
from arena.processes.process_end import adopt_orphans, kill_descendants, raise_priority
from arena.processes.process_tree import children_of

_SECONDS_FOR_STRANGERS: Final = 0.1  # per attempt, because other bots may be waiting for a keeper
_PAUSE: Final = 0.1  # seconds between attempts
_DESCRIPTORS: Final = 4  # for a keeper: its socket, and the bot's stdin, stdout and stderr


def main() -> None:
    """Fork a keeper for each message on stdin, which is a socket; a message carries the descriptors for one keeper."""
    arena = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # keepers must not inherit the socket
    os.close(nothing)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # received by sigtimedwait instead
    adopt_orphans()
    raise_priority()
    gc.freeze()  # the collector then leaves existing objects alone, so their memory stays shared with all keepers
    keepers: dict[int, int] = {}  # pidfd, which becomes readable when the keeper exits, to pid
    poll = select.poll()
    poll.register(arena, select.POLLIN)
    strangers = False
    while True:
        for descriptor, _ in poll.poll(_PAUSE * 1000 if strangers else None):
            if descriptor in keepers:
                os.waitpid(keepers.pop(descriptor), 0)
                strangers = True  # perhaps; whatever its exit status, to look is quick
                poll.unregister(descriptor)
                os.close(descriptor)
                continue
            message, descriptors, _, _ = socket.recv_fds(arena, 16, _DESCRIPTORS)
            if not message:
                kill_descendants(_any_left)  # keepers, too: each may have been killed just now
                return
            if len(descriptors) != _DESCRIPTORS:  # this process ran out of descriptors
                for each in descriptors:
                    os.close(each)
                continue
            if pid := _fork_keeper(descriptors, [arena.fileno(), *keepers]):
                keepers[watched := os.pidfd_open(pid)] = pid
                poll.register(watched, select.POLLIN)
        strangers = strangers and _end_strangers(set(keepers.values()))


def _fork_keeper(descriptors: list[int], ours: list[int]) -> int | None:
    """Fork a keeper and return its pid. If the system cannot fork, report that to the arena and return None. `ours` are
    descriptors of the launcher, which the keeper closes."""
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # recv_fds makes them inheritable
    with socket.socket(fileno=descriptors[0]) as control:
        try:
            pid = os.fork()
        except OSError as error:
            tell(control, failed=error.errno)
            pid = None
        if pid == 0:
            try:
                for descriptor in ours:
                    os.close(descriptor)
                keep(control, descriptors[1:])
                os._exit(0)
            except Exception:
                tell(control, bug=traceback.format_exc())
            finally:
                os._exit(1)  # never return into the code of the launcher
    for descriptor in descriptors[1:]:
        os.close(descriptor)
    return pid


def _end_strangers(keepers: Collection[int]) -> bool:
    """Kill all children that are not keepers, for a moment, and return whether any are left."""
    return not kill_descendants(lambda: _any_left(keepers), keepers, _SECONDS_FOR_STRANGERS)


def _any_left(keepers: Collection[int] = ()) -> bool:
    """Reap the children that are not keepers and have exited, and return whether there are others."""
    for pid in children_of(os.getpid()):
        if pid not in keepers:
            os.waitpid(pid, os.WNOHANG)
    return any(pid not in keepers for pid in children_of(os.getpid()))
