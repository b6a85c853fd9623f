"""Reports of a worker whose owner reads slowly. The owner's end of the socket is this test."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from arena.support.poll_loop import PollLoop
from arena.worker.channel import Unpacker
from arena.worker.job import DealExposed, OrganiserWarned, Report
from arena.worker.outbox import Outbox

LOUD = [OrganiserWarned("x" * 100_000 + str(number)) for number in range(30)]  # more than a socket takes


class Ends:
    """Both ends, and what the owner has read so far."""

    def __init__(self) -> None:
        self.loop = PollLoop()
        self.owners, self.workers = socket.socketpair()
        self.workers.setblocking(False)
        self.outbox = Outbox(self.loop, self.workers)
        self._unpacker = Unpacker()
        self.heard: list[Report] = []

    def read(self) -> None:
        self.heard += self._unpacker.feed(self.owners.recv(1 << 20))

    def read_all(self) -> list[Report]:
        while data := self.owners.recv(1 << 20):
            self.heard += self._unpacker.feed(data)
        return self.heard

    def close(self) -> None:
        self.owners.close()
        self.workers.close()
        self.loop.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    ends = Ends()
    yield ends
    ends.close()


def test_who_waits_until_all_is_sent_waits_for_an_owner_that_does_not_read(ends: Ends) -> None:
    for report in LOUD:
        ends.outbox.send(report)
    ends.outbox.send(DealExposed("1.1-2"))
    ends.owners.setblocking(False)
    waiting = ends.loop.start(ends.outbox.sent())
    turns = 0
    while not waiting.over.is_set():
        ends.loop.run(ends.loop.all_of())  # a turn
        assert DealExposed("1.1-2") not in ends.heard  # it is still on its way
        ends.read()
        turns += 1
    assert turns > 3
    assert ends.heard == [*LOUD, DealExposed("1.1-2")]


def test_nobody_waits_for_an_owner_that_reads(ends: Ends) -> None:
    ends.outbox.send(DealExposed("1.1-2"))
    assert list(ends.outbox.sent()) == []
    ends.read()
    assert ends.heard == [DealExposed("1.1-2")]


def test_what_is_left_is_sent_before_the_process_ends(ends: Ends) -> None:
    for report in LOUD:
        ends.outbox.send(report)
    with ThreadPoolExecutor(1) as owner:
        heard = owner.submit(ends.read_all)
        ends.outbox.finish()
        ends.workers.shutdown(socket.SHUT_WR)
        assert heard.result(timeout=60) == LOUD


def test_an_owner_that_is_gone_gets_nothing(ends: Ends) -> None:
    ends.outbox.send(LOUD[0])
    ends.owners.close()
    ends.outbox.finish()
