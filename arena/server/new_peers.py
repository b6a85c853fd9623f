"""New peers: those that have connected, but have not said hello yet.

Theory of operation. Any peer on the network can get this far, so one of them has no task, stream or session of its own:
only a socket, served by one task that works in slices. A slice accepts waiting connections, greets some peers, reads
once from some of those that have sent data, and then yields to the running matches. The number and the size of slices
are bounded, and so is the time that strangers can cost the server.

Networks, and the addresses in each, are greeted in turn, so that a flood delays only itself. Addresses within their
rate come first. Of the others it is usually the oldest connection's turn, and sometimes the newest's, because the peers
of a flood do not wait for theirs. When all places are taken, the address with the most connections loses one of them,
the oldest or a random one (rates.py). A peer that has sent a line is handed to the door, which reads the line. With TLS
the peer has to send first; it is then handed to the door for the handshake, at a lower rate, because a handshake takes
a millisecond.
"""

import errno
import math
import os
import select
import socket
from collections.abc import Callable
from typing import Final

import attrs
import trio

from arena.plan.server_config import DoorLimits
from arena.server.rates import Bucket, Floods, Place, Room, Shares, place_of
from arena.server.server_events import AcceptFailed, FloodDropped, FloodNotDropped, Incident
from arena.server.syn_filter import set_filter
from arena.support.streams import is_hung_up

_SLICES: Final = 200  # per second on average; at 1 to 2 ms each, at most a third of one core
_SLICES_AT_ONCE: Final = 20  # so that a peer that connects to a quiet server does not wait for the next slice
_ACCEPTS: Final = 256  # per slice; accepting and closing takes about 15 µs each
_GREETINGS: Final = 32  # per slice; about 30 µs each
_READS: Final = 32  # per slice; about 20 µs each
# A slice may do this many times more if as many slices were skipped because many bots play: the share stays the same.
_LARGEST: Final = 8
_CHUNK: Final = 16 * 1024  # bytes per read from one peer
_READS_OF_ONE: Final = 64  # a peer that has sent more pieces than this without a complete line is dismissed
# Peers that were greeted and are silent. Each costs a socket, and time only when it is dismissed and connects again. So
# there is room for many, and a crowd at the address of a bot does not push the bot out.
WATCHED: Final = 3000
HEARD: Final = 16 * 2**20  # bytes that all of these peers together may have sent
_FIRST: Final = 512  # peers that wait to be greeted
_LATE: Final = 1024  # peers that wait to be greeted, and whose address is over its rate; at most half from one address
_NEWEST_EACH: Final = 4  # every fourth turn of these goes to the newest, the others to the oldest
# Greetings of one address, per second and at once; a network gets four times as many. More only if there is time.
_KNOCKS, _KNOCKS_AT_ONCE = 50.0, 250.0
# The same for TLS handshakes, and the number per second in all.
_HANDSHAKES, _HANDSHAKES_AT_ONCE, _HANDSHAKES_IN_ALL = 20.0, 60.0, 150.0
_NETWORK: Final = 4.0
_SHORTAGE: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
_SHORTAGE_SECONDS: Final = 0.1
_SPEAKS: Final = select.EPOLLIN | select.EPOLLRDHUP


def most_new_peers(limits: DoorLimits) -> int:
    """The largest number of sockets of new peers that are open at once."""
    return max(WATCHED, limits.per_address) + max(_FIRST, limits.per_address) + _LATE


@attrs.define(eq=False)
class NewPeer:
    """A peer that has connected, but not said hello yet."""

    connection: socket.socket
    place: Place
    since: float  # when it was greeted, or, with TLS, connected
    heard: bytearray = attrs.field(factory=bytearray)
    reads: int = 0


