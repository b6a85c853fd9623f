"""`arena connect`: a bot that speaks on stdin and stdout plays at a server, and comes back when the connection is lost.

Every connection has a process of its own: the bot is started when the server is there, hears what the server says and
answers for itself. We only add the token to its hello, and check the deals.
"""

import ipaddress
import os
import random
import socket
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import attrs
import msgspec
import trio

from arena.bots.process import BotProcess, SpawnError, exit_words, spawn
from arena.bots.stderr import PassedOn
from arena.bots.streams import tune
from arena.plan.bot_spec import BotSpec
from arena.support.address import parse_address
from arena.support.signals import calling_on_signals, first_of, unwrapped
from protocol.bot import FIRST_WAIT, LONGEST_WAIT
from protocol.errors import Code, RemoteProtocolError
from protocol.fairness import DealCheck
from protocol.framing import LineBuffer
from protocol.messages import BotHello, Bye, Error, ServerHello, Welcome, decode_from_bot, decode_from_server, encode

_CHUNK: Final = 64 * 1024
MAYBE_TLS: Final = "; if it speaks TLS, say --tls"


class ConnectError(Exception):
    """It does not help to try again."""


class CannotConnect(Exception):
    """Nobody listens there, at least not now."""


@attrs.frozen
class Server:
    address: str
    token: str | None = attrs.field(default=None, repr=False)
    name: str | None = None  # instead of the bot's own
    tls: bool = False
    ca: Path | None = None
    retry: float = 300.0  # seconds without a welcome before we give up

    def context(self) -> ssl.SSLContext | None:
        """Raises ConnectError if the CA file is none."""
        if not self.tls:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca)
        except OSError as error:
            raise ConnectError(f"cannot use --ca {self.ca}: {error.strerror or error}") from None


def connect_all(server: Server, spec: BotSpec, connections: int, tell: Callable[[str], None]) -> bool:
    """Plays until the server has no more use for the bot; false if a signal came first. Raises ConnectError and
    AddressError."""
    parse_address(server.address)
    with unwrapped(ConnectError):
        return trio.run(_until_stopped, server, spec, connections, tell)


async def _until_stopped(server: Server, spec: BotSpec, connections: int, tell: Callable[[str], None]) -> bool:
    with trio.CancelScope() as scope:
        async with calling_on_signals(scope.cancel), trio.open_nursery() as nursery:
            for _ in range(connections):
                nursery.start_soon(stay_connected, server, spec, tell)
    return not scope.cancelled_caught


async def stay_connected(server: Server, spec: BotSpec, tell: Callable[[str], None]) -> None:
    """Returns once the server has no more use for the bot. Raises ConnectError."""
    visit = Visit(server, spec, tell, server.context())
    wait, until = FIRST_WAIT, trio.current_time() + server.retry
    while True:
        problem = await visit.play()
        if problem is None:
            tell(visit.deals.summary())
            return
        if visit.welcomed:
            wait, until = FIRST_WAIT, trio.current_time() + server.retry
        if trio.current_time() + wait > until:
            raise ConnectError(f"{problem}; gave up after {server.retry:g} seconds")
        tell(f"{problem}; connecting again")
        await trio.sleep(wait * random.uniform(0.5, 1))
        wait = min(2 * wait, LONGEST_WAIT)


async def connected(
    server: Server, tls: ssl.SSLContext | None, met: Callable[[str], None] = lambda _peer: None
) -> trio.abc.Stream:
    """`met` is told the address of whoever we speak to, before anything is said. Raises CannotConnect, and
    ConnectError where it does not help to try again."""
    host, port = parse_address(server.address)
    try:
        stream = await trio.open_tcp_stream(host, port)
    except OSError as error:
        raise CannotConnect(f"cannot connect to {server.address}: {_reason(error)}") from None
    tune(stream.socket)
    met(stream.socket.getpeername()[0])
    if tls is None:
        return stream
    secure = trio.SSLStream(stream, tls, server_hostname=host, https_compatible=True)
    try:
        await secure.do_handshake()
        return secure
    except trio.BrokenResourceError as error:
        await trio.aclose_forcefully(stream)
        match error.__cause__:
            case ssl.SSLCertVerificationError() as cause:
                raise ConnectError(f"the server's certificate is not trusted: {cause.verify_message}") from None
            case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
                raise ConnectError("the server does not speak TLS; leave out --tls") from None
        raise CannotConnect(f"cannot connect to {server.address}: TLS: {error.__cause__ or 'closed'}") from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise


def _reason(error: OSError) -> str:
    """Of the several attempts that trio makes, that of the first."""
    cause = first_of(error.__cause__) if error.__cause__ else error
    if isinstance(cause, socket.gaierror):  # its number is none of the system's errors
        return str(cause.strerror)
    return os.strerror(cause.errno) if isinstance(cause, OSError) and cause.errno else str(cause)


