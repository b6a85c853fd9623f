"""The Dask task that plays matches on a machine of the cluster.

Theory of operation. The task owns a worker process (arena/worker/worker.py) and carries bytes: what the worker reports
goes to the owner of the tournament as events of a Dask topic, and what the owner orders, which arrives by `deliver`,
goes to the worker. It understands neither. The worker and its bots live as long as the task, which runs until
the owner hangs up or Dask no longer wants its result, because the owner is gone, has released the task, or the
scheduler is lost. If the Dask worker is killed, the kernel kills the worker process and the keepers kill the bots, as
on the machine of the owner.

Dask runs a task again elsewhere if its worker died. Its worker is another one with another name, and has nothing to
play until the owner, who gives each deal to one worker only, sends it something.
"""

import logging
import math
import select
import socket
import time
import uuid
from threading import Lock
from typing import Any, Final

from distributed import get_worker

from arena.cluster.packed_folder import discard
from arena.processes.process_state import exit_words
from arena.worker.worker_process import END_SECONDS, WorkerProcess

TOPIC: Final = "schotten-arena"  # one for all tournaments: a scheduler keeps the latest events of each topic
_CHUNK: Final = 1 << 16
_PAUSE: Final = 0.1  # seconds between two events: a Dask event costs much more than a report
_LOOK: Final = 0.2  # seconds between two looks whether the task is still wanted
_PLAYING: Final = ("executing", "long-running")  # states of a task that Dask has not given up


class _Orders:
    """What was delivered and not yet passed on to the worker process."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._lock = Lock()
        self._data = bytearray()
        self._hung_up = False
        self.bell, self._button = socket.socketpair()  # readable when something was delivered

    def put(self, data: bytes) -> None:
        with self._lock:
            self._data += data
            self._hung_up = self._hung_up or not data
        self._button.send(b"!")

    def take(self) -> tuple[bytes, bool]:
        """What is new, and whether the owner has hung up."""
        self.bell.recv(_CHUNK)
        with self._lock:
            data, self._data = bytes(self._data), bytearray()
            return data, self._hung_up

    def close(self) -> None:
        self.bell.close()
        self._button.close()


class _NoDeliveries(logging.Filter):
    """Dask logs each call of `deliver`; there may be hundreds in a second."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (isinstance(record.args, tuple) and record.args[:1] == ("deliver",))


logging.getLogger("distributed.worker").addFilter(_NoDeliveries())
_orders: Final[dict[str, _Orders]] = {}  # of this Dask worker, by name


def deliver(worker: str, data: bytes) -> bool:
    """Pass orders on to a worker of this Dask worker; without any data, hang up. Returns False if it is gone."""
    orders = _orders.get(worker)
    if orders is not None:
        orders.put(data)
    return orders is not None


def play_task(run: str, task: str) -> None:
    """The task. Its result says nothing: everything was reported before."""
    running = _TaskRun(run, task)
    try:
        with WorkerProcess() as process:
            running.tell("ready", b"")
            running.play(process)
    except OSError as error:
        running.tell("end", f"could not be started ({error.strerror})".encode())
    finally:
        running.close()


class _TaskRun:
    def __init__(self, run: str, task: str):
        self._worker: Any = get_worker()
        self._key = self._worker.get_current_task()
        self._head = [run, task, uuid.uuid4().hex, self._worker.address]
        self._name = self._head[2]
        self._count = 0  # events so far
        self._last = 0.0  # when the last one was sent
        self._orders = _orders[self._name] = _Orders(run)

    def close(self) -> None:
        """Tidy up. If the owner is gone, nobody else removes what was sent for the run."""
        del _orders[self._name]
        self._orders.close()
        if not self._is_wanted() and not any(other.run == self._orders.run for other in _orders.values()):
            discard(self._orders.run)

    def tell(self, kind: str, data: bytes) -> None:
        """Send an event to the owner. The number lets the owner notice that one is missing."""
        self._worker.log_event(TOPIC, [*self._head, self._count, kind, data])
        self._count += 1
        self._last = time.monotonic()

    def play(self, process: WorkerProcess) -> None:
        """Carry orders and reports until the worker process is gone."""
        process.socket.setblocking(False)
        poll = select.poll()
        poll.register(process.socket, select.POLLIN)
        poll.register(self._orders.bell, select.POLLIN)
        unsent, is_over, kill_at = b"", False, math.inf  # what is left of the orders; whether there are no more
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(_LOOK * 1000)}
            if self._orders.bell.fileno() in ready:
                data, is_over = self._orders.take()
                unsent += data
            if unsent:
                unsent = _sent(process.socket, unsent)
            if kill_at == math.inf and ((is_over and not unsent) or not self._is_wanted()):
                process.hang_up()
                kill_at = time.monotonic() + END_SECONDS
            if process.socket.fileno() in ready and not self._pass_on(process.socket):
                break
            if time.monotonic() > kill_at:
                process.kill()
        self.tell("end", f"ended ({exit_words(process.wait())})".encode())

    def _pass_on(self, reports: socket.socket) -> bool:
        """Send what the worker process reports, together with what it reports within a moment. Returns False at the
        end."""
        time.sleep(max(0.0, self._last + _PAUSE - time.monotonic()))
        data = bytearray()
        while True:
            try:
                part = reports.recv(_CHUNK)
            except BlockingIOError:
                break
            except ConnectionResetError:
                part = b""
            if not part:
                if data:
                    self.tell("data", bytes(data))
                return False
            data += part
        if data:
            self.tell("data", bytes(data))
        return True

    def _is_wanted(self) -> bool:
        """Whether Dask still wants the result. Dask tells a running task in no other way that it was released: what its
        documentation of workers shows of their state is the only place, and this is the only use of it."""
        task = self._worker.state.tasks.get(self._key)
        return task is not None and task.state in _PLAYING and self._worker.status.name == "running"


def _sent(orders: socket.socket, data: bytes) -> bytes:
    """Send what the socket takes. Returns the rest; nothing if the worker process is gone."""
    try:
        return data[orders.send(data) :]
    except BlockingIOError:
        return data
    except OSError:
        return b""