def _room(most: int, limits: DoorLimits, *, at_random: bool = False) -> Room[NewPeer]:
    """A room for `most` peers. One address may take half of it, or at least as many places as it may have connections,
    because its bots may all connect at once."""
    return Room(max(most, limits.per_address), max(most // 2, limits.per_address), at_random=at_random)


class NewPeers:
    """Greets new peers and hands over those that answer.

    `greeting` is sent to every peer at once (empty with TLS), `too_slow` to a peer that does not say hello in time.
    `hand_over` receives the peers that have sent something, and owns their sockets from then on. `trusted` contains the
    addresses and networks that bots came from.
    """

    def __init__(
        self,
        listener: trio.SocketListener,
        limits: DoorLimits,
        greeting: bytes,
        too_slow: bytes,
        hand_over: Callable[[NewPeer], None],
        trusted: dict[str, None],
        report: Callable[[Incident], None],
    ):
        self._listening = socket.socket(fileno=os.dup(listener.socket.fileno()))
        self._listening.setblocking(False)
        self._limits = limits
        self._greeting, self._too_slow = greeting, too_slow
        self._hand_over = hand_over
        self._trusted = trusted
        self._report = report
        self._epoll = select.epoll()
        # At random, because otherwise a peer that keeps connecting could push out every bot of the same address that is
        # slow to say hello.
        self._watched = _room(WATCHED, limits, at_random=True)
        self._by_number: dict[int, NewPeer] = {}  # the watched peers by descriptor
        self._first = _room(_FIRST, limits)
        self._later: Room[NewPeer] = Room(_LATE, _LATE // 2)
        if greeting:
            self._shares = Shares(_KNOCKS, max(_KNOCKS_AT_ONCE, limits.per_address), _NETWORK)
            self._turns = Bucket(limits.per_second, limits.per_second)
        else:
            self._shares = Shares(_HANDSHAKES, _HANDSHAKES_AT_ONCE, _NETWORK)
            self._turns = Bucket(min(limits.per_second, _HANDSHAKES_IN_ALL), min(limits.per_second, _HANDSHAKES))
        self._floods = Floods(2 * limits.per_address)
        self._can_filter = True
        self._short_until = 0.0
        self._worked_at = 0.0
        self._late_turns = 0
        self._heard = 0  # bytes

    async def run(self) -> None:
        """Serve new peers until cancelled; then close all its connections."""
        slices = Bucket(_SLICES, _SLICES_AT_ONCE)
        self._epoll.register(self._listening, select.EPOLLIN)
        try:
            while True:
                with trio.CancelScope(deadline=self._next_turn()):
                    await trio.lowlevel.wait_readable(self._epoll.fileno())
                await trio.sleep(max(slices.reserve(trio.current_time()), self._short_until - trio.current_time(), 0))
                self._slice(trio.current_time())
        finally:
            self._clear()

    def _clear(self) -> None:
        for room in (self._watched, self._first, self._later):
            for peer in room.items():
                peer.connection.close()
        self._epoll.close()
        self._listening.close()

    def _next_turn(self) -> float:
        """When there will be something to do even if no peer connects or sends."""
        now = trio.current_time()
        oldest = self._watched.oldest()
        silent = oldest.since + self._limits.hello_seconds if oldest else math.inf
        turn = self._turns.ready_at(now) if self._first or self._later else math.inf
        return min(silent, turn, self._floods.look_again_at)

    def _slice(self, now: float) -> None:
        size = min(max(1, int((now - self._worked_at) * _SLICES)), _LARGEST)
        self._worked_at = now
        for number, _ in self._epoll.poll(0, size * _READS):
            if number == self._listening.fileno():
                self._accept(now)
            elif (peer := self._by_number.get(number)) is not None:
                self._hear(peer, now)
        self._greet(now, size * _GREETINGS)
        while (oldest := self._watched.oldest()) and oldest.since + self._limits.hello_seconds <= now:
            self._dismiss(oldest)
        if (flooding := self._floods.changed(now, self._trusted)) is not None:
            self._filter(flooding)

    # New connections

    def _accept(self, now: float) -> None:
        for _ in range(_ACCEPTS):
            try:
                connection, address = self._listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _SHORTAGE:
                    self._report(AcceptFailed(str(error.strerror)))
                    self._short_until = now + _SHORTAGE_SECONDS
                    return
                continue  # the peer closed the connection before we accepted it
            place = place_of(address[0])
            self._floods.add(place)
            connection.setblocking(False)
            peer = NewPeer(connection, place, now)
            if self._greeting:
                self._queue(peer, now)
            else:
                self._watch(peer, now)

    def _queue(self, peer: NewPeer, now: float) -> None:
        room = self._first if self._shares.take(peer.place, now) else self._later
        if (pushed := room.enter(peer, peer.place)) is not None:
            pushed.connection.close()

    def _filter(self, flooding: frozenset[str]) -> None:
        if not self._can_filter:
            return
        try:
            set_filter(self._listening, flooding, Floods.SAMPLE)
        except OSError as error:
            self._can_filter = False
            self._report(FloodNotDropped(str(error.strerror)))
            return
        if flooding:
            self._report(FloodDropped(sorted(flooding)))

    # Greetings

    def _greet(self, now: float, most: int) -> None:
        greeted = 0
        for _ in range(_ACCEPTS):
            if greeted == most or not (self._first or self._later) or self._turns.ready_at(now) > now:
                return
            peer = self._first.next() if self._first else self._next_of_later()
            if is_hung_up(peer.connection):  # the peer already hung up; don't spend a turn on it
                peer.connection.close()
                continue
            self._turns.take(now)
            greeted += 1
            if not self._greeting:
                self._hand_over(peer)
                continue
            try:
                peer.connection.send(self._greeting)  # fits into the empty send buffer
            except OSError:
                peer.connection.close()
                continue
            self._watch(peer, now)

    def _next_of_later(self) -> NewPeer:
        self._late_turns += 1
        return self._later.next(newest=self._late_turns % _NEWEST_EACH == 0)

    def _watch(self, peer: NewPeer, now: float) -> None:
        peer.since = now
        if (pushed := self._watched.enter(peer, peer.place)) is not None:
            self._unwatch(pushed)
            pushed.connection.close()
        self._by_number[peer.connection.fileno()] = peer
        self._epoll.register(peer.connection, _SPEAKS)

    def _unwatch(self, peer: NewPeer) -> None:
        if peer in self._watched:
            self._watched.leave(peer)
        self._heard -= len(peer.heard)
        del self._by_number[peer.connection.fileno()]
        self._epoll.unregister(peer.connection)

    def _dismiss(self, peer: NewPeer) -> None:
        """Close the connection of a peer that has not said hello in time, and tell it why."""
        self._unwatch(peer)
        with peer.connection as connection:
            try:
                connection.send(self._too_slow)
            except OSError:
                return  # the peer has left, or does not read

    # Peers that send

    def _hear(self, peer: NewPeer, now: float) -> None:
        if not self._greeting:
            self._unwatch(peer)
            self._queue(peer, now)
            return
        try:
            data = peer.connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        peer.heard += data
        peer.reads += 1
        self._heard += len(data)
        if not data:
            self._unwatch(peer)
            peer.connection.close()
        elif b"\n" in data or len(peer.heard) > self._limits.line:
            self._unwatch(peer)
            self._hand_over(peer)
        elif peer.reads == _READS_OF_ONE or self._heard > HEARD:
            self._dismiss(peer)
