"""`arena check`: a bot is played through scripted situations and whole rounds, and judged.

Checks share one connection as long as the bot behaves; after a failure the next check gets a new one. Each check is a
function that returns what to say of a success and raises Misbehaved for a failure.
"""

import contextlib
import enum
import itertools
import json
import math
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import attrs
import trio

from arena.bots.link import said_text
from arena.bots.process import SpawnError, exit_words
from arena.devtools.probe import Contact, Door, Limits, Misbehaved, NobodyCame, Probe, plain
from arena.match.referee import LONGEST_NOTE, MOST_NOTES
from engine.ruleset import PRESETS
from engine.scoring import Ending


class Verdict(enum.Enum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@attrs.frozen
class Finding:
    code: str
    title: str
    verdict: Verdict
    message: str
    lines: tuple[str, ...] = ()  # exchanged last, for a failure; `>` to the bot, `<` from it


class _Warned(Exception):
    """The check is passed, but the author should know something."""


class _TooSlow(Misbehaved):
    def __init__(self, message: str, lines: tuple[str, ...]):
        super().__init__(message)
        self.lines = lines


class _Skip(Exception):
    """The check cannot be made here."""


_LINES_SHOWN: Final = 6
_MOST_FAILURES: Final = 3  # in a row
# What a bot may still grow by in the second half of the rounds: the heap of a young Java program, say.
_LEAK: Final = 8 * 2**20  # bytes
_LEAK_SHARE: Final = 0.3


@attrs.define
class Examination:
    door: Door
    limits: Limits
    memory_rounds: int
    report: Callable[[Finding], None] = lambda _: None  # is called with the finding of each check that is made
    findings: list[Finding] = attrs.field(factory=list)  # of all checks, in the order of `_checks`
    _stack: contextlib.AsyncExitStack = attrs.field(factory=contextlib.AsyncExitStack)
    _probe: Probe | None = None
    _all_ms: list[float] = attrs.field(factory=list)
    _most_matches: int = 0
    _slowest: tuple[float, tuple[str, ...]] = (-1, ())
    _notes: tuple[int, int] = (0, 0)
    _nobody_came: bool = False

    async def run(self) -> list[Finding]:
        async with self._stack:
            for code, title, check in _checks():
                if (reason := self._hopeless()) and code not in ("notes", "speed-p99", "speed-worst"):
                    self.findings.append(Finding(code, title, Verdict.SKIPPED, reason))
                else:
                    await self._judge(code, title, check)
        return self.findings

    def _hopeless(self) -> str | None:
        """Why a bot that does not come to play, or fails again and again, is not asked everything else as well."""
        failed = [finding.verdict is Verdict.FAILED for finding in self.findings]
        if any(failed[:2]):
            return "not made: the bot did not come to play"
        if self._nobody_came:
            return "not made: the bot did not connect again"
        in_a_row = any(all(failed[n : n + _MOST_FAILURES]) for n in range(len(failed) - _MOST_FAILURES + 1))
        return f"not made after {_MOST_FAILURES} failures in a row" if in_a_row else None

    async def _judge(self, code: str, title: str, check: "_Check") -> None:
        verdict = Verdict.OK
        lines: tuple[str, ...] = ()
        try:
            message = await check(self)
        except _Warned as warned:
            verdict, message = Verdict.WARNING, str(warned)
        except _Skip as skip:
            verdict, message = Verdict.SKIPPED, str(skip)
        except NobodyCame as nobody:
            self._nobody_came = True
            verdict, message = Verdict.SKIPPED, str(nobody)
        except (Misbehaved, SpawnError) as failure:
            verdict, message = Verdict.FAILED, str(failure)
            if isinstance(failure, _TooSlow):
                lines = failure.lines
            elif self._probe:
                lines = tuple(map(said_text, self._probe.contact.link.transcript))[-_LINES_SHOWN:]
            await self.close()
        self.findings.append(Finding(code, title, verdict, message, lines))
        self.report(self.findings[-1])

    async def greeted(self) -> Probe:
        """A new connection to the bot, on which it has said something."""
        contact = await self._stack.enter_async_context(self.door.open())
        self._probe = Probe(contact, self.limits)
        await self._probe.greet()
        return self._probe

    async def probe(self) -> Probe:
        """The bot, met and idle."""
        probe = self._probe or await self.greeted()
        if probe.hello is None:
            await probe.meet()
        probe.twist = plain
        return probe

    async def close(self) -> None:
        if self._probe:
            self._all_ms += self._probe.answer_ms
            self._most_matches = max(self._most_matches, self._probe.matches)
            self._slowest = self.slowest
            self._notes = self.notes
            self._probe = None
        await self._stack.aclose()

    @property
    def answer_ms(self) -> list[float]:
        return sorted(self._all_ms + (self._probe.answer_ms if self._probe else []))

    @property
    def slowest(self) -> tuple[float, tuple[str, ...]]:
        return max(self._slowest, self._probe.slowest) if self._probe else self._slowest

    @property
    def notes(self) -> tuple[int, int]:
        """Characters of the longest note, and of the notes of one round."""
        longest, most = self._notes
        return (
            (max(longest, self._probe.longest_note), max(most, self._probe.most_noted)) if self._probe else self._notes
        )

    @property
    def most_matches(self) -> int:
        return max(self._most_matches, self._probe.matches if self._probe else 0)


_Check = Callable[[Examination], Awaitable[str]]


def _checks() -> Iterator[tuple[str, str, _Check]]:
    yield "start", "starts in time", _start
    yield "hello", "answers hello", _hello
    yield "right-id", "answers with the id of the request", _right_id
    for name in PRESETS:
        yield f"rules-{name}", f"only legal moves in {name}", _rules(name)
    yield "unknown-fields", "ignores fields that it does not know", _unknown_fields
    yield "unknown-types", "ignores types of message that it does not know", _unknown_types
    yield "early-end", "goes on after a round that ends in the middle", _early_end
    yield "second-match", "plays a second match in the same process", _second_match
    yield "memory", "does not grow over many rounds", _memory
    yield "bye", "leaves when the server says bye", _bye
    yield "end-of-input", "leaves at the end of its input", _end_of_input
    yield "notes", "its notes fit in the journal", _notes
    yield "speed-p99", "99 of 100 answers are within the limit", _speed_p99
    yield "speed-worst", "the slowest answer is within the limit", _speed_worst


async def _start(exam: Examination) -> str:
    probe = await exam.greeted()
    return f"after {probe.greeted_ms:.0f} ms of {exam.limits.start_ms} ms"


async def _hello(exam: Examination) -> str:
    probe = await exam.probe()
    assert probe.hello is not None
    return f"it calls itself {probe.hello.name!r}"


async def _right_id(exam: Examination) -> str:
    probe = await exam.probe()
    probe.ids = itertools.count(1001, 1001)  # a bot that counts requests itself will be wrong
    await probe.play_match(PRESETS["base"], rounds=1)
    await probe.expect_silence()
    return f"{len(probe.answer_ms)} answers"


def _rules(name: str) -> _Check:
    async def check(exam: Examination) -> str:
        probe = await exam.probe()
        before = len(probe.answer_ms)
        await probe.play_match(PRESETS[name], rounds=4)
        return f"4 rounds, {len(probe.answer_ms) - before} decisions"

    return check


def _with_unknown_fields(line: bytes) -> list[bytes]:
    message = json.loads(line)
    message |= {"x_new": {"legal": ["play r1 1"], "type": "bye", "deep": [[[None, 1.5, 'é\u2028"]}']]]}, "x_id": 0}
    if "state" in message:
        message["state"]["x_weather"] = "rain"
    return [json.dumps(message).encode() + b"\n"]


async def _unknown_fields(exam: Examination) -> str:
    probe = await exam.probe()
    probe.twist = _with_unknown_fields
    await probe.play_match(PRESETS["tactics"], rounds=2)
    return "2 rounds"


def _after_unknown_types(line: bytes) -> list[bytes]:
    strangers = ({"type": "weather", "forecast": "rain"}, {"type": "x_request", "id": 1, "legal": ["pass"]})
    return [*(json.dumps(stranger).encode() + b"\n" for stranger in strangers), line]


async def _unknown_types(exam: Examination) -> str:
    probe = await exam.probe()
    probe.twist = _after_unknown_types
    await probe.play_match(PRESETS["base"], rounds=2)
    return "2 rounds"


async def _early_end(exam: Examination) -> str:
    probe, rules = await exam.probe(), PRESETS["base"]
    await probe.start_match(rules, rounds=3)
    between = await probe.start_round(rules, 1)
    await probe.play_on(between, most=4)
    await probe.end_round(between, Ending.CRASHED)  # while the opponent thinks
    thinking = await probe.start_round(rules, 2)
    await probe.play_on(thinking, most=3)
    await probe.ask(thinking)
    probe.late_answers_expected = 1
    await probe.end_round(thinking, Ending.DISCONNECTED)  # while the bot thinks: its answer comes too late
    whole = await probe.start_round(rules, 3)
    await probe.play_on(whole)
    await probe.end_round(whole)
    await probe.end_match()
    return "once while the opponent thought, once while the bot did"


async def _second_match(exam: Examination) -> str:
    probe = await exam.probe()
    while probe.matches < 2:
        await probe.play_match(PRESETS["base"], rounds=1)
    return f"{exam.most_matches} matches in one process"


async def _memory(exam: Examination) -> str:
    probe = await exam.probe()
    if probe.contact.process is None:
        raise _Skip("the bot is not our process")
    quarter = max(1, exam.memory_rounds // 4)
    sizes = []
    for _ in range(4):
        await probe.play_match(PRESETS["tactics"], rounds=quarter)
        sizes.append(probe.contact.process.memory())
    told = f"{_mib(sizes[1])} after {2 * quarter} rounds, {_mib(sizes[3])} after {4 * quarter}"
    growth = sizes[3] - sizes[1]
    if sizes == sorted(set(sizes)) and growth > max(_LEAK, sizes[1] * _LEAK_SHARE):
        raise Misbehaved(f"the bot keeps growing: {told}")
    return told


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


async def _bye(exam: Examination) -> str:
    probe = await exam.probe()
    await probe.leave()
    return await _leaves(exam, probe.contact, "the server said bye")


async def _end_of_input(exam: Examination) -> str:
    probe, rules = await exam.probe(), PRESETS["base"]
    await probe.start_match(rules, rounds=1)
    await probe.play_on(await probe.start_round(rules, 1), most=2)
    probe.contact.close_input()
    return await _leaves(exam, probe.contact, "its input ended")


async def _leaves(exam: Examination, contact: Contact, cause: str) -> str:
    started, left = trio.current_time(), False
    with trio.move_on_after(exam.limits.leave_ms / 1000):
        await contact.wait_gone()
        left = True
    if not left:
        raise Misbehaved(f"still there {exam.limits.leave_ms} ms after {cause}; a bot has to end by itself then")
    took = f"{(trio.current_time() - started) * 1000:.0f} ms"
    status = contact.process.exit_status if contact.process else 0
    await exam.close()
    if status:
        raise _Warned(f"it left after {took}, but with {exit_words(status)}; 0 would have said that all went well")
    return f"after {took}"


async def _notes(exam: Examination) -> str:
    if not exam.answer_ms:
        raise _Skip("the bot never answered")
    longest, most = exam.notes
    kept = f"the journal keeps {LONGEST_NOTE} characters of a note and {MOST_NOTES} of a bot's notes in a round"
    if longest > LONGEST_NOTE or most > MOST_NOTES:
        raise _Warned(f"its longest note had {longest} characters, and those of one round {most}; {kept}")
    return f"the longest had {longest} characters; {kept}" if longest else "it made none"


async def _speed_p99(exam: Examination) -> str:
    ordered = exam.answer_ms
    return _within(exam, ordered[math.ceil(len(ordered) * 0.99) - 1] if ordered else None)


async def _speed_worst(exam: Examination) -> str:
    return _within(exam, exam.answer_ms[-1] if exam.answer_ms else None)


def _within(exam: Examination, took: float | None) -> str:
    if took is None:
        raise _Skip("the bot never answered")
    told = f"{took:.1f} ms of {exam.limits.move_ms} ms, over {len(exam.answer_ms)} answers"
    if took > exam.limits.move_ms:
        raise _TooSlow(told, exam.slowest[1])
    return told
