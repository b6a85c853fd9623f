"""The end of a connection: the last messages reach the peer although it is still sending."""

import contextlib
from typing import Final

import trio

from arena.bots.conversation import LinkClosedError
from arena.bots.link import Link
from arena.support.streams import tcp_below
from protocol.messages import Bye, Error
from protocol.session import State

_SECONDS: Final = 1.0  # for the peer to receive the last messages
_BYTES, _READS = 64 * 1024, 8  # per read, and reads, of what the peer still sends
_AT_ONCE: Final = 64  # connections; further ones are closed without lingering


async def say_last(link: Link, seconds: float, *messages: Error | Bye) -> None:
    """Send the last messages, unless bye was sent before or the peer does not read them within `seconds`."""
    with trio.move_on_after(seconds), contextlib.suppress(LinkClosedError):
        for message in messages:
            if link.session.state is not State.CLOSED:
                await link.say(message)


class Lingering:
    """Reads for a while what the peer still sends, because closing a socket with unread data discards what we sent."""

    def __init__(self) -> None:
        self._count = 0

    async def over(self, stream: trio.abc.Stream) -> None:
        """Close our side of the connection and wait a moment for the peer's. The caller closes the stream."""
        tcp = tcp_below(stream)
        assert tcp is not None
        tcp.close_writer()
        if self._count >= _AT_ONCE:
            return
        self._count += 1
        try:
            with trio.move_on_after(_SECONDS):
                for _ in range(_READS):
                    if not await tcp.receive_some(_BYTES):
                        return
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return  # the peer has left
        finally:
            self._count -= 1