class Visit:
    """One connection after the other, with what is remembered between them."""

    def __init__(self, server: Server, spec: BotSpec, tell: Callable[[str], None], tls: ssl.SSLContext | None):
        self._server = server
        self._spec = spec
        self._tell = tell
        self._tls = tls
        self._session: str | None = None
        self._bye: Bye | None = None
        self._refused: str | None = None
        self._warned = False
        self._fatal: str | None = None  # what it does not help to try again
        self._ended: str | None = None  # how the bot did, if it left first
        self._greeted = False  # by the server
        self.welcomed = False
        self.deals = DealCheck()

    async def play(self) -> str | None:
        """One connection. Returns why there has to be another one; None if there has not."""
        self.welcomed = self._greeted = False
        self._bye = self._refused = self._ended = None
        try:
            stream = await connected(self._server, self._tls, self._warn_of_clear_text)
        except CannotConnect as error:
            return str(error)
        async with stream:
            try:
                async with spawn(self._spec, PassedOn()) as process:
                    await self._bridge(stream, process)
            except SpawnError as error:
                raise ConnectError(str(error)) from None
        return self._outcome()

    def _outcome(self) -> str | None:
        if self._fatal is not None:
            raise ConnectError(self._fatal)
        if self._bye is not None and not self._bye.again:
            if self._refused is not None:
                raise ConnectError(f"the server refuses: {self._refused}")
            self._tell(f"The server says bye: {self._bye.reason}")
            return None
        if self._ended is not None and not self.welcomed:
            raise ConnectError(f"the bot {self._ended} before the server welcomed it")
        if self._bye is not None:
            return self._bye.reason
        if self._ended is not None:
            return f"the bot {self._ended}"
        if self._greeted:
            return "the connection was lost"
        return "the server says nothing" + ("" if self._server.tls else MAYBE_TLS)

    def _warn_of_clear_text(self, peer: str) -> None:
        address = ipaddress.ip_address(peer.partition("%")[0])
        if self._server.token and self._tls is None and not address.is_loopback and not self._warned:
            self._warned = True
            self._tell("Warning: the token crosses the network in the clear; with --tls it does not")

    async def _bridge(self, stream: trio.abc.Stream, process: BotProcess) -> None:
        async with trio.open_nursery() as nursery:

            async def run(pump: Callable[[trio.abc.Stream, BotProcess], Awaitable[None]]) -> None:
                """The first that ends, ends the other."""
                try:
                    await pump(stream, process)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass  # how it ended is seen by who is left
                except RemoteProtocolError as error:
                    self._fatal = str(error)
                nursery.cancel_scope.cancel()

            nursery.start_soon(run, self._server_to_bot)
            nursery.start_soon(run, self._bot_to_server)

    async def _server_to_bot(self, stream: trio.abc.Stream, process: BotProcess) -> None:
        lines = LineBuffer()
        while data := await stream.receive_some(_CHUNK):
            for line in lines.feed(data):
                self._hear(line)
            try:
                await process.stream.send_all(data)
            except trio.BrokenResourceError:
                await self._bot_left(process)
                return
        if self._bye is not None:  # the bot may hear it, too
            process.stream.close_writer()
            with trio.move_on_after(1):
                await process.wait_exit()

    def _hear(self, line: bytes) -> None:
        try:
            message = decode_from_server(line)
        except RemoteProtocolError:
            return  # for the bot to judge
        match message:
            case ServerHello():
                self._greeted = True
            case Welcome():
                self.welcomed = True
                self._session = message.session
            case Error():
                if self.welcomed:
                    self._tell(f"The server says: {message.message} ({message.code})")
                else:
                    self._refused = message.message
            case Bye():
                self._bye = message
            case _:
                if complaint := self.deals.hear(message):
                    self._tell(complaint)

    async def _bot_to_server(self, stream: trio.abc.Stream, process: BotProcess) -> None:
        lines, greeted = LineBuffer(), False
        while data := await process.stream.receive_some(_CHUNK):
            if greeted:
                await stream.send_all(data)
                continue
            before = lines.pending
            found = lines.feed(data)
            if found:
                greeted = True
                rest = (before + bytes(data))[len(found[0]) + 1 :]
                await stream.send_all(self._hello(found[0]) + rest)
        await self._bot_left(process)

    async def _bot_left(self, process: BotProcess) -> None:
        await process.last_words()
        status = process.exit_status
        self._ended = "closed its output" if status is None else f"ended ({exit_words(status)})"
        if process.overrun:
            self._ended = f"was ended: {process.overrun.words}"

    def _hello(self, line: bytes) -> bytes:
        """The bot's hello with what it does not know: the token, and the connection that was lost. Raises
        RemoteProtocolError."""
        hello = decode_from_bot(line)
        if not isinstance(hello, BotHello):
            raise RemoteProtocolError(Code.OUT_OF_TURN, "the bot's first line is no hello")
        return encode(
            msgspec.structs.replace(
                hello,
                name=self._server.name or hello.name,
                token=self._server.token or hello.token,
                session=self._session,
            )
        )
