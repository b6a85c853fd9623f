"""The door: admits peers that have sent something (new_peers.py), as far as the limits allow.

Theory of operation. A bot whose hello proves that it owns a known name gets a task at once, however many strangers
there are. Other peers get a task only within the rate of their address and network; beyond it their connections are
closed without a message. The task brings a bot to the lobby and stays as the owner of its connection, or brings a
spectator to the others, or says why the peer is refused. Places inside are limited in all and for each address, and
one is kept for every absent bot of the tournament. All memory that a stranger can claim is bounded. No exception leaves
the task of a connection.
"""

import contextlib
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import trio

from arena.bots.conversation import ConversationLimits, LinkClosedError
from arena.bots.link import Link
from arena.journal.identity import bot_line
from arena.plan.server_config import DoorLimits
from arena.server.admission import AdmissionError, Refusal, Registry
from arena.server.connection import Connection, ReplacedError
from arena.server.lingering import Lingering, say_last
from arena.server.lobby import Lobby
from arena.server.new_peers import NewPeer, NewPeers
from arena.server.rates import Buckets, Place, Room, Shares
from arena.server.server_events import Incident, PeerBrokeProtocol, PeerRefused
from arena.server.spectators import Spectators
from arena.server.strikes import Strikes
from arena.support.streams import MeteredTcpStream, TcpStream, tune
from arena.support.timestamps import utc_now
from arena.support.version import SERVER
from protocol.errors import RemoteProtocolError
from protocol.messages import PROTOCOL, BotHello, Bye, Error, ServerHello, Welcome, decode_from_bot, encode
from protocol.session import State

_HELLO: Final = ServerHello(PROTOCOL, SERVER)
_FAREWELL_SECONDS: Final = 1.0  # for the peer to receive the last messages
# Tasks for peers of one address that do not prove a name, per second and at once. A network gets four times as many.
TASKS, TASKS_AT_ONCE, _NETWORK = 20.0, 100.0, 4.0
# Connections of one bot, per second and at once. Replacing one connection by another takes a millisecond.
_TURNS, _TURNS_AT_ONCE = 50.0, 50.0
_LONGEST_TURN: Final = 1.0  # seconds that a connection waits for its turn; 50 of them wait then
HANDSHAKE_SECONDS: Final = 5.0
HANDSHAKES: Final = 128  # of TLS, until hello: each takes a task and about 50 KB; at most half from one address
_TRUSTED: Final = 10_000  # addresses and networks that bots came from; the oldest are forgotten


