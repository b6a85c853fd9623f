"""Reports on their way from a worker to the owner of the tournament."""

import os
import socket

from arena.support.poll_loop import WRITABLE, PollLoop, Signal, Steps, Wait, waiting_for
from arena.worker.channel import packed
from arena.worker.job import Report


class Outbox:
    """Sends at once what the socket takes; a task of the loop sends the rest. The owner of a tournament that waits for
    a slow disk reads nothing, so whoever reports more than a little has to wait for `empty`."""

    def __init__(self, loop: PollLoop, owner: socket.socket):
        self._loop = loop
        self._owner = owner
        # The loop knows the other one as a descriptor to read from. This one is closed when the process ends.
        self._descriptor = os.dup(owner.fileno())
        self._unsent = bytearray()
        self._drained: Signal | None = None  # while something is unsent

    @property
    def is_empty(self) -> bool:
        return self._drained is None

    def send(self, report: Report) -> None:
        self._unsent += packed(report)
        if self._drained is None and not self._send_some():
            self._drained = self._loop.signal()
            self._loop.start(self._send_rest(self._drained))

    def empty(self) -> Steps[None]:
        """Wait until everything is sent."""
        if self._drained is not None:
            yield from waiting_for(self._drained)

    def _send_some(self) -> bool:
        """Send what can be sent now. Returns whether that is all."""
        try:
            del self._unsent[: self._owner.send(self._unsent)]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            self._unsent.clear()  # the owner is gone, and the worker is about to notice
        return not self._unsent

    def _send_rest(self, drained: Signal) -> Steps[None]:
        while not self._send_some():
            yield Wait(self._descriptor, WRITABLE)
        self._drained = None
        drained.set()
