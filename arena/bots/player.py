"""What a match needs from a bot, whether the bot is a local process or connected to the server. Pure: what a player
does is logic for a driver (wants.py)."""

import abc
import math
from collections.abc import Callable
from typing import Any, Final, Protocol

from arena.bots.conversation import LinkClosedError
from arena.bots.turns import Turns
from arena.bots.wants import BotLink, Logic
from arena.journal.endings import Fault
from arena.journal.identity import BotLine, Fingerprint, bot_line
from arena.plan.bot_spec import AnySpec, BotSpec
from arena.processes.launch import KillCause, Overrun
from arena.processes.process_state import KeepStderr, ProcessState, SpawnError, exit_words
from arena.sandbox.bubblewrap import program_problem
from arena.support.timekeeping import TimeIsUpError
from arena.support.timestamps import utc_now
from arena.support.version import SERVER
from protocol.errors import RemoteProtocolError
from protocol.messages import PROTOCOL, BotHello, Bye, Error, Message, ServerHello, Welcome
from protocol.session import Session, State

_LAST_LINES: Final = 2  # of stderr in the reason of a fault: an exception, and what a program says after it
_LAST_WORDS: Final = 300  # characters of them
_SEND_SECONDS: Final = 5.0  # for a message that is not a request, to a bot that does not read
_KEPT_ROUNDS: Final = 10_000  # of a process, by name: 1.5 MB; at a server it may live for months


class StartError(Exception):
    """The bot failed to start; the text says why. `time_was_up` is its deadline if it was too slow."""

    def __init__(self, reason: str, time_was_up: float | None = None):
        super().__init__(reason)
        self.time_was_up = time_was_up


class EarlyExitError(Exception):
    """The bot exited on its own between two rounds. It loses the round that was about to begin."""

    def __init__(self, ending: Fault, reason: str):
        super().__init__(reason)
        self.ending = ending


class BotGoneError(Exception):
    """The bot left in the middle of a round and will not come back."""

    def __init__(self, ending: Fault, reason: str):
        super().__init__(reason)
        self.ending = ending


class TakenBack(Exception):
    """The player, who is a person, takes back their last decision of the round."""


class Player(abc.ABC):
    """A bot that takes part in matches. It is "at the table" while it is connected."""

    has_hints = False  # whether the player, who is a person, is shown what an evaluator would play

    def __init__(self, spec: AnySpec) -> None:
        self.spec = spec
        self.link: BotLink | None = None  # None while the bot is away
        self.wants_legal = True
        self.welcome_seed: int | None = None  # the one in its welcome
        self.identity: BotLine | None = None  # of what came last; None if it never came
        # What its process has played, if the arena started it: how many rounds, and of the first ones their ids and the
        # bot's seeds.
        self.round_count = 0
        self.rounds: list[tuple[str, int | None]] = []
        self.turns = Turns()
        self.is_stopped = False

    @property
    def session(self) -> Session | None:
        return self.link.session if self.link else None

    @property
    def is_here(self) -> bool:
        """Whether the bot is at the table, so that there is no need to wait until it arrives."""
        return self.link is not None

    def tell(self, message: Message) -> Logic[bool]:
        """Send a message that needs no answer, and return whether the bot took it. A failure has no other consequence
        here, because the next request to the bot will fail as well."""
        assert self.link is not None
        self.go_on()
        try:
            yield from self.link.tell(self.link.line_for(message), self.now() + _SEND_SECONDS)
        except (LinkClosedError, TimeIsUpError):
            return False
        return True

    def greet(self, link: BotLink, deadline: float) -> Logic[None]:
        """Begin to speak the protocol on a new connection. Raises LinkClosedError, RemoteProtocolError and
        TimeIsUpError."""
        yield from link.tell(link.line_for(ServerHello(PROTOCOL, SERVER)), deadline)
        hello = yield from link.listen(deadline)
        assert isinstance(hello, BotHello)  # the session allows nothing else here
        self.wants_legal = hello.legal
        self._identify(hello, self.identity.fingerprint if self.identity else None)
        yield from link.tell(link.line_for(Welcome(self.spec.name, seed=self.welcome_seed)), deadline)
        link.transcript.clear()  # the hello may contain a token

    def _identify(self, hello: BotHello | None, fingerprint: Fingerprint | None) -> None:
        """Note who plays now. Before its hello, a program that came before is taken for the same player."""
        if hello is None and self.identity is not None and self.identity.fingerprint == fingerprint:
            return
        found = bot_line(self.spec.name, hello, fingerprint, utc_now())
        if self.identity is None or self.identity.id != found.id:
            self.identity = found

    def note_round(self, id: str, seed: int | None) -> None:  # noqa: B027
        """Take note that a round was played, and of the bot's seed in it, if the bot can be led through it again."""

    @abc.abstractmethod
    def now(self) -> float:
        """The time by the driver's clock."""

    @abc.abstractmethod
    def arrive(self, seed: int | None = None) -> Logic[None]:
        """Get the bot to the table if it is not there. `seed` is that of the round for which it comes. Raises
        StartError if it does not start, and EarlyExitError if it exited since the previous round."""

    @abc.abstractmethod
    def come_back(self, closed: str, until: float) -> Logic[None]:
        """Wait until a bot whose link closed, as `closed` says, has another one. Raises BotGoneError if it does not
        come, and TimeIsUpError."""

    @abc.abstractmethod
    def leave(self) -> Logic[None]:
        """Dismiss the bot; it starts again for its next round."""

    @abc.abstractmethod
    def match_over(self) -> Logic[None]:
        """Give back what the player had for the match, which is over. It plays no other one unless it is kept."""

    def stop(self) -> None:  # noqa: B027
        """Stop its processes until something is sent to it, if the arena started them."""

    def stop_late(self) -> None:  # noqa: B027
        """The same, when its opponent has not answered at once."""

    def go_on(self) -> None:  # noqa: B027
        """Let its processes run, because something is about to be sent to it."""

    @property
    def exit_status(self) -> int | None:
        return None

    @property
    def overrun(self) -> Overrun | None:
        """The exceeded limit for which the arena killed the bot, if it did."""
        return None

    @property
    def killed(self) -> KillCause | None:
        """What ended its process, if it was neither the bot nor one of its limits."""
        return None

    @property
    def stderr_tail(self) -> str | None:
        return None


