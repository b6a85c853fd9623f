"""`arena check` and time: bots that think for long play fewer rounds, and meet every situation all the same."""

import contextlib
import json
import math
from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair

from arena.bots.link import Link
from arena.cli.check_display import FindingLines
from arena.devtools.bot_sources import Contact
from arena.devtools.check import examine
from arena.devtools.check_report import CheckedBot, summary
from arena.devtools.examination import Check, CheckFinding, CheckVerdict, Examination, Observer
from arena.devtools.probe import CheckLimits

SITUATIONS = ["right-id", "unknown-fields", "unknown-types", "early-end", "second-match", "bye", "end-of-input"]
RULES = ["rules-base", "rules-expert", "rules-tactics", "rules-tactics-expert", "rules-classic"]


class ThinkingBot:
    """A bot at the other end of a stream in memory, which thinks for `seconds` about each answer."""

    def __init__(self, seconds: float):
        self._seconds = seconds

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Contact]:
        ours, theirs = memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._play, theirs)
            assert ours.send_stream is not None
            yield Contact(Link(ours), ours.send_stream.close, None)
            nursery.cancel_scope.cancel()

    async def _play(self, stream: trio.abc.Stream) -> None:
        rest = b""
        async with stream:
            while data := await stream.receive_some():
                *lines, rest = (rest + data).split(b"\n")
                for line in map(json.loads, lines):
                    if line["type"] == "bye":
                        return
                    if line["type"] == "hello":
                        await self._say(stream, type="hello", protocol=1, name="thinker")
                    elif line["type"] == "request":
                        await trio.sleep(self._seconds)
                        await self._say(stream, type="action", id=line["id"], move=line["legal"][-1])

    async def _say(self, stream: trio.abc.SendStream, **message: object) -> None:
        await stream.send_all(json.dumps(message).encode() + b"\n")


async def examined(
    clock: MockClock, seconds: float, budget: float, move_ms: int = 10_000
) -> tuple[dict[str, CheckFinding], float]:
    """What is found about such a bot, and how long that takes."""
    began = clock.current_time()
    findings = await examine(ThinkingBot(seconds), CheckLimits(move_ms=move_ms), 200, budget)
    return {finding.code: finding for finding in findings}, clock.current_time() - began


async def test_a_bot_that_thinks_for_a_second_is_checked_within_the_budget(autojump_clock: MockClock) -> None:
    findings, took = await examined(autojump_clock, seconds=1, budget=60)
    assert 40 < took < 66  # the last decision of each check may end after its share
    assert {findings[code].verdict for code in SITUATIONS + RULES} == {CheckVerdict.OK}
    assert all("there was no time for more" in findings[code].message for code in ("unknown-types", *RULES))


async def test_with_a_larger_budget_it_plays_all_rounds(autojump_clock: MockClock) -> None:
    findings, _ = await examined(autojump_clock, seconds=1, budget=3600)
    assert {findings[code].verdict for code in SITUATIONS + RULES} == {CheckVerdict.OK}
    assert all(findings[code].message.startswith("4 of 4 rounds, ") for code in RULES)


@pytest.mark.parametrize("seconds", [0.9, 4.9])
async def test_a_bot_that_uses_nearly_all_of_its_time_is_fit(seconds: float, autojump_clock: MockClock) -> None:
    """Also after a round that ended while it thought: it reads the next request only when that thought is over."""
    findings, _ = await examined(autojump_clock, seconds, budget=600, move_ms=round(seconds * 1000) + 100)
    assert {findings[code].verdict for code in (*SITUATIONS, "speed-p99", "speed-worst")} == {CheckVerdict.OK}
    assert findings["speed-worst"].message.startswith(f"{seconds * 1000:.1f} ms of ")


async def test_situations_come_before_the_budget_and_rounds_are_skipped_with_a_word(autojump_clock: MockClock) -> None:
    findings, took = await examined(autojump_clock, seconds=9, budget=60)
    assert {findings[code].verdict for code in SITUATIONS} == {CheckVerdict.OK}
    assert findings["rules-classic"].verdict is CheckVerdict.SKIPPED
    assert findings["rules-classic"].message == "not made: too little time was left; a larger --budget makes it"
    assert summary(CheckedBot("slow", [*findings.values()])).startswith("slow: fit to play as far as it was checked (")
    assert took < 60 + 9 * 9  # two decisions for each situation, and one under way at the end


@pytest.mark.parametrize("budget", [60, math.inf])
async def test_a_quick_bot_does_not_notice_the_budget(budget: float, autojump_clock: MockClock) -> None:
    findings, took = await examined(autojump_clock, seconds=0.001, budget=budget)
    assert all(findings[code].message.startswith("4 of 4 rounds, ") for code in RULES)
    assert took < 60


async def test_an_observer_hears_each_check_with_the_time_it_has(autojump_clock: MockClock) -> None:
    heard: list[tuple[str, float]] = []

    class Listening(Observer):
        def begins(self, check: Check, exam: Examination) -> None:
            heard.append((check.code, exam.seconds_left))

        def found(self, finding: CheckFinding) -> None:
            assert heard[-1][0] == finding.code

    findings = await examine(ThinkingBot(1), CheckLimits(), 200, 60, Listening())
    assert [code for code, _ in heard] == [finding.code for finding in findings]
    shares = dict(heard)
    assert shares["right-id"] == pytest.approx(60 / 11)  # eleven checks play
    assert shares["rules-base"] < 60 / 6
    assert autojump_clock.current_time() < 66


async def test_the_time_that_is_announced_includes_what_the_situations_need(autojump_clock: MockClock) -> None:
    remarks: list[tuple[str, float]] = []
    told = FindingLines(lambda _: None, lambda text: remarks.append((text, autojump_clock.current_time())))
    await examine(ThinkingBot(9), CheckLimits(move_ms=10_000), 200, 10, told)
    ((text, announced),) = remarks
    assert text == "It takes about 9000 ms for an answer; the rest takes about 99 s."
    assert autojump_clock.current_time() - announced == pytest.approx(99, abs=9)
