"""The door: whoever connects comes through here, and nobody gets further than the limits allow.

Theory of operation. One task accepts, at a bounded rate; every connection gets a task of its own, which says hello,
listens for a token within a time, and then either brings a bot to the lobby and stays with it as its owner, or a
watcher to the gallery. What a stranger can make us keep is bounded at every place: connections in all and from one
address, one line of bounded length for each, a bounded send buffer, a bounded memory of wrong tokens. Nothing that
comes in here raises further than its own task.
"""

import contextlib
import errno
import ipaddress
import socket
import ssl
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Final

import trio

from arena.gallery import Gallery
from arena.link import Link, LinkClosed, TcpStream, is_hung_up, tune
from arena.lobby import Abandoned, Connection, Lobby
from arena.registry import Refusal, Refused, Registry
from arena.server_config import DoorLimits
from arena.version import SERVER
from protocol.errors import RemoteProtocolError
from protocol.messages import PROTOCOL, BotHello, Bye, Error, ServerHello, Welcome, encode
from protocol.session import State

_KEPT_LINES: Final = 20  # of a connection's transcript: ten decisions, some 20 KB
_LINGER_SECONDS: Final = 1.0  # for the other side to take what we said last
_LINGER_BYTES: Final = 256 * 1024
_SHORTAGE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
_SHORTAGE_PAUSE: Final = 0.1
_STRIKE_SECONDS: Final = 60.0  # how long a wrong token is remembered
_STRIKE_ADDRESSES: Final = 10_000  # remembered at most; the oldest are forgotten


class Strikes:
    """Wrong tokens by address, in bounded memory."""

    def __init__(self, most: int):
        self._most = most
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def add(self, address: str) -> None:
        self._times.setdefault(address, deque(maxlen=self._most)).append(trio.current_time())
        self._times.move_to_end(address)
        if len(self._times) > _STRIKE_ADDRESSES:
            self._times.popitem(last=False)

    def out(self, address: str) -> bool:
        times = self._times.get(address, deque())
        return len(times) == self._most and times[0] > trio.current_time() - _STRIKE_SECONDS


def group_of(host: str) -> str:
    """Whom an address counts for: a whole /64 of IPv6, because anybody has all of one."""
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


