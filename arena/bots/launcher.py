"""The launcher: the process that keepers are forked from (see keeper.py). It imports little, so that this is quick.

If somebody kills a keeper, its bot's processes become children of this one, which kills all that is no keeper.

Only the standard library is used here, without site packages.
"""

import gc
import os
import select
import signal
import socket
import traceback
from collections.abc import Collection
from typing import Final

from arena.bots.keeper import keep, tell
from arena.bots.process_end import adopt_orphans, end_all_below, hurry
from arena.bots.process_tree import children_of

_SECONDS_FOR_STRANGERS: Final = 0.1  # at once, because others may be waiting for a keeper
_PAUSE: Final = 0.1  # seconds, while some are left
_DESCRIPTORS: Final = 4  # for a keeper: its socket, and the bot's stdin, stdout and stderr


def main() -> None:
    """Stdin is a socket: each message on it brings the descriptors for one keeper."""
    arena = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # keepers must not have the socket
    os.close(nothing)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # waited for with sigtimedwait
    adopt_orphans()
    hurry()
    gc.freeze()  # what is here already is not touched again, and so stays shared with all keepers
    keepers: dict[int, int] = {}  # pid by a descriptor that is readable once it has ended
    poll = select.poll()
    poll.register(arena, select.POLLIN)
    strangers = False
    while True:
        for descriptor, _ in poll.poll(_PAUSE * 1000 if strangers else None):
            if descriptor in keepers:
                _, status = os.waitpid(keepers.pop(descriptor), 0)
                strangers |= status != 0  # a keeper that leaves by itself leaves nobody behind
                poll.unregister(descriptor)
                os.close(descriptor)
                continue
            message, descriptors, _, _ = socket.recv_fds(arena, 16, _DESCRIPTORS)
            if not message:
                return
            if len(descriptors) != _DESCRIPTORS:  # the system had no room for all of them
                for each in descriptors:
                    os.close(each)
                continue
            if pid := _fork_keeper(descriptors, [arena.fileno(), *keepers]):
                keepers[watched := os.pidfd_open(pid)] = pid
                poll.register(watched, select.POLLIN)
        strangers = strangers and _end_strangers(set(keepers.values()))


def _fork_keeper(descriptors: list[int], ours: list[int]) -> int | None:
    """None if the machine has no room for it, which the arena is told. The keeper closes those that are ours."""
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)  # they come with the opposite
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
                os._exit(1)  # in no case back into the code of the launcher
    for descriptor in descriptors[1:]:
        os.close(descriptor)
    return pid


def _end_strangers(keepers: Collection[int]) -> bool:
    """Whether some are left."""

    def any_left() -> bool:
        for pid in children_of(os.getpid()):
            if pid not in keepers:
                os.waitpid(pid, os.WNOHANG)
        return any(pid not in keepers for pid in children_of(os.getpid()))

    return any_left() and not end_all_below(any_left, keepers, _SECONDS_FOR_STRANGERS)
