"""How `arena check` judges a bot: one check after the other, on one connection as long as the bot behaves.

After a failure the next check gets a new connection. A check (check.py) is a function that returns the message of a
success, or raises Misbehaved for a failure, Warned or Skip.
"""

import contextlib
import enum
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import attrs

from arena.bots.conversation import said_text
from arena.bots.process_state import SpawnError
from arena.devtools.bot_sources import BotSource, ConnectTimeout
from arena.devtools.probe import CheckLimits, Misbehaved, Probe, plain


class Verdict(enum.Enum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@attrs.frozen
class Finding:
    """The result of one check."""

    code: str
    title: str
    verdict: Verdict
    message: str
    lines: tuple[str, ...] = ()  # the last ones before a failure; `>` to the bot, `<` from it


class Warned(Exception):
    """The bot passes the check, but its author should know something."""


class TooSlow(Misbehaved):
    """An answer took too long; `lines` are the request and the answer."""

    def __init__(self, message: str, lines: tuple[str, ...]):
        super().__init__(message)
        self.lines = lines


class Skip(Exception):
    """The check cannot be made here."""


_LINES_SHOWN: Final = 6
_MOST_FAILURES: Final = 3  # in a row


@attrs.define
class Examination:
    """Makes checks on one bot, and keeps what they measured across connections."""

    source: BotSource
    limits: CheckLimits
    memory_rounds: int
    report: Callable[[Finding], None] = lambda _: None  # called with the finding of each check that is made
    findings: list[Finding] = attrs.field(factory=list)  # of all checks, in their order
    _stack: contextlib.AsyncExitStack = attrs.field(factory=contextlib.AsyncExitStack)
    _probe: Probe | None = None
    _all_ms: list[float] = attrs.field(factory=list)
    _most_matches: int = 0
    _slowest: tuple[float, tuple[str, ...]] = (-1, ())
    _notes: tuple[int, int] = (0, 0)
    _did_not_connect: bool = False

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
        """Why further checks are pointless: the bot does not start or connect, or fails again and again."""
        failed = [finding.verdict is Verdict.FAILED for finding in self.findings]
        if any(failed[:2]):
            return "not made: the bot did not start and say hello"
        if self._did_not_connect:
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
        except ConnectTimeout as timeout:
            self._did_not_connect = True
            verdict, message = Verdict.SKIPPED, str(timeout)
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


Check = Callable[[Examination], Awaitable[str]]
