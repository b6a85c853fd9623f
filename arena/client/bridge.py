"""`arena connect`: a bot that speaks on stdin and stdout plays at a server, and reconnects when the connection is lost.

Every connection has a bot process of its own, which is started once the server accepts the connection. The bot gets the
server's lines and answers them itself. The bridge only adds the token to the bot's hello, checks the deals, and can
keep the rounds in a journal (own_journal.py). Instead of a bot, the person at this terminal can play (person.py).
"""

import ipaddress
import random
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

import msgspec
import trio

from arena.client.client_events import (
    ClientEvent,
    DealNotAsPromised,
    Reconnecting,
    ServerComplained,
    ServerSaidBye,
    TokenUnprotected,
    Welcomed,
)
from arena.client.dial import MAYBE_TLS, ConnectError, Destination, UnreachableError, connected
from arena.client.own_journal import OwnJournal
from arena.client.own_rounds import KeptRound, NotKept, OwnRounds
from arena.client.person import Person, seated
from arena.client.tally import MatchFollower, Tally
from arena.human.user_interface import UserInterface
from arena.plan.bot_spec import BotSpec
from arena.processes.bot_process import BotProcess, spawn
from arena.processes.process_state import SpawnError, exit_words
from arena.processes.stderr import PassedOn
from arena.support.address import parse_address
from arena.support.signals import calling_on_signals, unwrap_exception_group
from arena.support.timestamps import utc_now
from protocol.backoff import Backoff
from protocol.errors import Code, RemoteProtocolError
from protocol.fairness import DealCheck
from protocol.framing import LineBuffer
from protocol.messages import BotHello, Bye, Error, ServerHello, Welcome, decode_from_bot, decode_from_server, encode

_CHUNK: Final = 64 * 1024
Report = Callable[[ClientEvent], None]
Keep = Callable[[KeptRound | NotKept], None]
Plays = BotSpec | UserInterface  # who plays: a bot, which is started, or a person at a user interface


def connect_all(
    server: Destination, plays: Plays, connections: int, report: Report, journal: Path | None = None
) -> bool:
    """Plays on all connections until the server says bye for good; returns false if a signal came first. The rounds are
    kept in `journal`, if it is given. Raises ConnectError if playing is impossible, AddressError if the address is
    malformed, and JournalError if the journal cannot be used."""
    parse_address(server.address)
    tally = Tally()
    try:
        with unwrap_exception_group(ConnectError), _kept_in(journal, server, report) as keep:
            return trio.run(_until_stopped, server, plays, connections, report, tally, keep)
    finally:
        if tally.rounds.total:
            report(tally.final())


@contextmanager
def _kept_in(journal: Path | None, server: Destination, report: Report) -> Iterator[Keep | None]:
    if journal is None:
        yield None
    else:
        with OwnJournal(journal, server.address, report) as own:
            yield own.keep


async def _until_stopped(
    server: Destination, plays: Plays, connections: int, report: Report, tally: Tally, keep: Keep | None
) -> bool:
    with trio.CancelScope() as scope:
        interface = plays.open() if isinstance(plays, UserInterface) else nullcontext()
        async with calling_on_signals(scope.cancel), interface, trio.open_nursery() as nursery:
            for _ in range(connections):
                nursery.start_soon(stay_connected, server, plays, report, tally, keep)
    return not scope.cancelled_caught


async def stay_connected(
    server: Destination, plays: Plays, report: Report, tally: Tally, keep: Keep | None = None
) -> None:
    """Plays, and reconnects whenever the connection is lost, until the server says bye for good. Raises ConnectError if
    another attempt cannot help, or if no attempt succeeded for `server.retry` seconds."""
    visit = Visit(server, plays, report, server.context(), tally, keep)
    backoff = Backoff(server.retry, trio.current_time())
    reported: str | None = None  # the last problem, so that it is reported once until the next welcome
    while True:
        problem = await visit.play()
        if problem is None:
            return
        if visit.welcomed:
            backoff.welcomed(trio.current_time())
            reported = None
        wait = backoff.next_wait(trio.current_time(), random.random())
        if wait is None:
            raise ConnectError(f"{problem}; gave up after {server.retry:g} seconds")
        if problem != reported:
            report(Reconnecting(problem, server.retry))
            reported = problem
        await trio.sleep(wait)


