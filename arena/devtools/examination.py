"""How `arena check` judges a bot: one check after the other, on one connection as long as the bot behaves.

After a failure the next check gets a new connection. A check (check.py) is a function that returns what to say of a
success and raises Misbehaved for a failure, Warned or Skip.
"""

import contextlib
import enum
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import attrs

from arena.bots.link import said_text
from arena.bots.process import SpawnError
from arena.devtools.bot_sources import BotSource, ConnectTimeout
from arena.devtools.probe import CheckLimits, Misbehaved, Probe, plain


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


class Warned(Exception):
    """The check is passed, but the author should know something."""


class TooSlow(Misbehaved):
    def __init__(self, message: str, lines: tuple[str, ...]):
        super().__init__(message)
        self.lines = lines


class Skip(Exception):
    """The check cannot be made here."""


_LINES_SHOWN: Final = 6
_MOST_FAILURES: Final = 3  # in a row


@attrs.define
class Examination:
    source: BotSource
    limits: CheckLimits
    memory_rounds: int
    report: Callable[[Finding], None] = lambda _: None  # is called with the finding of each check that is made
    findings: list[Finding] = attrs.field(factory=list)  # of all checks, in their order
    _stack: contextlib.AsyncExitStack = attrs.field(factory=contextlib.AsyncExitStack)
    _probe: Probe | None = None
    _all_ms: list[float] = attrs.field(factory=list)
    _most_matches: int = 0
    _slowest: tuple[float, tuple[str, ...]] = (-1, ())
    _notes: tuple[int, int] = (0, 0)
    _nobody_came: bool = False

    async def run(self, checks: Iterable[tuple[str, str, "Check"]]) -> list[Finding]:
        """Makes the checks, each given by its code, its title and its function."""
        async with self._stack:
            for code, title, check in checks:
                if (reason := self.reason_to_skip()) and code not in ("notes", "speed-p99", "speed-worst"):
                    self.findings.append(Finding(code, title, Verdict.SKIPPED, reason))
                else:
                    await self._judge(code, title, check)
        return self.findings

    def reason_to_skip(self) -> str | None:
        """Why a bot that does not come to play, or fails again and again, is not asked everything else as well."""
        failed = [finding.verdict is Verdict.FAILED for finding in self.findings]
        if any(failed[:2]):
            return "not made: the bot did not come to play"
        if self._nobody_came:
            return "not made: the bot did not connect again"
        in_a_row = any(all(failed[n : n + _MOST_FAILURES]) for n in range(len(failed) - _MOST_FAILURES + 1))
        return f"not made after {_MOST_FAILURES} failures in a row" if in_a_row else None

    async def _judge(self, code: str, title: str, check: "Check") -> None:
        verdict = Verdict.OK
        lines: tuple[str, ...] = ()
        try:
            message = await check(self)
        except Warned as warned:
            verdict, message = Verdict.WARNING, str(warned)
        except Skip as skip:
            verdict, message = Verdict.SKIPPED, str(skip)
        except ConnectTimeout as nobody:
            self._nobody_came = True
            verdict, message = Verdict.SKIPPED, str(nobody)
        except (Misbehaved, SpawnError) as failure:
            verdict, message = Verdict.FAILED, str(failure)
            if isinstance(failure, TooSlow):
                lines = failure.lines
            elif self._probe:
                lines = tuple(map(said_text, self._probe.contact.link.transcript))[-_LINES_SHOWN:]
            await self.close()
        self.findings.append(Finding(code, title, verdict, message, lines))
        self.report(self.findings[-1])

    async def greeted(self) -> Probe:
        """A new connection to the bot, on which it has said something."""
        contact = await self._stack.enter_async_context(self.source.open())
        self._probe = Probe(contact, self.limits)
        await self._probe.greet()
        return self._probe

    async def probe(self) -> Probe:
        """The bot, met and idle."""
        probe = self._probe or await self.greeted()
        if probe.hello is None:
            await probe.meet()
        probe.mutate = plain
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


Check = Callable[[Examination], Awaitable[str]]