class OwnedProcess(Protocol):
    """A bot's process that a driver runs."""

    @property
    def state(self) -> ProcessState[Any]: ...

    @property
    def link(self) -> BotLink: ...

    def last_words(self) -> Logic[str]:
        """The tail of stderr once the bot has exited; waits a moment for it."""

    def end(self) -> Logic[None]:
        """End the process and wait until it is gone."""


class Processes(Protocol):
    """Runs the processes of bots. Each driver has its own, and ends all processes when it ends."""

    def now(self) -> float: ...

    def fingerprint(self, spec: BotSpec) -> Fingerprint:
        """What would be started now."""

    def start(self, spec: BotSpec, keep_stderr: KeepStderr, until: float) -> Logic[OwnedProcess]:
        """Start a bot. Raises SpawnError, TimeIsUpError, and OSError for what is not the bot's fault."""


class LocalPlayer(Player):
    """A bot that is a local process: started on demand, kept running between rounds. When a match is over, `keep` is
    called with the player; without it, the process ends."""

    spec: BotSpec

    def __init__(
        self,
        spec: BotSpec,
        processes: Processes,
        keep_stderr: KeepStderr,
        keep: "Callable[[LocalPlayer], Logic[None]] | None" = None,
    ):
        super().__init__(spec)
        self._keep = keep
        self._processes = processes
        self._keep_stderr = keep_stderr
        self.process: OwnedProcess | None = None
        self._killed: KillCause | None = None  # the process before

    def now(self) -> float:
        return self._processes.now()

    @property
    def is_here(self) -> bool:
        return self.link is not None and self.exit_status is None

    def arrive(self, seed: int | None = None) -> Logic[None]:
        process = self.process
        if process is not None and (status := process.state.exit_status) is not None:
            overrun, wrote = process.state.overrun, (yield from process.last_words())
            yield from self.leave()
            if overrun:
                raise EarlyExitError(overrun.ending, f"after the previous round {overrun.words}")
            ended = f"it exited on its own after the previous round ({exit_words(status)})"
            raise EarlyExitError(Fault.CRASHED, with_last_words(ended, wrote))
        if process is None:
            self._killed = None
            self.welcome_seed, self.round_count, self.rounds = seed, 0, []
            yield from self._start()

    def note_round(self, id: str, seed: int | None) -> None:
        self.round_count += 1
        if len(self.rounds) < _KEPT_ROUNDS:
            self.rounds.append((id, seed))

    def come_back(self, closed: str, until: float) -> Logic[None]:  # noqa: ARG002
        """The deadline of the question does not matter any more: a process does not come back."""
        assert self.process is not None
        wrote = yield from self.process.last_words()  # a closed pipe is seen a moment before the exit
        state = self.process.state
        if overrun := state.overrun:
            raise BotGoneError(overrun.ending, overrun.words)
        raise BotGoneError(
            Fault.CRASHED, with_last_words(state.ended_words or f"{closed}, but it is still running", wrote)
        )

    def leave(self) -> Logic[None]:
        """End the process and wait until it is gone."""
        if self.process is None:
            return
        if self.link and self.link.session.state is not State.CLOSED:
            yield from self.tell(Bye("this process is no longer needed"))
        yield from self._end(self.process)

    def _end(self, process: OwnedProcess) -> Logic[None]:
        kept = process.state.kept
        kept.look()  # not the state, which raises if the keeper has failed: the process has to end all the same
        self._killed = kept.killed
        yield from process.end()
        self.process = self.link = None

    def match_over(self) -> Logic[None]:
        return self._keep(self) if self._keep is not None else self.leave()

    def stop(self) -> None:
        if self.process:
            self.is_stopped = True
            self.process.state.stop()

    def stop_late(self) -> None:
        if self.process and not self.is_stopped:
            self.turns.was_stopped_late(busy=self.process.state.is_busy())
        self.stop()  # even if it is stopped: a signal that it arranged before may have continued it

    def go_on(self) -> None:
        self.is_stopped = False
        if self.process:
            self.process.state.go_on()

    @property
    def exit_status(self) -> int | None:
        return self.process.state.exit_status if self.process else None

    @property
    def overrun(self) -> Overrun | None:
        return self.process.state.overrun if self.process else None

    @property
    def killed(self) -> KillCause | None:
        return self.process.state.killed if self.process else self._killed

    @property
    def stderr_tail(self) -> str | None:
        return self.process.state.stderr_tail if self.process else None

    def _start(self) -> Logic[None]:
        allowed = self.spec.limits.start_ms
        self._identify(None, self._processes.fingerprint(self.spec))
        deadline = self.now() + (math.inf if allowed is None else allowed / 1000)
        try:
            self.process = yield from self._processes.start(self.spec, self._keep_stderr, deadline)
            self.link = self.process.link
            yield from self.greet(self.link, deadline)
        except SpawnError as error:
            raise StartError(str(error)) from None
        except TimeIsUpError:
            silence = (self.link and self.link.unfinished_line()) or "it did not say hello"
            raise (yield from self._failed(f"{silence} (the limit is {allowed} ms)", deadline)) from None
        except RemoteProtocolError as error:
            yield from self.tell(Error(error.code, str(error), fatal=True))
            raise (yield from self._failed(f"{error} ({error.code})")) from None
        except LinkClosedError:  # while the hello was sent or the bot's was awaited, which is a matter of moments
            raise (yield from self._failed("the bot closed its end before it said hello")) from None

    def _failed(self, reason: str, time_was_up: float | None = None) -> Logic[StartError]:
        """End the process, and return the error to raise, with the exit status and the last output on stderr."""
        if self.process:
            state = self.process.state
            if state.overrun:
                reason = f"{state.overrun.words}, before it said hello"
            yield from self._end(self.process)
            status, wrote = state.exit_status, state.stderr_tail.strip()
            if state.never_ran:
                return StartError(program_problem(wrote))
            reason += f"; exit status {status}" if status is not None and status >= 0 else ""
            reason = with_last_words(reason, wrote)
        return StartError(reason, time_was_up)


def with_last_words(reason: str, wrote: str) -> str:
    """The reason, and the end of what the bot wrote on stderr. Indented lines are left out: they are stack frames."""
    lines = [line.rstrip() for line in wrote.splitlines() if line.strip() and not line[0].isspace()]
    words = " / ".join(lines[-_LAST_LINES:])[-_LAST_WORDS:]
    return f"{reason}; on stderr: {words}" if words else reason