class Visit:
    """Makes one connection after the other, and keeps what has to survive from one to the next."""

    def __init__(
        self,
        server: Destination,
        plays: Plays,
        report: Report,
        tls: ssl.SSLContext | None,
        tally: Tally,
        keep: Keep | None = None,
    ):
        self._server = server
        self._plays = plays
        self._report = report
        self._tls = tls
        self._matches = MatchFollower(tally)
        self._session: str | None = None
        self._bye: Bye | None = None
        self._refused: str | None = None
        self._warned = False
        self._fatal: str | None = None  # a problem that another attempt cannot solve
        self._ended: str | None = None  # how the bot ended, if it left before the server
        self._greeted = False  # the server said hello
        self.welcomed = False
        self._was_welcomed = False  # on any connection
        self._deals = DealCheck()
        self._keep = keep
        self._rounds = OwnRounds()

    async def play(self) -> str | None:
        """Plays on one connection. Returns why another one is needed; None if none is. Raises ConnectError if another
        attempt cannot help."""
        self.welcomed = self._greeted = False
        self._bye = self._refused = self._ended = None
        try:
            stream = await connected(self._server, self._tls, self.warn_of_clear_text)
        except UnreachableError as error:
            return str(error)
        async with stream:
            try:
                async with self._start() as process:
                    await self._bridge(stream, process)
            except SpawnError as error:
                raise ConnectError(str(error)) from None
        return self._outcome()

    def _start(self) -> AbstractAsyncContextManager[BotProcess | Person]:
        return seated(self._plays) if isinstance(self._plays, UserInterface) else spawn(self._plays, PassedOn())

    def _outcome(self) -> str | None:
        if self._fatal is not None:
            raise ConnectError(self._fatal)
        if self._bye is not None and not self._bye.again:
            if self._refused is not None:
                raise ConnectError(f"the server refuses: {self._refused}")
            self._report(ServerSaidBye(self._bye.reason, self._deals.summary()))
            return None
        if self._ended is not None and not self.welcomed:
            raise ConnectError(f"the bot {self._ended} before the server welcomed it")
        if self._bye is not None:
            return self._bye.reason
        if self._ended is not None:
            return f"the bot {self._ended}"
        if self._greeted:
            return "the connection was lost"
        return "the server did not say hello" + ("" if self._server.tls else MAYBE_TLS)

    def warn_of_clear_text(self, peer: str) -> None:
        address = ipaddress.ip_address(peer.partition("%")[0])
        if self._server.token and self._tls is None and not address.is_loopback and not self._warned:
            self._warned = True
            self._report(TokenUnprotected())

    async def _bridge(self, stream: trio.abc.Stream, process: BotProcess | Person) -> None:
        async with trio.open_nursery() as nursery:

            async def run(pump: Callable[[trio.abc.Stream, BotProcess | Person], Awaitable[None]]) -> None:
                """The pump that ends first cancels the other."""
                try:
                    await pump(stream, process)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass  # the other end closed; `_outcome` says how
                except RemoteProtocolError as error:
                    self._fatal = str(error)
                nursery.cancel_scope.cancel()

            nursery.start_soon(run, self._server_to_bot)
            nursery.start_soon(run, self._bot_to_server)

    async def _server_to_bot(self, stream: trio.abc.Stream, process: BotProcess | Person) -> None:
        lines = LineBuffer()
        while data := await stream.receive_some(_CHUNK):
            for line in lines.feed(data):
                self._hear(line)
            if self._refused is not None:
                continue  # the bot will not play, and `_outcome` tells the user why
            try:
                await process.stream.send_all(data)
            except trio.BrokenResourceError:
                await self._bot_left(process)
                return
        if self._bye is not None:  # let the bot read it and end by itself
            process.stream.close_writer()
            with trio.move_on_after(1):
                await process.wait_exit()

    def _hear(self, line: bytes) -> None:
        try:
            message = decode_from_server(line)
        except RemoteProtocolError:
            return  # the bot gets the line and must deal with it
        if self._keep is not None:
            for found in self._rounds.told(message, trio.current_time(), utc_now()):
                self._keep(found)
        match message:
            case ServerHello():
                self._greeted = True
            case Welcome():
                self.welcomed = True
                self._report(Welcomed(self._server.address, message.name, again=self._was_welcomed))
                self._was_welcomed = True
                self._session = message.session
            case Error():
                if self.welcomed:
                    self._report(ServerComplained(message.code, message.message))
                else:
                    self._refused = message.message
            case Bye():
                self._bye = message
            case _:
                if complaint := self._deals.observe(message):
                    self._report(DealNotAsPromised(complaint))
                if event := self._matches.observe(message):
                    self._report(event)

    async def _bot_to_server(self, stream: trio.abc.Stream, process: BotProcess | Person) -> None:
        lines, greeted = LineBuffer(), False
        while data := await process.stream.receive_some(_CHUNK):
            if greeted:
                self._overhear(lines, data)
                await stream.send_all(data)
                continue
            before = lines.pending
            found = lines.feed(data)
            if found:
                greeted = True
                rest = (before + bytes(data))[len(found[0]) + 1 :]
                await stream.send_all(self._hello(found[0]) + rest)
        await self._bot_left(process)

    def _overhear(self, lines: LineBuffer, data: bytes | bytearray) -> None:
        """Note when the bot answers, if its rounds are kept. What it says wrong is a matter for the server."""
        if self._keep is not None:
            with suppress(RemoteProtocolError):
                for line in lines.feed(data):
                    self._rounds.said(decode_from_bot(line), trio.current_time())

    async def _bot_left(self, process: BotProcess | Person) -> None:
        await process.last_words()
        status = process.exit_status
        self._ended = "closed its output" if status is None else f"ended ({exit_words(status)})"
        if process.overrun:
            self._ended = f"was ended: {process.overrun.words}"

    def _hello(self, line: bytes) -> bytes:
        """The bot's hello with what the bot does not know: the token, and the session of the connection that was lost.
        Raises RemoteProtocolError if the line is not a hello."""
        hello = decode_from_bot(line)
        if not isinstance(hello, BotHello):
            raise RemoteProtocolError(Code.OUT_OF_TURN, "the bot's first line is not a hello")
        return encode(
            msgspec.structs.replace(
                hello,
                name=self._server.name or hello.name,
                token=self._server.token or hello.token,
                session=self._session,
            )
        )
