"""Keep stdout and stderr from stopping what is played: a log that cannot be written is given up, the tournament is not.

The reader of a pipe may go, the disk of a log may be full, a terminal may be gone. Each further line is tried again, so
that a log goes on when its disk has room again.

Nobody may read a pipe, or a terminal after Ctrl-S. Therefore a thread writes, and only the thread waits for the reader.
Both streams share it, so that their lines stay in order.
"""

import contextlib
import io
import json
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Thread
from typing import Any, Final, TextIO

from arena.journal.file import beside
from arena.support.output import AT_ONCE, descriptor_of, is_ready, silence
from arena.support.text import counted
from arena.support.timestamps import log_time, utc_now
from arena.tournament.tournament_events import Noticed

Worded = Callable[[str], str]

_NAMES: Final = ("stdout", "stderr")
ROOM: Final = 4 * 2**20  # bytes that wait for a reader: hours of a log, and seconds of the events of quick bots
_LOOK: Final = 0.1  # seconds after which the thread looks whether it is still wanted
PATIENCE: Final = 5.0  # seconds that the reader of a log has for the next bytes once play is over
_MOMENT: Final = 1.0  # seconds for the thread to end


def json_event(kind: str, facts: Mapping[str, Any]) -> str:
    """An event as a line for programs."""
    return json.dumps({"event": kind, "time": utc_now("milliseconds"), **facts})


def _notice(text: str) -> str:
    return json_event(Noticed.kind, {"text": text})


def _with_time(text: str) -> str:
    return f"{log_time()} {text}"


@contextmanager
def guarded_output(journal: Path | None, *, events: bool = False, needed: bool = False) -> Iterator[None]:
    """Nothing that is printed during the block raises or waits. If stdout or stderr cannot be written, that is said
    once on the other one, and in a file beside the journal: cup.jsonl has cup.notes. The file also says what was lost
    because nobody read it, and so does the stream as soon as it is read again; with `events` stdout gets JSON objects.
    If stdout is `needed`, nothing else keeps what is played: then what cannot be written to it does raise.

    At its end the block waits for whoever reads, and gives up a log that nobody reads. It waits for the reader of
    stdout, who is to get the result, until Ctrl-C, as other commands do."""
    streams = {name: getattr(sys, name) for name in _NAMES}
    before = {name: stream for name, stream in streams.items() if hasattr(stream, "buffer")}  # None if it was closed
    writer = _Writer(lambda text: _note(journal, text))
    for name, stream in before.items():
        guard = _Guarded(name, stream, _notice if events and name == "stdout" else _with_time, writer.put)
        guard.is_needed = needed and name == "stdout"
        guard.holds_result = _is_same_file(stream, before.get("stdout"))
        writer.streams.append(guard)
        setattr(sys, name, _text(guard, stream))
    try:
        with writer:
            yield
    finally:
        for guard in writer.streams:
            setattr(sys, guard.name, before[guard.name])
            if guard.is_broken and guard.name == "stderr":  # a result on stdout has to fail
                silence(before[guard.name])


class _Guarded(io.RawIOBase):
    """The bytes of a stream. A write hands them to the thread, and never fails."""

    def __init__(self, name: str, stream: TextIO, worded: Worded, put: "Callable[[_Guarded, bytes], None]"):
        self.name, self.worded = name, worded
        self.is_broken = self.is_needed = self.holds_result = False
        self.error: Exception | None = None  # to be raised
        self._stream, self._put = stream, put
        self._descriptor = descriptor_of(stream)
        with contextlib.suppress(OSError, ValueError):  # what fails now will fail in the thread, too
            stream.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, data: Any) -> int:
        if self.error is not None:
            raise self.error
        self._put(self, bytes(data))
        return len(data)

    def close(self) -> None:
        """Leave the stream open: it belongs to the interpreter."""

    def say(self, text: str) -> None:
        self._put(self, f"{self.worded(text)}\n".encode())

    def write_some(self, data: bytes) -> int:
        """Write the beginning of the bytes, whole lines if possible, as soon as the reader takes it. Returns how many
        were written: none if nobody reads. It is for the thread alone."""
        if self._descriptor is None:
            self._stream.buffer.write(data)
            self._stream.buffer.flush()
            return len(data)
        if not is_ready(self._descriptor, _LOOK):
            return 0
        with contextlib.suppress(BlockingIOError):  # the stream does not block, and another program was quicker
            return os.write(self._descriptor, data[: data.rfind(b"\n", 0, AT_ONCE) + 1] or data[:AT_ONCE])
        return 0


