"""A bot under examination: one connection, played by hand, where any misbehaviour is told in words."""

import contextlib
import itertools
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Protocol, TypeVar

import attrs
import trio

from arena.bots.link import Link, LinkClosed, said_text
from arena.bots.process import BotProcess, exit_words, spawn
from arena.journal.endings import Fault
from arena.match import translate
from arena.match.referee import Ask, Referee
from arena.plan.bot_spec import BotSpec
from engine.cards import SEATS, Seat, card_texts, other
from engine.deal import Deal
from engine.ruleset import RuleSet
from protocol.errors import RemoteProtocolError
from protocol.fairness import hash_of
from protocol.messages import (
    PROTOCOL,
    Action,
    BotHello,
    Bye,
    Clock,
    Error,
    MatchClock,
    MatchEnd,
    MatchStart,
    Message,
    RevealedDeal,
    RoundStart,
    ServerHello,
    Welcome,
)

T = TypeVar("T")
OPPONENT: Final = "checker"
_MOST_LATE_ANSWERS: Final = 20  # before a check is ended; fewer are judged by their times at the end
_QUIET_SECONDS: Final = 0.05
_SALT: Final = "checked"


class Misbehaved(Exception):
    """What the bot did wrong, and what would have been right."""


@attrs.frozen
class Limits:
    start_ms: int = 10_000
    move_ms: int = 1_000
    leave_ms: int = 2_000
    patience_ms: int = 5_000  # waited for an answer in any case, to tell a slow bot from one that hangs

    @property
    def patience(self) -> float:
        """Seconds to wait for an answer."""
        return max(self.move_ms * 2, self.patience_ms) / 1000


@attrs.frozen
class Contact:
    """A connection to the bot, and its process if it is ours."""

    link: Link
    close_input: Callable[[], None]
    process: BotProcess | None

    async def wait_gone(self) -> None:
        """Returns once the process has ended, or the bot has closed the connection."""
        if self.process:
            await self.process.wait_exit()
        else:
            await self.link.wait_closed()


class Door(Protocol):
    """Where a bot comes in: each opening is a new connection."""

    def open(self) -> contextlib.AbstractAsyncContextManager[Contact]: ...


@attrs.frozen
class CommandDoor:
    spec: BotSpec

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Contact]:
        async with spawn(self.spec) as process:
            yield Contact(Link(process.stream), process.stream.close_writer, process)


class NobodyCame(Exception):
    """No bot connected in time."""


@attrs.define
class ListeningDoor:
    """For bots that connect over TCP. The first may take its time, later ones have `seconds`."""

    listener: trio.SocketListener
    seconds: float
    tell: Callable[[str], None]
    _waits: float = math.inf

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Contact]:
        if self._waits < math.inf:
            self.tell(f"Start the bot again now: it has {self.seconds:g} seconds to connect.")
        with trio.move_on_after(self._waits) as scope:
            stream = await self.listener.accept()
        if scope.cancelled_caught:
            raise NobodyCame(f"no bot connected within {self.seconds:g} seconds: start it again for this check")
        self._waits = self.seconds
        async with stream:
            yield Contact(Link(stream), lambda: _shut(stream), None)


def _shut(stream: trio.SocketStream) -> None:
    """The bot sees the end of its input."""
    with contextlib.suppress(OSError):  # it has gone already
        stream.socket.shutdown(trio.socket.SHUT_WR)


Twist = Callable[[bytes], list[bytes]]


def plain(line: bytes) -> list[bytes]:
    return [line]


@attrs.define
class Round:
    number: int
    seat: Seat  # the bot's
    referee: Referee
    deal: RevealedDeal
    rng: random.Random  # plays the opponent
    noted: int = 0  # characters of the bot's notes