class Door:
    def __init__(
        self,
        listener: trio.SocketListener,
        registry: Registry,
        lobby: Lobby,
        spectators: Spectators,
        limits: DoorLimits,
        tls: ssl.SSLContext | None,
        report: Callable[[Incident], None],
    ):
        self._listener = listener
        self._registry = registry
        self._lobby = lobby
        self._spectators = spectators
        self._limits = limits
        self._tls = tls
        self._report = report
        self._inside: Counter[str] = Counter()  # bots and spectators by address
        self._welcoming: Counter[str] = Counter()  # bots that are admitted and not in the lobby yet, by name
        self._strikes = Strikes(limits.wrong_tokens)
        self._tasks = Shares(TASKS, TASKS_AT_ONCE, _NETWORK)
        self._turns = Buckets(_TURNS, _TURNS_AT_ONCE)
        self._handshakes: Room[trio.CancelScope] = Room(HANDSHAKES, HANDSHAKES // 2)
        self._lingering = Lingering()
        self._trusted: dict[str, None] = {}
        self._accepting = trio.CancelScope()

    async def run(self) -> None:
        """Admit peers until the door is closed, then wait until all of them have left."""
        async with trio.open_nursery() as visitors, self._listener:

            def open_to(peer: NewPeer) -> None:
                if self._tls is None and not self._is_worth_a_task(peer):
                    peer.connection.close()
                else:
                    visitors.start_soon(self._receive, peer)

            words = _parting(Refusal.TOO_SLOW, self._too_slow, again=False) if self._tls is None else b""
            greeting = encode(_HELLO) if self._tls is None else b""
            new_peers = NewPeers(self._listener, self._limits, greeting, words, open_to, self._trusted, self._report)
            with self._accepting:
                await new_peers.run()

    def close(self) -> None:
        """Stop admitting peers; those that are inside stay."""
        self._accepting.cancel()

    @property
    def _too_slow(self) -> str:
        return f"no complete hello came within {self._limits.hello_seconds:g} seconds"

    def _is_worth_a_task(self, peer: NewPeer) -> bool:
        """Whether the rates allow a task for this peer."""
        now = trio.current_time()
        name = self._owner(bytes(peer.heard.partition(b"\n")[0]))
        if name is None or not self._registry.is_established(name):
            return self._tasks.take(peer.place, now)
        return self._turns.of(name).ready_at(now) <= now + _LONGEST_TURN

    def _owner(self, line: bytes) -> str | None:
        """The name of the bot, if the line is a hello that proves that the bot owns a known name."""
        try:
            hello = decode_from_bot(line)
        except RemoteProtocolError:
            return None
        return self._registry.owner(hello) if isinstance(hello, BotHello) else None

    async def _receive(self, peer: NewPeer) -> None:
        stream = self._prepared(peer.connection)
        try:
            async with stream:
                try:
                    await self._serve(stream, peer)
                finally:
                    await self._lingering.over(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            pass  # the peer has left

    def _prepared(self, connection: socket.socket) -> trio.abc.Stream:
        with contextlib.suppress(OSError):  # the peer has left already; reading from it will fail
            tune(connection)
            half = self._limits.unread // 2  # because the kernel doubles it
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, half)
        if self._tls is None:
            return TcpStream(connection)
        below = MeteredTcpStream(connection)
        return trio.SSLStream(below, self._tls, server_side=True, https_compatible=True)

    async def _serve(self, stream: trio.abc.Stream, peer: NewPeer) -> None:
        limits = ConversationLimits(self._limits.line, self._limits.late_answers, eof_mid_line_is_disconnect=True)
        link = Link(stream, limits)
        place = peer.place
        try:
            hello = await self._hello(link, stream, peer)
            if hello.watch is None:
                await self._admit(hello, link, place)
            else:
                if not self._spectators.has_room_for(place):
                    raise AdmissionError(Refusal.FULL, "there is no room for more spectators")
                with self._inside_of(place, None):
                    self._check_open()
                    await self._spectators.attend(link, hello.watch, place)
        except AdmissionError as refused:
            await self._refuse(link, refused, place)
        except trio.TooSlowError:
            await _dismiss(link, Refusal.TOO_SLOW, self._too_slow)
        except RemoteProtocolError as error:
            self._report(PeerBrokeProtocol(place.address, error.code))
            await _dismiss(link, error.code, str(error), again=True)
        except (ReplacedError, _GivenUpError):
            await trio.aclose_forcefully(stream)
        except LinkClosedError:
            pass

    async def _hello(self, link: Link, stream: trio.abc.Stream, peer: NewPeer) -> BotHello:
        if isinstance(stream, trio.SSLStream):
            await self._handshake(link, stream, peer.place)
        else:
            link.take_over(_HELLO, bytes(peer.heard))
        hello = await link.hear()  # it has arrived already
        assert isinstance(hello, BotHello)  # the session allows nothing else here
        return hello

    async def _handshake(self, link: Link, stream: trio.SSLStream[trio.abc.Stream], place: Place) -> None:
        """Do the TLS handshake, say hello and wait for a line. Raises TooSlowError if none comes in time, and
        _GivenUpError if the handshake takes too long or another peer takes the place."""
        with trio.CancelScope() as scope:
            if (pushed := self._handshakes.enter(scope, place)) is not None:
                pushed.cancel()
            try:
                with trio.fail_after(self._limits.hello_seconds):
                    with trio.fail_after(HANDSHAKE_SECONDS):
                        await stream.do_handshake()
                    await link.say(_HELLO)
                    await link.wait_line()
                return
            except trio.TooSlowError:
                # A peer that heard our hello is told that it was too slow; one in its handshake cannot be told.
                if link.session.state is not State.NEW:
                    raise
            finally:
                if scope in self._handshakes:
                    self._handshakes.leave(scope)
        raise _GivenUpError

    async def _admit(self, hello: BotHello, link: Link, place: Place) -> None:
        """Bring a bot to the lobby and own its connection. Raises AdmissionError if the bot may not enter."""
        known = self._registry.owner(hello)
        if known is not None:
            await self._turn_of(known)
            if self._registry.is_established(known):
                self._trust(place)
        name = self._registry.admit(hello, lambda name: self._may_hold(name, hello), place, trio.current_time())
        try:
            with self._inside_of(place, name):
                connection = await self._welcome(name, hello, link, place.address)
                self._check_open()
                with self._lobby.present(connection):
                    try:
                        await connection.stay()
                    finally:
                        await connection.say_goodbye()
        finally:
            if not self._is_here(name):
                self._registry.left(name)

    async def _turn_of(self, name: str) -> None:
        bucket, now = self._turns.of(name), trio.current_time()
        if bucket.ready_at(now) > now + _LONGEST_TURN:
            raise _GivenUpError
        await trio.sleep(bucket.reserve(now))

    def _trust(self, place: Place) -> None:
        for key in (place.address, place.network):
            self._trusted.pop(key, None)
            self._trusted[key] = None
        while len(self._trusted) > _TRUSTED:
            del self._trusted[next(iter(self._trusted))]

    @contextlib.contextmanager
    def _inside_of(self, place: Place, name: str | None) -> Iterator[None]:
        """Take a place for a bot or a spectator while the block runs. Raises AdmissionError if there is none."""
        has_own = name is not None and self._registry.has_place(name) and not self._is_here(name)
        if not has_own:
            self._check_room(place.address)
        self._inside[place.address] += 1
        try:
            yield
        finally:
            self._inside -= Counter([place.address])  # removes the address at zero

    def _check_room(self, address: str) -> None:
        most, kept = self._limits.connections, self._registry.places_kept(self._is_here)
        if self._inside.total() + kept >= most:
            places = f" ({kept} places are kept for bots that are away)" if kept else ""
            raise AdmissionError(
                Refusal.FULL, f"there are {most} connections already{places}; try again later", again=True
            )
        if self._inside[address] >= self._limits.per_address:
            words = f"there are {self._limits.per_address} connections from {address} already"
            raise AdmissionError(Refusal.FULL, words, again=True)

    def _check_open(self) -> None:
        """Raise _GivenUpError if the door was closed in the meantime: a peer that enters later would never be
        dismissed."""
        if self._accepting.cancel_called:
            raise _GivenUpError

    def _is_here(self, name: str) -> bool:
        return self._lobby.is_here(name) or bool(self._welcoming[name])

    async def _welcome(self, name: str, hello: BotHello, link: Link, address: str) -> Connection:
        session = self._registry.session(name)
        lost = self._lobby.drop_lost(name, hello.session or "")
        self._welcoming[name] += 1
        try:
            with trio.fail_after(self._limits.hello_seconds):
                await link.welcome(Welcome(name, session))
        finally:
            self._welcoming -= Counter([name])  # removes the name at zero
        return Connection(name, link, address, session, hello.legal, lost, bot_line(name, hello, None, utc_now()))

    def _may_hold(self, name: str, hello: BotHello) -> bool:
        """Whether a bot without a token may have the name: it is unused, or used only by a connection that it lost."""
        connections = self._lobby.connections(name)
        if not connections:
            return not self._welcoming[name]
        return any(each.is_session(hello.session or "") for each in connections)

    async def _refuse(self, link: Link, refused: AdmissionError, place: Place) -> None:
        self._report(PeerRefused(place.address, refused.code, str(refused)))
        if refused.guessed and (seconds := self._strikes.add(place.address)):
            with self._strikes.held(place.address) as may_wait:
                if not may_wait:
                    return
                await trio.sleep(seconds)
        await _dismiss(link, refused.code, str(refused), again=refused.again)


class _GivenUpError(Exception):
    """The connection is closed without a message."""


def _parting(code: str, reason: str, *, again: bool) -> bytes:
    return encode(Error(code, reason, fatal=True)) + encode(Bye(reason, again))


async def _dismiss(link: Link, code: str, reason: str, *, again: bool = False) -> None:
    await say_last(link, _FAREWELL_SECONDS, Error(code, reason, fatal=True), Bye(reason, again))
