"""How `arena check` judges a bot: one check after the other, on one connection as long as the bot behaves.

After a failure the next check gets a new connection. Checks (check.py) that play share the time that is left of the
budget: when its share is used up, a check ends its rounds early. So a bot that thinks for long plays fewer rounds, but
meets the same situations.
"""

import contextlib
import enum
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import attrs
import trio

from arena.bots.conversation import said_text
from arena.devtools.bot_sources import BotSource, ConnectTimeoutError
from arena.devtools.probe import CheckLimits, MisbehaviourError, Probe, plain
from arena.processes.process_state import SpawnError


class CheckVerdict(enum.Enum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@attrs.frozen
class CheckFinding:
    """The result of one check."""

    code: str
    title: str
    verdict: CheckVerdict
    message: str
    lines: tuple[str, ...] = ()  # the last ones before a failure; `>` to the bot, `<` from it
    transcript: tuple[str, ...] = ()  # all that is known of the connection on which the bot failed


@attrs.frozen
class Check:
    """One thing that a bot has to do right."""

    code: str
    title: str
    make: Callable[
        ["Examination"], Awaitable[str]
    ]  # returns the message of a success, or raises MisbehaviourError for a
    # failure, CheckWarning or SkipCheck
    plays: bool = True  # so it gets a share of the time
    needs_bot: bool = True  # False: it only judges what the others measured


class CheckWarning(Exception):
    """The bot passes the check, but its author should know something."""


class SlowAnswerError(MisbehaviourError):
    """An answer took too long; `lines` are the request and the answer."""

    def __init__(self, message: str, lines: tuple[str, ...]):
        super().__init__(message)
        self.lines = lines


class SkipCheck(Exception):
    """The check cannot be made here."""


_LINES_SHOWN: Final = 6
_MOST_FAILURES: Final = 3  # in a row


class Observer:
    """Hears how an examination proceeds. This one ignores it."""

    def begins(self, check: Check, exam: "Examination") -> None:
        """A check is about to be made."""

    def found(self, finding: CheckFinding) -> None:
        """A check was made."""


@attrs.define
class Examination:
    """Makes checks on one bot, and keeps what they measured across connections."""

    source: BotSource
    limits: CheckLimits
    memory_rounds: int
    budget: float = math.inf  # seconds
    observer: Observer = attrs.field(factory=Observer)
    until: float = math.inf  # when the rounds of the current check should end, by trio's clock
    findings: list[CheckFinding] = attrs.field(factory=list)  # of all checks, in their order
    _stack: contextlib.AsyncExitStack = attrs.field(factory=contextlib.AsyncExitStack)
    _probe: Probe | None = None
    _all_ms: list[float] = attrs.field(factory=list)
    _most_matches: int = 0
    _slowest: tuple[float, tuple[str, ...]] = (-1, ())
    _notes: tuple[int, int] = (0, 0)
    _did_not_connect: bool = False

    async def run(self, checks: Sequence[Check]) -> list[CheckFinding]:
        """Makes the checks and returns their findings."""
        deadline = trio.current_time() + self.budget
        async with self._stack:
            for place, check in enumerate(checks):
                if check.needs_bot and (reason := self.reason_to_skip()):
                    self.findings.append(CheckFinding(check.code, check.title, CheckVerdict.SKIPPED, reason))
                    self.observer.found(self.findings[-1])
                    continue
                now, sharing = trio.current_time(), sum(later.plays for later in checks[place:])
                self.until = now + max(0.0, deadline - now) / sharing if check.plays else deadline
                self.observer.begins(check, self)
                await self._judge(check)
        return self.findings

    def reason_to_skip(self) -> str | None:
        """Why further checks are pointless: the bot does not start or connect, or fails again and again."""
        failed = [finding.verdict is CheckVerdict.FAILED for finding in self.findings]
        if any(failed[:2]):
            return "not made: the bot did not start and say hello"
        if self._did_not_connect:
            return "not made: the bot did not connect again"
        in_a_row = any(all(failed[n : n + _MOST_FAILURES]) for n in range(len(failed) - _MOST_FAILURES + 1))
        return f"not made after {_MOST_FAILURES} failures in a row" if in_a_row else None

    async def _judge(self, check: Check) -> None:
        verdict = CheckVerdict.OK
        lines: tuple[str, ...] = ()
        transcript: tuple[str, ...] = ()
        try:
            message = await check.make(self)
        except CheckWarning as warned:
            verdict, message = CheckVerdict.WARNING, str(warned)
        except SkipCheck as skip:
            verdict, message = CheckVerdict.SKIPPED, str(skip)
        except ConnectTimeoutError as timeout:
            self._did_not_connect = True
            verdict, message = CheckVerdict.SKIPPED, str(timeout)
        except (MisbehaviourError, SpawnError) as failure:
            verdict, message = CheckVerdict.FAILED, str(failure)
            if isinstance(failure, SlowAnswerError):
                lines = transcript = failure.lines
            elif self._probe:
                transcript = tuple(map(said_text, self._probe.contact.link.transcript))
                lines = transcript[-_LINES_SHOWN:]
            await self.close()
        self.findings.append(CheckFinding(check.code, check.title, verdict, message, lines, transcript))
        self.observer.found(self.findings[-1])

    async def greeted(self) -> Probe:
        """Opens a new connection to the bot, says hello and waits until the bot says anything."""
        contact = await self._stack.enter_async_context(self.source.open())
        self._probe = Probe(contact, self.limits)
        await self._probe.greet()
        return self._probe

    async def probe(self) -> Probe:
        """The bot on the current connection, or on a new one, with the hellos exchanged."""
        probe = self._probe or await self.greeted()
        if probe.hello is None:
            await probe.meet()
        probe.mutate = plain
        return probe

    async def close(self) -> None:
        """Closes the connection; what was measured on it is kept."""
        if self._probe:
            self._all_ms += self._probe.answer_ms
            self._most_matches = max(self._most_matches, self._probe.matches)
            self._slowest = self.slowest
            self._notes = self.notes
            self._probe = None
        await self._stack.aclose()

    @property
    def seconds_left(self) -> float:
        """Seconds that the current check has for its rounds."""
        return max(0.0, self.until - trio.current_time())

    @property
    def answer_ms(self) -> list[float]:
        """Milliseconds of every answer so far, sorted."""
        return sorted(self._all_ms + (self._probe.answer_ms if self._probe else []))

    @property
    def slowest(self) -> tuple[float, tuple[str, ...]]:
        """Milliseconds of the slowest answer, and the lines exchanged for it."""
        return max(self._slowest, self._probe.slowest) if self._probe else self._slowest

    @property
    def notes(self) -> tuple[int, int]:
        """How many characters the longest note had, and how many all notes of one round had at most."""
        longest, most = self._notes
        return (
            (max(longest, self._probe.longest_note), max(most, self._probe.most_noted)) if self._probe else self._notes
        )

    @property
    def most_matches(self) -> int:
        """The most matches that were played on one connection."""
        return max(self._most_matches, self._probe.matches if self._probe else 0)
