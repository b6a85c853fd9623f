"""Reports on their way from a worker to the owner of the tournament."""

import contextlib
import os
import socket
from typing import Final

from arena.support.poll_loop import WRITABLE, PollLoop, Signal, Steps, Wait, waiting_for
from arena.worker.channel import packed
from arena.worker.job import Report

_MUCH: Final = 1 << 18  # bytes: some dozens of rounds


class Outbox:
    """Collects what is reported before the loop waits again, and sends it together. If the owner of the tournament
    reads nothing because it waits for a slow disk, whoever reports more waits for `room`."""

    def __init__(self, loop: PollLoop, owner: socket.socket):
        self._loop = loop
        self._owner = owner
        # The loop knows the other one as a descriptor to read from. This one is closed when the process ends.
        self._descriptor = os.dup(owner.fileno())
        self._unsent = bytearray()
        self._sent: Signal | None = None  # while a task is about to send the rest

    @property
    def is_full(self) -> bool:
        return len(self._unsent) > _MUCH

    def send(self, report: Report) -> None:
        """Send a report soon."""
        self._unsent += packed(report)
        if self._sent is None:
            self._sent = self._loop.signal()
            self._loop.start(self._send_all(self._sent))

    def flush(self) -> None:
        """Send now what the socket takes."""
        if not self._unsent:
            return
        try:
            del self._unsent[: self._owner.send(self._unsent)]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            self._unsent.clear()  # the owner is gone, and the worker is about to notice

    def room(self) -> Steps[None]:
        """Wait until the owner reads again, if it does not."""
        if self.is_full and self._sent is not None:
            yield from waiting_for(self._sent)

    def sent(self) -> Steps[None]:
        """Send everything now, and wait while the owner does not read."""
        self.flush()
        if self._unsent and self._sent is not None:
            yield from waiting_for(self._sent)

    def finish(self) -> None:
        """Send what is left before the process ends. The owner reads until then, or is gone."""
        self._owner.setblocking(True)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._owner.sendall(self._unsent)
        self._unsent.clear()

    def _send_all(self, sent: Signal) -> Steps[None]:
        self.flush()
        while self._unsent:
            yield Wait(self._descriptor, WRITABLE)
            self.flush()
        self._sent = None
        sent.set()
