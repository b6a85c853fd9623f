"""`arena check`: leads a bot through scripted situations and whole rounds. examination.py judges what it does."""

import json
import math
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import trio

from arena.devtools.bot_sources import BotSource, Contact
from arena.devtools.examination import (
    Check,
    CheckFinding,
    CheckWarning,
    Examination,
    Observer,
    SkipCheck,
    SlowAnswerError,
)
from arena.devtools.probe import CheckLimits, MisbehaviourError
from arena.journal.endings import Fault
from arena.match.referee import LONGEST_NOTE, MOST_NOTES
from arena.processes.process_state import exit_words
from engine.ruleset import PRESETS

# How much a bot may still grow in the second half of the rounds; the heap of a young Java program does, for example.
_LEAK: Final = 8 * 2**20  # bytes
_LEAK_SHARE: Final = 0.3
_ROUNDS: Final = 4  # of each rule set
_DECISIONS: Final = 40  # of a bot in a round, at most, as a rule
_NO_TIME: Final = "not made: too little time was left; a larger --budget makes it"


async def examine(
    source: BotSource,
    limits: CheckLimits,
    memory_rounds: int,
    budget: float = math.inf,
    observer: Observer | None = None,
) -> list[CheckFinding]:
    """Makes all checks in about `budget` seconds, and returns their findings."""
    return await Examination(source, limits, memory_rounds, budget, observer or Observer()).run(CHECKS)


async def _start(exam: Examination) -> str:
    probe = await exam.greeted()
    return f"after {probe.greeted_ms:.0f} ms of {exam.limits.start_ms} ms"


async def _hello(exam: Examination) -> str:
    probe = await exam.probe()
    assert probe.hello is not None
    return f"it calls itself {probe.hello.name!r}"


async def _right_id(exam: Examination) -> str:
    probe = await exam.probe()
    probe.session.id_step = 1001  # a bot that counts requests itself gets the id wrong
    await probe.play_match(PRESETS["base"], 1, exam.until)
    await probe.expect_silence()
    return f"{len(probe.answer_ms)} answers"


def _rules(name: str) -> Callable[[Examination], Awaitable[str]]:
    async def check(exam: Examination) -> str:
        if not exam.seconds_left:
            raise SkipCheck(_NO_TIME)
        probe = await exam.probe()
        before = len(probe.answer_ms)
        played = await probe.play_match(PRESETS[name], _ROUNDS, exam.until)
        decisions = len(probe.answer_ms) - before
        return _rounds_words(played, _ROUNDS, f", {decisions} decisions")

    return check


def _rounds_words(played: int, planned: int, more: str = "") -> str:
    return f"{played} of {planned} rounds{more}" + ("; there was no time for more" if played < planned else "")


def _with_unknown_fields(line: bytes) -> list[bytes]:
    message = json.loads(line)
    message |= {"x_new": {"legal": ["play r1 1"], "type": "bye", "deep": [[[None, 1.5, 'é\u2028"]}']]]}, "x_id": 0}
    if "state" in message:
        message["state"]["x_weather"] = "rain"
    return [json.dumps(message).encode() + b"\n"]


async def _unknown_fields(exam: Examination) -> str:
    probe = await exam.probe()
    probe.mutate = _with_unknown_fields
    return _rounds_words(await probe.play_match(PRESETS["base"], 2, exam.until), 2)


def _after_unknown_types(line: bytes) -> list[bytes]:
    strangers = ({"type": "weather", "forecast": "rain"}, {"type": "x_request", "id": 1, "legal": ["pass"]})
    return [*(json.dumps(stranger).encode() + b"\n" for stranger in strangers), line]


async def _unknown_types(exam: Examination) -> str:
    probe = await exam.probe()
    probe.mutate = _after_unknown_types
    return _rounds_words(await probe.play_match(PRESETS["base"], 2, exam.until), 2)


async def _early_end(exam: Examination) -> str:
    probe = await exam.probe()
    await probe.start_match(PRESETS["base"], rounds=3)
    between = await probe.start_round()
    await probe.play_on(between, most=2)
    await probe.end_round(between, Fault.CRASHED)  # while the opponent thinks
    thinking = await probe.start_round()
    await probe.play_on(thinking, most=1)
    await probe.ask(thinking)
    probe.late_answers_expected = 1
    await probe.end_round(thinking, Fault.DISCONNECTED)  # while the bot thinks: its answer comes too late
    last = await probe.start_round()
    await probe.play_on(last, until=exam.until, least=1)
    await probe.end_round(last, None if last.referee.outcome else Fault.CRASHED)
    await probe.end_match()
    return "once while the opponent thought, once while the bot did"


async def _second_match(exam: Examination) -> str:
    probe = await exam.probe()
    while probe.matches < 2:
        await probe.play_match(PRESETS["base"], 1, exam.until)
    return f"{exam.most_matches} matches in one process"


