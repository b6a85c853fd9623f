"""A worker: the process that plays match jobs on the poll loop, and does nothing else.

Theory of operation. The owner of the tournament (tournament/worker_pool.py) starts workers and sends them jobs over a
socket; reports go back the same way. When the owner closes its end, the worker drops its matches, ends its bots and
exits. If the owner is killed, the kernel kills the worker too, and the keepers (processes/keeper.py) kill the bots.
Signals to the whole process group, such as Ctrl-C, are the owner's business.
"""

import socket
from collections import deque
from typing import Final, assert_never

from arena.bots.player import Player
from arena.bots.polled_driver import polled
from arena.bots.polled_process import PolledProcesses
from arena.bots.wants import Logic
from arena.journal.identity import Fingerprint
from arena.plan.bot_spec import BotSpec
from arena.plan.deals import GrantedDeals
from arena.processes.stderr import StderrKeeper
from arena.support.poll_loop import Signal, Steps, waiting_for
from arena.worker.channel import Unpacker
from arena.worker.core import Affinity, Core
from arena.worker.idle_bots import IdleBots
from arena.worker.job import (
    Alive,
    Beat,
    DealExposed,
    Deals,
    GoOn,
    MatchJob,
    MatchOver,
    Order,
    OrganiserWarned,
    Relocation,
    Report,
    Rulings,
    Setup,
    StderrWritten,
    waits,
)
from arena.worker.job_play import JobPlay
from arena.worker.outbox import Outbox
from arena.worker.relocation import at_home, localized
from arena.worker.viewers import Viewers

_CHUNK: Final = 1 << 16


class Worker:
    def __init__(self, owner: socket.socket, processes: PolledProcesses):
        self._owner = owner
        self._processes = processes
        self._loop = processes.loop
        self._orders = Unpacker()
        self._outbox = Outbox(self._loop, owner)
        self._viewers = Viewers(self._outbox)
        self._idle = IdleBots(processes, 1)
        self._affinity = Affinity(Core(), self._loop, self._start, pinned=False)
        self._stderr: StderrKeeper | None = None
        self._rulings = Rulings()
        self._waiting: dict[str, Signal] = {}  # by match: for the answer to its last report
        self._matches = 0  # under way
        self._most: int | None = None  # of them; None if the owner sees to it
        self._queue: deque[MatchJob] = deque()
        self._granted: dict[str, GrantedDeals] = {}  # by match
        self._sent: dict[str, tuple[BotSpec, Relocation]] = {}  # by name: bots of a tournament on another machine
        self._over = self._loop.signal()
        self._failure: Exception | None = None

    def run(self) -> None:
        """Play until the owner closes its end. Raises what a bug of ours raised in a match."""
        self._owner.setblocking(False)
        self._loop.watch(self._owner.fileno(), self._read)
        self._loop.run(waiting_for(self._over))
        self._loop.forget([self._owner.fileno()])
        self._outbox.finish()
        if self._failure is not None:
            raise self._failure
        if not self._matches:  # then there is time for a bye
            self._loop.run(self._loop.all_of(*(polled(leave, self._loop) for leave in self._idle.clear())))

    def _read(self) -> None:
        try:
            data = self._owner.recv(_CHUNK)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self._over.set()
            self._loop.forget([self._owner.fileno()])
        for order in self._orders.feed(data):
            self._obey(order)

    def _obey(self, order: Order) -> None:
        match order:
            case Setup(concurrency, pinned, in_turn):
                self._idle = IdleBots(self._processes, concurrency)
                self._affinity = Affinity(Core(), self._loop, self._start, pinned=pinned)
                self._most = concurrency if in_turn else None
            case MatchJob():
                self._adopt(order.rulings)
                self._queue.append(order)
                self._begin_queued()
            case Rulings():
                self._adopt(order)
            case GoOn(match):
                self._waiting.pop(match).set()
            case Deals(match, deals):
                if match in self._granted:  # else the match is over
                    self._granted[match].add(deals)
            case Beat():
                self._outbox.send(Alive())
            case _:
                assert_never(order)

    def _adopt(self, rulings: Rulings) -> None:
        self._rulings = rulings
        self._viewers.are_there(rulings.watched)

    def _begin_queued(self) -> None:
        while self._queue and (self._most is None or self._matches < self._most):
            job = self._queue.popleft()
            self._matches += 1
            self._start(self._play_next(job))

    def _start(self, steps: Steps[None]) -> None:
        self._loop.start(self._guarded(steps))

    def _guarded(self, steps: Steps[None]) -> Steps[None]:
        try:
            yield from steps
        except Exception as failure:
            self._failure = failure
            self._over.set()

    def _play_next(self, job: MatchJob) -> Steps[None]:
        if isinstance(job.key, GrantedDeals):
            self._granted[job.planned.id] = job.key
        yield from polled(self._play(job), self._loop)
        self._granted.pop(job.planned.id, None)
        self._matches -= 1
        self._begin_queued()

    def _play(self, job: MatchJob) -> Logic[None]:
        numbered = zip(job.planned.bots, job.bots, strict=True)
        one, two = (self._player(job, number, spec.program) for number, spec in numbered)
        yield from JobPlay(job, (one, two), self._loop.stalls, _WorkerAsOwner(self, job), self._viewers).play()
        for player in (one, two):
            yield from player.match_over()
        self._viewers.match_over(job.planned.id)
        self._outbox.send(MatchOver(job.planned.id))

    def _player(self, job: MatchJob, number: int, program: BotSpec | None) -> Player:
        assert program is not None  # no worker is asked to play otherwise
        if job.relocation is not None:
            self._sent[program.name] = program, job.relocation
            self._processes.recorded = self._at_home
            program = localized(program, job.relocation)
        if self._stderr is None:
            keeps = self._report_stderr if job.relocation else None
            self._stderr = StderrKeeper(job.stderr, self.warn, keeps)
        return self._idle.take(number, program, self._stderr)

    def _at_home(self, spec: BotSpec, found: Fingerprint) -> Fingerprint:
        return at_home(found, *self._sent[spec.name])

    def _report_stderr(self, number: int, data: bytes) -> None:
        self._outbox.send(StderrWritten(number, data))

    def warn(self, text: str) -> None:
        self._outbox.send(OrganiserWarned(text))

    def is_withdrawn(self, name: str) -> bool:
        return name in self._rulings.withdrawn

    def may_excuse(self, name: str) -> bool:
        return name not in self._rulings.spent

    def report(self, match: str, report: Report) -> Logic[None]:
        self._affinity.heard(report)
        if waits(report):
            self._waiting[match] = answered = self._loop.signal()
            self._outbox.send(report)
            yield from waiting_for(answered)
            return
        self._outbox.send(report)
        if isinstance(report, DealExposed):
            yield from self._outbox.sent()  # the owner must know before the bots do, even if this process is killed
        else:
            yield from self._outbox.room()


class _WorkerAsOwner:
    """The owner of one match, as the worker knows it."""

    def __init__(self, worker: Worker, job: MatchJob):
        self._worker = worker
        self._job = job
        self.warn = worker.warn
        self.is_withdrawn = worker.is_withdrawn
        self.may_excuse = worker.may_excuse

    def report(self, report: Report) -> Logic[None]:
        return self._worker.report(self._job.planned.id, report)
