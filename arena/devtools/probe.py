"""One connection to a bot under check, on which a check can send anything. MisbehaviourError says what the bot did
wrong."""

import contextlib
import math
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import attrs
import trio

from arena.bots.conversation import LinkClosedError, said_text
from arena.devtools.bot_sources import Contact
from arena.journal.endings import Fault
from arena.match.match_messages import MatchMessages
from arena.match.referee import Question, Referee
from arena.plan.deals import DealKey, Dealt
from arena.plan.schedule import RoundId
from arena.plan.time_control import USUAL_MS
from arena.processes.process_state import exit_words
from engine.cards import SEATS, other
from engine.deal import Deal
from engine.ruleset import RuleSet
from engine.scoring import Score
from protocol.errors import RemoteProtocolError
from protocol.messages import (
    PROTOCOL,
    BotAction,
    BotHello,
    Bye,
    Clock,
    EncodedRequest,
    Error,
    MatchClock,
    Message,
    RevealedDeal,
    ServerHello,
    Welcome,
)
from protocol.session import Session

T = TypeVar("T")
OPPONENT: Final = "checker"
_MOST_LATE_ANSWERS: Final = 20  # more of them fail a check at once; fewer are left to the checks of speed
_LEAST_DECISIONS: Final = 2  # in a match, even if there is no time for it: both sides of a change of turn
_QUIET_SECONDS: Final = 0.05
_KEY: Final = DealKey("arena check", is_public=True)  # the same in every check, so that what was found can be repeated


class MisbehaviourError(Exception):
    """What the bot did wrong, and what would have been right."""


@attrs.frozen
class CheckLimits:
    """How long a bot may take under check."""

    start_ms: int = USUAL_MS
    move_ms: int = USUAL_MS
    leave_ms: int = USUAL_MS  # to end by itself; less would fail honest bots on a busy machine
    patience_ms: int = 5_000  # the least time to wait for an answer, to tell a slow bot from one that hangs

    @property
    def patience(self) -> float:
        """Seconds to wait for an answer."""
        return max(self.move_ms * 2, self.patience_ms) / 1000


LineMutator = Callable[[bytes], list[bytes]]


def plain(line: bytes) -> list[bytes]:
    return [line]


@attrs.define
class Round:
    """A round in which the bot plays against random moves."""

    referee: Referee
    deal: RevealedDeal
    rng: random.Random  # chooses the opponent's moves
    noted: int = 0  # characters of the bot's notes