async def _memory(exam: Examination) -> str:
    probe = await exam.probe()
    if probe.contact.process is None:
        raise SkipCheck("the arena did not start the bot, so it cannot measure its memory")
    quarter = min(max(1, exam.memory_rounds // 4), _rounds_in(exam.seconds_left, exam.answer_ms) // 4)
    if not quarter:
        raise SkipCheck(_NO_TIME)
    sizes = []
    for _ in range(4):
        await probe.play_match(PRESETS["tactics"], quarter)
        sizes.append(probe.contact.process.private_memory())
    measured = f"{_mib(sizes[1])} after {2 * quarter} rounds, {_mib(sizes[3])} after {4 * quarter}"
    growth = sizes[3] - sizes[1]
    if sizes == sorted(set(sizes)) and growth > max(_LEAK, sizes[1] * _LEAK_SHARE):
        raise MisbehaviourError(f"the bot keeps growing: {measured}")
    return measured


def _rounds_in(seconds: float, answer_ms: Sequence[float]) -> int:
    """How many rounds a bot that took `answer_ms` for its answers so far can play in this time."""
    round_seconds = _DECISIONS * sum(answer_ms) / max(1, len(answer_ms)) / 1000
    return int(min(seconds / max(round_seconds, 1e-9), sys.maxsize))


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"


async def _bye(exam: Examination) -> str:
    probe = await exam.probe()
    await probe.leave()
    return await _leaves(exam, probe.contact, "the server said bye")


async def _end_of_input(exam: Examination) -> str:
    probe = await exam.probe()
    await probe.start_match(PRESETS["base"], rounds=1)
    await probe.play_on(await probe.start_round(), most=2)
    probe.contact.close_input()
    return await _leaves(exam, probe.contact, "its input ended")


async def _leaves(exam: Examination, contact: Contact, cause: str) -> str:
    started, left = trio.current_time(), False
    with trio.move_on_after(exam.limits.leave_ms / 1000):
        await contact.wait_gone()
        left = True
    if not left:
        raise MisbehaviourError(f"still there {exam.limits.leave_ms} ms after {cause}; a bot must end by itself then")
    took = f"{(trio.current_time() - started) * 1000:.0f} ms"
    status = contact.process.exit_status if contact.process else 0
    await exam.close()
    if status:
        raise CheckWarning(f"it left after {took}, but with {exit_words(status)}; the exit status should be 0")
    return f"after {took}"


async def _notes(exam: Examination) -> str:
    if not exam.answer_ms:
        raise SkipCheck("the bot never answered")
    longest, most = exam.notes
    kept = f"the journal keeps {LONGEST_NOTE} characters of a note and {MOST_NOTES} of a bot's notes in a round"
    if longest > LONGEST_NOTE or most > MOST_NOTES:
        raise CheckWarning(f"its longest note had {longest} characters, and those of one round {most}; {kept}")
    return f"the longest had {longest} characters; {kept}" if longest else "it made none"


async def _speed_p99(exam: Examination) -> str:
    ordered = exam.answer_ms
    return _within(exam, ordered[math.ceil(len(ordered) * 0.99) - 1] if ordered else None)


async def _speed_worst(exam: Examination) -> str:
    return _within(exam, exam.answer_ms[-1] if exam.answer_ms else None)


def _within(exam: Examination, took: float | None) -> str:
    if took is None:
        raise SkipCheck("the bot never answered")
    measured = f"{took:.1f} ms of {exam.limits.move_ms} ms, over {len(exam.answer_ms)} answers"
    if took > exam.limits.move_ms:
        raise SlowAnswerError(measured, exam.slowest[1])
    return measured


# In the order in which they are made: first the situations, which take a few decisions each, then whole rounds.
CHECKS: Final = (
    Check("start", "starts in time", _start, plays=False),
    Check("hello", "answers hello", _hello, plays=False),
    Check("right-id", "answers with the id of the request", _right_id),
    Check("unknown-fields", "ignores fields that it does not know", _unknown_fields),
    Check("unknown-types", "ignores types of message that it does not know", _unknown_types),
    Check("early-end", "continues after a round that ends in the middle", _early_end),
    Check("second-match", "plays a second match in the same process", _second_match),
    *(Check(f"rules-{name}", f"only legal moves in {name}", _rules(name)) for name in PRESETS),
    Check("memory", "does not grow over many rounds", _memory),
    Check("bye", "leaves when the server says bye", _bye, plays=False),
    Check("end-of-input", "leaves at the end of its input", _end_of_input, plays=False),
    Check("notes", "its notes fit in the journal", _notes, plays=False, needs_bot=False),
    Check("speed-p99", "99 of 100 answers are within the limit", _speed_p99, plays=False, needs_bot=False),
    Check("speed-worst", "the slowest answer is within the limit", _speed_worst, plays=False, needs_bot=False),
)