class Door:
    def __init__(
        self,
        listener: trio.SocketListener,
        registry: Registry,
        lobby: Lobby,
        gallery: Gallery,
        limits: DoorLimits,
        tls: ssl.SSLContext | None,
        note: Callable[[str], None],
    ):
        self._listener = listener
        self._registry = registry
        self._lobby = lobby
        self._gallery = gallery
        self._limits = limits
        self._tls = tls
        self._note = note  # told of whoever is refused
        self._count: Counter[str] = Counter()  # connections by address
        self._welcoming: Counter[str] = Counter()  # names that are let in and not in the lobby yet
        self._strikes = Strikes(limits.wrong_tokens)
        self._accepting = trio.CancelScope()

    async def run(self) -> None:
        """Returns once the door is closed and everybody has left."""
        async with trio.open_nursery() as visitors, self._listener:
            with self._accepting:
                await self._accept(visitors)

    def close(self) -> None:
        """Nobody else comes in; whoever is here stays."""
        self._accepting.cancel()

    async def _accept(self, visitors: trio.Nursery) -> None:
        pause = 1 / self._limits.per_second
        earliest = trio.current_time()
        while True:
            await trio.sleep_until(earliest)
            earliest = max(earliest + pause, trio.current_time() - 1)  # what was not used of the last second is kept
            try:
                stream = await self._listener.accept()
            except OSError as error:
                if error.errno in _SHORTAGE:
                    self._note(f"cannot accept a connection: {error.strerror}")
                    await trio.sleep(_SHORTAGE_PAUSE)
                continue  # else a visitor who left before we opened
            connection = socket.socket(fileno=stream.socket.detach())
            try:
                address = group_of(connection.getpeername()[0])
                gone = is_hung_up(connection)
            except OSError:
                gone = True
            if gone:  # already; nothing is done for whoever only knocks
                connection.close()
                continue
            if reason := self._no_room_for(address):
                _turn_away(connection, reason, in_clear=self._tls is None)
            else:
                visitors.start_soon(self._receive, connection, address)

    def _no_room_for(self, address: str) -> str | None:
        if self._count.total() >= self._limits.connections:
            return f"there are {self._limits.connections} connections already; try again later"
        if self._count[address] >= self._limits.per_address:
            return f"there are {self._limits.per_address} connections from {address} already"
        if self._strikes.out(address):
            return f"{self._limits.wrong_tokens} wrong tokens came from {address}; wait a minute"
        return None

    async def _receive(self, connection: socket.socket, address: str) -> None:
        self._count[address] += 1
        try:
            stream = self._prepared(connection)
            async with stream:
                try:
                    await self._serve(stream, address)
                finally:
                    await _linger(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            pass  # it has left, in whatever way
        finally:
            self._count[address] -= 1
            if not self._count[address]:
                del self._count[address]

    def _prepared(self, connection: socket.socket) -> trio.abc.Stream:
        tune(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._limits.unread // 2)  # the kernel doubles it
        stream = TcpStream(connection)
        return trio.SSLStream(stream, self._tls, server_side=True, https_compatible=True) if self._tls else stream

    async def _serve(self, stream: trio.abc.Stream, address: str) -> None:
        link = Link(
            stream,
            line_limit=self._limits.line,
            most_ignored=self._limits.late_answers,
            kept_lines=_KEPT_LINES,
            may_tear=True,
        )
        try:
            with trio.fail_after(self._limits.hello_seconds):
                hello = await self._hello(link)
            if hello.watch is None:
                await self._host(hello, link, address)
            elif self._gallery.is_full:
                raise Refused(Refusal.FULL, "there is no room for more watchers")
            else:
                await self._gallery.attend(link, hello.watch)
        except Refused as refused:
            if refused.guessed:
                self._strikes.add(address)
            self._note(f"{address} was refused: {refused}")
            await _dismiss(link, refused.code, str(refused))
        except trio.TooSlowError:
            words = f"nothing that counts as hello came within {self._limits.hello_seconds:g} seconds"
            await _dismiss(link, Refusal.TOO_SLOW, words)
        except RemoteProtocolError as error:
            self._note(f"{address} said something wrong ({error.code})")  # no more: it may have held a token
            await _dismiss(link, error.code, str(error), again=True)
        except Abandoned:
            await trio.aclose_forcefully(stream)
        except LinkClosed:
            pass

    async def _host(self, hello: BotHello, link: Link, address: str) -> None:
        name = self._registry.admit(hello, lambda name: self._may_hold(name, hello))
        try:
            connection = await self._welcome(name, hello, link, address)
            with self._lobby.present(connection):
                try:
                    await connection.stay()
                finally:
                    await connection.take_leave()
        finally:
            if not self._lobby.is_here(name) and not self._welcoming[name]:
                self._registry.left(name)

    async def _hello(self, link: Link) -> BotHello:
        await link.say(ServerHello(PROTOCOL, SERVER))
        hello = await link.hear()
        assert isinstance(hello, BotHello)  # the session allows nothing else here
        return hello

    async def _welcome(self, name: str, hello: BotHello, link: Link, address: str) -> Connection:
        session = self._registry.session(name)
        lost = self._lobby.drop_lost(name, hello.session or "")
        self._welcoming[name] += 1
        try:
            with trio.fail_after(self._limits.hello_seconds):
                await link.say(Welcome(name, session))
        finally:
            self._welcoming -= Counter([name])  # forgets it at zero
        link.transcript.clear()  # it holds the token, and may be written to a file
        return Connection(name, link, address, session, hello.legal, takes_place_of=lost)

    def _may_hold(self, name: str, hello: BotHello) -> bool:
        """Whether a bot without a token may have the name: nobody has it, or only a connection that it lost."""
        connections = self._lobby.connections(name)
        if not connections:
            return not self._welcoming[name]
        return any(each.is_session(hello.session or "") for each in connections)


def _turn_away(connection: socket.socket, reason: str, *, in_clear: bool) -> None:
    """At once, and without a task: there is no room for one."""
    with connection, contextlib.suppress(OSError):
        connection.setblocking(False)
        if in_clear:
            connection.send(encode(Error(Refusal.FULL, reason, fatal=True)) + encode(Bye(reason, again=True)))


async def _dismiss(link: Link, code: str, reason: str, *, again: bool = False) -> None:
    with trio.move_on_after(_LINGER_SECONDS), contextlib.suppress(LinkClosed):
        if link.session.state is not State.CLOSED:
            await link.say(Error(code, reason, fatal=True))
            await link.say(Bye(reason, again))


async def _linger(stream: trio.abc.Stream) -> None:
    """A socket that is closed with something unread in it takes back what we said last; so what still comes is read."""
    tcp = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    assert isinstance(tcp, TcpStream)
    tcp.close_writer()
    left = _LINGER_BYTES
    with trio.move_on_after(_LINGER_SECONDS), contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        while left > 0 and (data := await tcp.receive_some(_LINGER_BYTES)):
            left -= len(data)
