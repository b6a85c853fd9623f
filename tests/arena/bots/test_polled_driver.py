"""What the polled driver notes about an answer: real pipes, whose other ends are this test."""

import os
import time
from collections.abc import Iterator

import pytest

from arena.bots.polled_driver import polled
from arena.bots.polled_link import PolledLink
from arena.bots.wants import Ask, Logic
from arena.support.poll_loop import PollLoop
from protocol.messages import EncodedRequest
from protocol.session import State


class Pipes:
    """A bot that is asked by the polled driver, and answers when the test says so."""

    def __init__(self, loop: PollLoop):
        reader, self._answers = os.pipe()
        self._requests, writer = os.pipe()
        self.link = PolledLink(loop, reader, writer)
        self.link.session.state = State.ROUND

    def question(self) -> Ask:
        number = self.link.session.last_id + 1
        return Ask(self.link, self.link.line_for(EncodedRequest(number, b"a request")), 10.0)

    def answer(self, number: int) -> None:
        os.write(self._answers, b'{"type":"action","id":%d,"move":"pass"}\n' % number)

    def close(self) -> None:
        self.link.close()
        os.close(self._answers)
        os.close(self._requests)


@pytest.fixture
def loop() -> Iterator[PollLoop]:
    loop = PollLoop()
    yield loop
    loop.close()


def test_an_answer_to_a_guessed_request_takes_no_negative_time(loop: PollLoop) -> None:
    """Both answers are in one report of epoll. The second one is to a request that is made in between."""
    one, two = Pipes(loop), Pipes(loop)
    asked: list[Ask] = []

    def match() -> Logic[None]:
        for bot in (two, one):  # from then on epoll knows their pipes
            question = bot.question()
            bot.answer(1)
            yield question
        question = one.question()
        one.answer(2)
        two.answer(2)
        yield question
        time.sleep(0.001)  # the arena is busy
        asked.append(two.question())
        yield asked[0]

    loop.run(polled(match(), loop))
    assert asked[0].heard >= asked[0].asked
    one.close()
    two.close()
