"""Compute something for each round of a journal, on all cores.

Theory of operation. This process reads the lines and passes rounds on in batches; workers, processes of the same
program, compute the task and answer with what they found. Answers are used in the order of the lines, so nothing that
depends on the order is different from computing here, and only a few batches are in memory. A thread for each worker
writes a batch and then reads the answer: neither side ever waits for the other to read.

Workers keep no state. One that is killed costs only time: its batch is computed here. They end when their stdin ends,
which the system sees to however this process ends; and they are in a session of their own, because Ctrl-C is meant for
this process.
"""

import contextlib
import importlib
import os
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from subprocess import PIPE
from typing import Any, Final, Generic, TypeVar

import attrs
import msgspec

from arena.journal.lines import JournalEntry, RoundLine
from arena.support.signals import interrupts_held

A = TypeVar("A")
Worker = subprocess.Popen[bytes]

_BATCH_BYTES: Final = 1 << 20  # the batch ends with the line that reaches this
_BATCHES_AHEAD: Final = 2  # for each worker: one that it computes, and one that waits for it
# The worker finds its modules where this process found them.
_CODE: Final = "import sys; sys.path[:] = sys.argv[2:]; from arena.journal.line_workers import work; work(sys.argv[1])"

_decode_round = msgspec.json.Decoder(RoundLine).decode


@attrs.frozen
class RoundTask(Generic[A]):
    """What is to be computed for each round: a function of a module that a worker can import, and of the round and
    these arguments alone."""

    function: Callable[..., A]  # called with a RoundLine and the arguments
    answer: type[A]  # what it returns, as JSON can carry it
    arguments: tuple[str, ...] = ()
    batch: int = 100  # rounds: best a tenth of a second of work

    def of(self, line: bytes) -> A:
        return self.function(_decode_round(line), *self.arguments)

    @property
    def words(self) -> str:
        """The task as a worker's argument."""
        name = (self.function.__module__, self.function.__qualname__, *self.arguments)
        return msgspec.json.encode(name).decode()


def cores() -> int:
    """How many workers can be of use; 0 if that would be one, because this process can do its work as well."""
    found = len(os.sched_getaffinity(0))
    return found if found > 1 else 0


def answers(
    entries: Iterable[JournalEntry], task: RoundTask[A], workers: int
) -> Generator[tuple[JournalEntry, A | None], None, None]:
    """Yield the entries in their order, the rounds with their answer, others with None. With workers, each entry must
    have its line in `raw`. Close the iterator to end the workers early."""
    if processes := _started(workers, task.words):
        with contextlib.closing(_Workers(processes, task)) as started:
            yield from started.compute(entries)
    else:
        for entry in entries:
            is_round = isinstance(entry.line, RoundLine)
            yield entry, task.function(entry.line, *task.arguments) if is_round else None


def _started(count: int, task: str) -> list[Worker]:
    """This many workers, or fewer if the system does not allow more processes."""
    command = [sys.executable, "-P", "-c", _CODE, task, *sys.path]
    workers: list[Worker] = []
    with contextlib.suppress(OSError):
        for _ in range(count):
            workers.append(subprocess.Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True))
    return workers


class _Workers(Generic[A]):
    def __init__(self, processes: list[Worker], task: RoundTask[A]):
        self._processes = processes
        self._task = task
        with interrupts_held():
            self._decode_answer = msgspec.json.Decoder(list[task.answer]).decode  # type: ignore[name-defined]
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for process in processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(len(processes))
        self._ahead = _BATCHES_AHEAD * len(processes)

    def close(self) -> None:
        for process in self._processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            with contextlib.suppress(BrokenPipeError), process:  # it may not have read its last batch
                pass

    def compute(self, entries: Iterable[JournalEntry]) -> Iterator[tuple[JournalEntry, A | None]]:
        waiting: deque[tuple[list[JournalEntry], Future[Iterator[A]]]] = deque()
        for batch in _batches(entries, self._task.batch):
            rounds = [entry.raw for entry in batch if isinstance(entry.line, RoundLine)]
            waiting.append((batch, self._threads.submit(self._ask, rounds)))
            if len(waiting) > self._ahead:
                yield from _joined(*waiting.popleft())
        while waiting:
            yield from _joined(*waiting.popleft())

    def _ask(self, lines: list[bytes]) -> Iterator[A]:
        """Have a worker compute the answers for these lines."""
        process = self._idle.get()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(b"".join([b"%d\n" % len(lines), *lines]))
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        finally:
            self._idle.put(process)
        if answer.endswith(b"\n"):
            return iter(self._decode_answer(answer))
        return map(self._task.of, lines)  # the worker was killed


def _batches(entries: Iterable[JournalEntry], most: int) -> Iterator[list[JournalEntry]]:
    batch: list[JournalEntry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry.raw)
        if len(batch) == most or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _joined(batch: list[JournalEntry], found: "Future[Iterator[A]]") -> Iterator[tuple[JournalEntry, A | None]]:
    answers = found.result()
    for entry in batch:
        yield entry, next(answers) if isinstance(entry.line, RoundLine) else None


def work(words: str) -> None:
    """What a worker does until its stdin ends: read batches, each a number and as many lines, and answer each with one
    line."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # nobody is left to hear of an error
    module, name, *arguments = msgspec.json.decode(words)
    task: RoundTask[Any] = RoundTask(getattr(importlib.import_module(module), name), object, tuple(arguments))
    while head := sys.stdin.buffer.readline():
        lines = [sys.stdin.buffer.readline() for _ in range(int(head))]
        if not all(line.endswith(b"\n") for line in lines):
            return
        sys.stdout.buffer.write(msgspec.json.encode(list(map(task.of, lines))) + b"\n")
        sys.stdout.buffer.flush()
