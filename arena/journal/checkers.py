"""Check the rounds of a journal on all cores.

Theory of operation. This process reads the lines and passes rounds on in batches; workers, processes of the same
program, check them (round_check.py) and answer with what they found. Answers are used in the order of the lines, so
nothing that depends on the order is different from checking here, and only a few batches are in memory. A thread for
each worker writes a batch and then reads the answer: neither side ever waits for the other to read.

Workers keep no state. One that is killed costs only time: its batch is checked here. They end when their stdin ends,
which the system sees to however this process ends; and they are in a session of their own, because Ctrl-C is meant for
this process.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from subprocess import PIPE
from typing import Final

import msgspec

from arena.journal.lines import Entry, RoundLine
from arena.journal.round_check import RoundCheck, check_round

Worker = subprocess.Popen[bytes]
Checked = tuple[Entry, RoundCheck | None]  # None if the line is not a round

_WORTH_WORKERS: Final = 2_000_000  # bytes of journals; to check fewer takes no longer than to start workers
_BATCH: Final = 100  # lines: less than a tenth of a second of work
_BATCH_BYTES: Final = 1 << 20  # the batch ends with the line that reaches this
_BATCHES_AHEAD: Final = 2  # for each worker: one that it checks, and one that waits for it
# The worker finds its modules where this process found them.
_CODE: Final = "import sys; sys.path[:] = sys.argv[1:]; from arena.journal.checkers import work; work()"

_decode_round = msgspec.json.Decoder(RoundLine).decode
_decode_answer = msgspec.json.Decoder(list[RoundCheck]).decode


def worth_workers(paths: Sequence[Path]) -> int:
    """How many workers are best for these journals; 0 means to check here. Raises OSError."""
    cores = len(os.sched_getaffinity(0))
    return cores if cores > 1 and sum(path.stat().st_size for path in paths) >= _WORTH_WORKERS else 0


def check_all(entries: Iterable[Entry], workers: int) -> Generator[Checked, None, None]:
    """Yield the entries in their order, the rounds with what was found in them. With workers, each entry must have its
    line in `raw`. Close the iterator to end the workers early."""
    if processes := _started(workers):
        with contextlib.closing(_Workers(processes)) as started:
            yield from started.check(entries)
    else:
        for entry in entries:
            yield entry, check_round(entry.line) if type(entry.line) is RoundLine else None


def _started(count: int) -> list[Worker]:
    """This many workers, or fewer if the system does not allow more processes."""
    command = [sys.executable, "-P", "-c", _CODE, *sys.path]
    workers: list[Worker] = []
    with contextlib.suppress(OSError):
        for _ in range(count):
            workers.append(subprocess.Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True))
    return workers


class _Workers:
    def __init__(self, processes: list[Worker]):
        self._processes = processes
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

    def check(self, entries: Iterable[Entry]) -> Iterator[Checked]:
        waiting: deque[tuple[list[Entry], Future[Iterator[RoundCheck]]]] = deque()
        for batch in _batches(entries):
            rounds = [entry.raw for entry in batch if type(entry.line) is RoundLine]
            waiting.append((batch, self._threads.submit(self._ask, rounds)))
            if len(waiting) > self._ahead:
                yield from _joined(*waiting.popleft())
        while waiting:
            yield from _joined(*waiting.popleft())

    def _ask(self, lines: list[bytes]) -> Iterator[RoundCheck]:
        """Have a worker check these lines."""
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
            return iter(_decode_answer(answer))
        return map(_check_line, lines)  # the worker was killed


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    size = 0
    for entry in entries:
        batch.append(entry)
        size += len(entry.raw)
        if len(batch) == _BATCH or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def _joined(batch: list[Entry], checks: "Future[Iterator[RoundCheck]]") -> Iterator[Checked]:
    found = checks.result()
    for entry in batch:
        yield entry, next(found) if type(entry.line) is RoundLine else None


def _check_line(line: bytes) -> RoundCheck:
    return check_round(_decode_round(line))


def work() -> None:
    """What a worker does until its stdin ends: read batches, each a number and as many lines, and answer each with one
    line."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # nobody is left to hear of an error
    while head := sys.stdin.buffer.readline():
        lines = [sys.stdin.buffer.readline() for _ in range(int(head))]
        if not all(line.endswith(b"\n") for line in lines):
            return
        sys.stdout.buffer.write(msgspec.json.encode(list(map(_check_line, lines))) + b"\n")
        sys.stdout.buffer.flush()