class Probe:
    """Plays matches with the bot. The methods that wait raise MisbehaviourError when the bot breaks the protocol or
    ends."""

    def __init__(self, contact: Contact, limits: CheckLimits, mutate: LineMutator = plain):
        self.contact = contact
        self.mutate = mutate  # returns the lines that are sent in place of a line
        self.limits = limits
        self.hello: BotHello | None = None
        self.greeted_ms = 0.0
        self._late = 0  # answers over the limit
        self.answer_ms: list[float] = []
        self.slowest: tuple[float, tuple[str, ...]] = (-1, ())  # milliseconds, and the lines exchanged
        self.late_answers_expected = 0
        self.longest_note = self.most_noted = 0  # in characters; of all notes of a round
        self.matches = 0
        self._link = contact.link

    @property
    def session(self) -> Session:
        return self._link.session

    @property
    def wants_legal(self) -> bool:
        assert self.hello is not None
        return self.hello.legal

    async def greet(self) -> None:
        """Says hello and waits until the bot says anything."""
        started = trio.current_time()
        await self.say(ServerHello(PROTOCOL, "arena check"))
        await self._waited(self._link.wait_line, self.limits.start_ms / 1000)
        self.greeted_ms = (trio.current_time() - started) * 1000

    async def meet(self) -> BotHello:
        """Waits for the bot's hello, after `greet`, and welcomes the bot."""
        hello = await self._waited(self._link.hear, self.limits.start_ms / 1000)
        assert isinstance(hello, BotHello)  # the session allows nothing else here
        self.hello = hello
        await self.say(Welcome(hello.name, seed=self._bot_seed("check")))
        return hello

    async def play_match(self, rules: RuleSet, rounds: int, until: float = math.inf) -> int:
        """Plays a match and returns how many of its rounds were played to their end. When trio's clock says `until`,
        the opponent gives up the round under way and all later ones. Raises MisbehaviourError at the bot's first
        fault."""
        await self.start_match(rules, rounds)
        played = 0
        for number in range(rounds):
            current = await self.start_round()
            await self.play_on(current, until=until, least=0 if number else _LEAST_DECISIONS)
            is_over = current.referee.outcome is not None
            await self.end_round(current, None if is_over else Fault.DISCONNECTED)
            played += is_over
        await self.end_match()
        return played

    async def start_match(self, rules: RuleSet, rounds: int) -> None:
        """Starts a match. The bot changes its seat from match to match; the opponent begins."""
        self.matches += 1
        seat = SEATS[self.matches % 2]
        self._score, self._rounds = Score(rules, first=other(seat)), 0
        self._messages = MatchMessages(
            self,
            seat,
            match=f"check-{self.matches}",
            opponent=OPPONENT,
            rounds=rounds,
            rules=rules.name,
            clock=MatchClock(self.limits.move_ms, None, 0),
        )
        await self.say(self._messages.start_match())

    async def end_match(self) -> None:
        await self.say(self._messages.end_match(self._score))

    async def start_round(self) -> Round:
        self._rounds += 1
        seed, score = f"check-{self.matches}/{self._rounds}", self._score
        dealt = Dealt(seed, "checked", Deal.from_seed(seed, score.rules.tactics))
        current = Round(
            Referee(score.rules, dealt.deal, score.first), dealt.revealed(self._rounds), random.Random(seed)
        )
        await self.say(self._messages.start_round(current.referee, current.deal, score, self._bot_seed(seed)))
        return current

    def _bot_seed(self, of: str) -> int:
        assert self.hello is not None
        return _KEY.bot_seeds(RoundId(of), 0, 0, (self.hello.name, OPPONENT))[0]

    async def play_on(self, current: Round, most: int | None = None, until: float = math.inf, least: int = 0) -> None:
        """Plays to the end of the round, or until the bot has made `most` decisions, or until the time `until` and the
        bot has made at least `least` decisions."""
        answered = 0
        while (ask := self._next_question(current)) and answered != most:
            if answered >= least and trio.current_time() >= until:
                return
            await self._ask(ask)
            answered += 1
            await self._take_answer(current)

    def _next_question(self, current: Round) -> Question | None:
        """Makes the opponent's moves. Returns the next question to the bot; None if the round is over."""
        referee = current.referee
        while (ask := referee.ask()) and ask.seat != self._messages.seat:
            referee.answer(current.rng.choice(ask.legal).text, 0)
        return ask

    async def ask(self, current: Round) -> None:
        """Asks the next question, without waiting for its answer."""
        ask = self._next_question(current)
        assert ask is not None
        await self._ask(ask)

    async def _ask(self, ask: Question) -> None:
        await self.say(self._messages.ask(ask, Clock(self.limits.move_ms, None)))

    async def _take_answer(self, current: Round) -> None:
        asked, ignored = trio.current_time(), self._link.ignored
        action = await self._waited(self._link.hear, self.limits.patience)
        assert isinstance(action, BotAction)  # the session allows nothing else here
        if not self.late_answers_expected:  # else the bot may have thought about an older request for part of the time
            self._measure((trio.current_time() - asked) * 1000)
        if self._link.ignored - ignored > self.late_answers_expected:
            raise MisbehaviourError("the bot answered a request twice; it must answer each request once")
        self.late_answers_expected = 0
        self.longest_note = max(self.longest_note, len(action.note or ""))
        current.noted += len(action.note or "")
        self.most_noted = max(self.most_noted, current.noted)
        current.referee.answer(action.move, 0)
        if fault := current.referee.fault:
            await self._tell_fault(Error(fault.ending.value, fault.detail, fatal=True))
            raise MisbehaviourError(f"an illegal move: {fault.detail}")

    def _measure(self, took: float) -> None:
        if took > self.slowest[0]:
            self.slowest = (took, tuple(map(said_text, self._link.transcript))[-2:])
        self.answer_ms.append(took)
        self._late += took > self.limits.move_ms
        if self._late > _MOST_LATE_ANSWERS:
            slowest = f"the slowest {self.slowest[0]:.0f} ms"
            raise MisbehaviourError(f"{self._late} answers took longer than {self.limits.move_ms} ms, {slowest}")

    async def end_round(self, current: Round, fault: Fault | None = None) -> None:
        """Ends the round as it ended by the rules, or by a fault of the opponent."""
        referee = current.referee
        if fault:
            referee.forfeit(other(self._messages.seat), fault, "the check wants it so")
        assert referee.outcome is not None
        self._score = self._score.after(referee.outcome)
        await self.say(self._messages.end_round(referee.outcome, [current.deal]))

    async def expect_silence(self) -> None:
        """Raises MisbehaviourError if the bot speaks although no request is open."""
        with trio.move_on_after(_QUIET_SECONDS):
            await self._waited(self._link.hear, math.inf)

    async def leave(self) -> None:
        await self.say(Bye("the check is over"))

    async def say(self, message: Message | EncodedRequest | None) -> None:
        assert message is not None  # the messages has something to say: the probe never starts or ends anything twice
        try:
            for line in self.mutate(self._link.line_for(message)):
                with trio.fail_after(self.limits.patience):
                    await self._link.say_line(line)
        except trio.TooSlowError:
            raise MisbehaviourError("the bot does not read its input: the pipe to it is full") from None
        except RemoteProtocolError as error:
            raise MisbehaviourError(f"{error} ({error.code})") from error
        except LinkClosedError as error:
            raise await self._gone(error) from error

    async def _waited(self, wait: Callable[[], Awaitable[T]], seconds: float) -> T:
        try:
            with trio.move_on_after(seconds):
                return await wait()
        except RemoteProtocolError as error:
            if self.contact.process and self.contact.process.overrun:  # the keeper killed it in the middle of a line
                raise await self._gone(error) from error
            await self._tell_fault(Error(error.code, str(error), fatal=True))
            raise MisbehaviourError(f"{error} ({error.code})") from error
        except LinkClosedError as error:
            raise await self._gone(error) from error
        raise MisbehaviourError(await self._why_silent(seconds))

    async def _tell_fault(self, error: Error) -> None:
        """Tells the bot what was wrong, if it still reads."""
        with trio.move_on_after(self.limits.patience), contextlib.suppress(LinkClosedError):
            await self._link.say(error)

    async def _gone(self, closed: LinkClosedError | RemoteProtocolError) -> MisbehaviourError:
        process = self.contact.process
        if process is None:
            return MisbehaviourError(str(closed))
        wrote = await process.last_words()
        status = process.exit_status
        how = "the bot closed its output but still runs" if status is None else f"the bot ended ({exit_words(status)})"
        if process.overrun:
            how = f"the bot was ended: {process.overrun.words}"
        return MisbehaviourError(
            f"{how}; on stderr it wrote:\n{wrote}" if wrote else f"{how}; it wrote nothing on stderr"
        )

    async def _why_silent(self, seconds: float) -> str:
        """Closes the bot's input to distinguish a bot that buffers its output from one that does nothing."""
        last = self._link.transcript[-1]
        if last[0]:
            came = said_text(last)
            return f"no answer to the open request within {seconds:g} seconds; the bot answered an older one: {came}"
        silent = self._link.unfinished_line() or f"nothing arrived within {seconds:g} seconds"
        if self.contact.process is None:
            return silent
        self.contact.close_input()
        with trio.move_on_after(self.limits.leave_ms / 1000), contextlib.suppress(LinkClosedError, RemoteProtocolError):
            await self._link.hear()
            return (
                f"{silent}, but the answer came as soon as the bot's input was closed: its output is buffered. "
                "Flush after every line: print(..., flush=True) in Python, fflush(stdout) in C, std::endl in C++"
            )
        return silent
