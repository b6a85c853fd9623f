"""The end of a connection: the last words reach the peer although it is still sending."""

from typing import Final

import trio

from arena.bots.streams import TcpStream

_SECONDS: Final = 1.0  # for the peer to take what we said last
_BYTES, _READS = 64 * 1024, 8  # of what the peer still sends
_AT_ONCE: Final = 64  # connections; others are closed as they are


class Lingering:
    """Reads for a while what the peer still sends, because closing a socket with unread data discards what we sent."""

    def __init__(self) -> None:
        self._count = 0

    async def over(self, stream: trio.abc.Stream) -> None:
        tcp = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
        assert isinstance(tcp, TcpStream)
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