class Probe:
    def __init__(self, contact: Contact, limits: Limits, twist: Twist = plain):
        self.contact = contact
        self.twist = twist  # what is really sent in place of each line
        self.limits = limits
        self.hello: BotHello | None = None
        self.greeted_ms = 0.0
        self._late = 0  # answers over the limit
        self.answer_ms: list[float] = []
        self.slowest: tuple[float, tuple[str, ...]] = (-1, ())  # milliseconds, and what was said
        self.late_answers_expected = 0
        self.longest_note = self.most_noted = 0  # characters of a note, and of the notes of a round
        self.matches = 0
        self._link = contact.link
        self.ids = itertools.count(1)
        self._points = (0, 0)  # the bot's, the opponent's

    async def greet(self) -> None:
        """Says hello and waits until the bot says anything."""
        started = trio.current_time()
        await self.say(ServerHello(PROTOCOL, "arena check"))
        await self._waited(self._link.wait_line, self.limits.start_ms / 1000)
        self.greeted_ms = (trio.current_time() - started) * 1000

    async def meet(self) -> BotHello:
        """After the greeting."""
        hello = await self._waited(self._link.hear, self.limits.start_ms / 1000)
        assert isinstance(hello, BotHello)  # the session allows nothing else here
        self.hello = hello
        await self.say(Welcome(hello.name))
        return hello

    async def play_match(self, rules: RuleSet, rounds: int) -> None:
        """A match against random moves. Raises Misbehaved at the bot's first fault."""
        await self.start_match(rules, rounds)
        for number in range(1, rounds + 1):
            current = await self.start_round(rules, number)
            await self.play_on(current)
            await self.end_round(current)
        await self.end_match()

    async def start_match(self, rules: RuleSet, rounds: int) -> None:
        self.matches += 1
        self._points = (0, 0)
        clock = MatchClock(self.limits.move_ms, None, 0)
        await self.say(MatchStart(self._match_id, OPPONENT, rounds, rules.name, clock))

    async def end_match(self) -> None:
        ours, theirs = self._points
        winner = None if ours == theirs else SEATS[theirs > ours]
        await self.say(
            MatchEnd(self._match_id, translate.result(winner, SEATS[0]), translate.points(self._points, SEATS[0]))
        )

    @property
    def _match_id(self) -> str:
        return f"check-{self.matches}"

    async def start_round(self, rules: RuleSet, number: int) -> Round:
        seed = f"{self._match_id}/{number}"
        seat = SEATS[number % 2]
        deal = Deal.from_seed(seed, rules.tactics)
        referee = Referee(rules, deal, first=SEATS[0])
        revealed = RevealedDeal(number, card_texts(deal.clan), card_texts(deal.tactics), _SALT)
        await self.say(
            RoundStart(
                round=number,
                seat=0 if seat == SEATS[0] else 1,
                first="you" if seat == SEATS[0] else "opponent",
                hand=card_texts(tuple(referee.game.hands[seat])),
                points=translate.points(self._points, SEATS[0]),
                deal_hash=hash_of(revealed),
            )
        )
        return Round(number, seat, referee, revealed, random.Random(seed))

    async def play_on(self, current: Round, most: int | None = None) -> None:
        """To the end of the round, or until the bot has made `most` decisions."""
        answered = 0
        while (ask := self._next_question(current)) and answered != most:
            await self.ask(current, ask)
            answered += 1
            await self._take_answer(current)

    def _next_question(self, current: Round) -> Ask | None:
        """What the bot is to be asked next, after the opponent's moves."""
        referee = current.referee
        while (ask := referee.ask()) and ask.seat != current.seat:
            referee.answer(current.rng.choice(ask.legal).text, 0)
        return ask

    async def ask(self, current: Round, ask: Ask | None = None) -> None:
        """The next question, without waiting for its answer."""
        ask = ask or self._next_question(current)
        assert ask is not None
        assert self.hello is not None
        both = self._points if current.seat == SEATS[0] else self._points[::-1]
        clock = Clock(self.limits.move_ms, None)
        await self.say(current.referee.request(ask, next(self.ids), both, clock, with_legal=self.hello.legal))

    async def _take_answer(self, current: Round) -> None:
        asked, ignored = trio.current_time(), self._link.ignored
        action = await self._waited(self._link.hear, self.limits.patience)
        assert isinstance(action, Action)  # the session allows nothing else here
        took = (trio.current_time() - asked) * 1000
        if took > self.slowest[0]:
            self.slowest = (took, tuple(map(said_text, self._link.transcript))[-2:])
        self.answer_ms.append(took)
        self._late += took > self.limits.move_ms
        if self._late > _MOST_LATE_ANSWERS:
            slowest = f"the slowest {self.slowest[0]:.0f} ms"
            raise Misbehaved(f"{self._late} answers took longer than {self.limits.move_ms} ms, {slowest}")
        if self._link.ignored - ignored > self.late_answers_expected:
            raise Misbehaved("an answer to a request that had been answered already; a bot answers once")
        self.late_answers_expected = 0
        self.longest_note = max(self.longest_note, len(action.note or ""))
        current.noted += len(action.note or "")
        self.most_noted = max(self.most_noted, current.noted)
        current.referee.answer(action.move, 0)
        if fault := current.referee.fault:
            await self._tell_fault(Error(fault.ending.value, fault.detail, fatal=True))
            raise Misbehaved(f"an illegal move: {fault.detail}")

    async def end_round(self, current: Round, ending: Fault | None = None) -> None:
        """As it ended by the rules, or because the opponent failed in some way."""
        referee, seat = current.referee, current.seat
        if ending:
            referee.forfeit(other(seat), ending, "as the check wants it")
        assert referee.outcome is not None
        won = referee.outcome.points
        self._points = (self._points[0] + won[seat], self._points[1] + won[other(seat)])
        await self.say(translate.round_end(current.number, referee.outcome, seat, [current.deal]))

    async def expect_silence(self) -> None:
        """Raises Misbehaved if the bot speaks though nobody asks."""
        with trio.move_on_after(_QUIET_SECONDS):
            await self._waited(self._link.hear, math.inf)

    async def leave(self) -> None:
        await self.say(Bye("the check is over"))

    async def say(self, message: Message) -> None:
        try:
            for line in self.twist(self._link.line_for(message)):
                with trio.fail_after(self.limits.patience):
                    await self._link.say_line(line)
        except trio.TooSlowError:
            raise Misbehaved("the bot does not read: what was said to it does not fit in the pipe any more") from None
        except RemoteProtocolError as error:
            raise Misbehaved(f"{error} ({error.code})") from error
        except LinkClosed as error:
            raise await self._gone(error) from error

    async def _waited(self, wait: Callable[[], Awaitable[T]], seconds: float) -> T:
        try:
            with trio.move_on_after(seconds):
                return await wait()
        except RemoteProtocolError as error:
            if self.contact.process and self.contact.process.overrun:  # it was ended in the middle of a line
                raise await self._gone(error) from error
            await self._tell_fault(Error(error.code, str(error), fatal=True))
            raise Misbehaved(f"{error} ({error.code})") from error
        except LinkClosed as error:
            raise await self._gone(error) from error
        raise Misbehaved(await self._why_silent(seconds))

    async def _tell_fault(self, error: Error) -> None:
        """The bot hears what was wrong, if it listens."""
        with trio.move_on_after(self.limits.patience), contextlib.suppress(LinkClosed):
            await self._link.say(error)

    async def _gone(self, closed: LinkClosed | RemoteProtocolError) -> Misbehaved:
        process = self.contact.process
        if process is None:
            return Misbehaved(str(closed))
        wrote = await process.last_words()
        status = process.exit_status
        how = "the bot closed its output but still runs" if status is None else f"the bot ended ({exit_words(status)})"
        if process.overrun:
            how = f"the bot was ended: {process.overrun.words}"
        return Misbehaved(f"{how}; on stderr it wrote:\n{wrote}" if wrote else f"{how}; it wrote nothing on stderr")

    async def _why_silent(self, seconds: float) -> str:
        """Tells a bot that buffers its output from one that does nothing."""
        last = self._link.transcript[-1]
        if last[0]:
            came = said_text(last)
            return f"no answer to the open request within {seconds:g} seconds; what came was for an older one: {came}"
        silent = self._link.unfinished_line() or f"nothing arrived within {seconds:g} seconds"
        if self.contact.process is None:
            return silent
        self.contact.close_input()
        with trio.move_on_after(self.limits.leave_ms / 1000), contextlib.suppress(LinkClosed, RemoteProtocolError):
            await self._link.hear()
            return (
                f"{silent}, but the answer came as soon as the bot's input was closed: its output is buffered. "
                "Flush after every line: print(..., flush=True) in Python, fflush(stdout) in C, std::endl in C++"
            )
        return silent