class _Writer:
    """The thread that writes, and what waits for it. It lives as long as its block. Only a terminal that has room for
    a part of a line can hold it up longer; as a daemon it does not keep the process from its end."""

    def __init__(self, note: Callable[[str], None]):
        self.streams: list[_Guarded] = []
        self._note = note
        self._waiting: deque[tuple[_Guarded, bytes]] = deque()
        self._size = 0  # of what waits, in bytes
        self._lost: Counter[_Guarded] = Counter()  # lines for which there was no room
        self._is_over = False
        self._changed = Condition()  # one of all these
        self._thread = Thread(target=self._work, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        try:
            self._wait_for_reader()
        finally:
            with self._changed:
                self._is_over = True
                self._changed.notify_all()
            self._thread.join(_MOMENT)
            self._give_up()

    def put(self, stream: _Guarded, data: bytes) -> None:
        """Have the thread write these bytes. Once there is no room, what comes is dropped until all that waits is
        written, so that there is one gap, and not many."""
        with self._changed:
            if self._lost or (self._waiting and self._size + len(data) > ROOM):
                if not self._lost:
                    self._note(f"{self._waiting[0][0].name} is not read. Play goes on, and what is printed is lost.")
                self._lost[stream] += data.count(b"\n")
            else:
                self._waiting.append((stream, data))
                self._size += len(data)
                self._changed.notify_all()

    def _work(self) -> None:
        while (found := self._next()) is not None:
            stream, data = found
            try:
                written = stream.write_some(data)
                stream.is_broken = stream.is_broken and not written
            except (OSError, ValueError) as error:  # ValueError: it is closed
                written = len(data)
                self._failed(stream, error)
            with self._changed:
                self._size -= written
                self._waiting.popleft()
                if written < len(data):
                    self._waiting.appendleft((stream, data[written:]))
                elif not self._waiting:
                    self._say_lost()
                self._changed.notify_all()

    def _say_lost(self) -> None:
        lost, self._lost = self._lost, Counter()
        for stream, lines in lost.items():
            stream.say(_lost_text(stream, lines))

    def _next(self) -> tuple[_Guarded, bytes] | None:
        """What to write next. None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_over)
            return None if self._is_over else self._waiting[0]

    def _failed(self, broken: _Guarded, error: OSError | ValueError) -> None:
        if broken.is_needed:
            broken.error = error
        if broken.is_broken or broken.is_needed:
            return  # it was said, or will be raised
        broken.is_broken = True
        reason = getattr(error, "strerror", None) or str(error)
        text = f"{broken.name} cannot be written: {reason}. Play goes on without it."
        self._note(text)
        for stream in self.streams:
            if not stream.is_broken:
                stream.say(text)

    def _wait_for_reader(self) -> None:
        with self._changed:
            size = -1
            while self._waiting and (self._size != size or self._waiting[0][0].holds_result):
                size = self._size
                self._changed.wait_for(lambda: not self._waiting, PATIENCE)

    def _give_up(self) -> None:
        """Whatever still waits has no reader."""
        with self._changed:
            for stream, data in self._waiting:
                self._lost[stream] += data.count(b"\n")
            for stream, lines in self._lost.items():
                stream.is_broken = True
                self._note(_lost_text(stream, lines))


def _lost_text(stream: _Guarded, lines: int) -> str:
    return f"{counted(lines, 'line was', 'lines were')} not written: nobody read {stream.name}."


def _text(guard: _Guarded, like: TextIO) -> TextIO:
    return io.TextIOWrapper(guard, encoding=like.encoding, errors=like.errors, write_through=True)


def _is_same_file(stream: TextIO, other: TextIO | None) -> bool:
    try:
        return other is not None and os.path.sameopenfile(stream.fileno(), other.fileno())
    except (OSError, ValueError):  # one has no descriptor, or is closed
        return False


def _note(journal: Path | None, text: str) -> None:
    if journal is not None:
        with contextlib.suppress(OSError), beside(journal, "notes").open("a") as file:  # there is no other place
            file.write(f"{_with_time(text)}\n")
