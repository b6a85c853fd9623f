"""Opens a connection to a server, for a bot or for a spectator."""

import os
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import trio

from arena.support.address import parse_address
from arena.support.signals import first_exception
from arena.support.streams import tune

MAYBE_TLS: Final = "; if it speaks TLS, add --tls"


class ConnectError(Exception):
    """The server cannot be used, and another attempt would not help."""


class UnreachableError(Exception):
    """The server cannot be reached now; another attempt may succeed."""


@attrs.frozen
class Destination:
    """A server, and how to introduce oneself there."""

    address: str
    token: str | None = attrs.field(default=None, repr=False)
    name: str | None = None  # replaces the bot's own
    tls: bool = False
    ca: Path | None = None
    retry: float = 300.0  # seconds without a welcome before the bridge gives up

    def context(self) -> ssl.SSLContext | None:
        """The TLS context, or None without TLS. Raises ConnectError if the CA file cannot be used."""
        if not self.tls:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca)
        except OSError as error:
            raise ConnectError(f"cannot use --ca {self.ca}: {error.strerror or error}") from None


async def connected(
    server: Destination, tls: ssl.SSLContext | None, before_talking: Callable[[str], None] = lambda _peer: None
) -> trio.abc.Stream:
    """Opens a connection. Calls `before_talking` with the IP address of the peer before anything is sent. Raises
    UnreachableError, or ConnectError if another attempt would not help."""
    host, port = parse_address(server.address)
    try:
        stream = await trio.open_tcp_stream(host, port)
    except OSError as error:
        raise UnreachableError(f"cannot connect to {server.address}: {_reason(error)}") from None
    tune(stream.socket)
    before_talking(stream.socket.getpeername()[0])
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
        raise UnreachableError(f"cannot connect to {server.address}: TLS: {error.__cause__ or 'closed'}") from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise


def _reason(error: OSError) -> str:
    """Why trio could not connect. It tries several addresses; the first failure is reported."""
    cause = first_exception(error.__cause__) if error.__cause__ else error
    if isinstance(cause, socket.gaierror):  # its number is not one of the system's errors
        return str(cause.strerror)
    return os.strerror(cause.errno) if isinstance(cause, OSError) and cause.errno else str(cause)
