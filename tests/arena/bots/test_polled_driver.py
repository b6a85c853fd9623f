"""What the polled driver notes about an answer: real pipes, whose other ends are this test."""

import os
import time
from collections.abc import Iterator

import pytest

from arena.bots.polled_driver import polled
from arena.bots.polled_link import PolledLink
from arena.bots.turns import AT_ONCE
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
        number = self.link.session.next_id
        return Ask(self.link.line_for(EncodedRequest(number, b"a request")), 10.0)

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
            yield from bot.link.ask(question)
        question = one.question()
        one.answer(2)
        two.answer(2)
        yield from one.link.ask(question)
        time.sleep(0.001)  # the arena is busy
        asked.append(two.question())
        yield from two.link.ask(asked[0])

    loop.run(polled(match(), loop))
    assert asked[0].heard >= asked[0].asked
    one.close()
    two.close()


def test_the_driver_calls_meanwhile_until_the_answer_comes_and_not_if_it_is_there(loop: PollLoop) -> None:
    bot, calls = Pipes(loop), []

    def meanwhile() -> None:
        calls.append(loop.now())
        if len(calls) == 3:
            bot.answer(1)

    def match() -> Logic[None]:
        for number in (1, 2):
            question = bot.question()
            question.meanwhile = meanwhile
            if number == 2:
                bot.answer(2)
            yield from bot.link.ask(question)
            assert len(calls) == 3
            assert calls[0] >= question.asked + AT_ONCE or number == 2

    loop.run(polled(match(), loop))
    bot.close()
