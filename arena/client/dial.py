"""Opens a connection to a server, for a bot or for a spectator."""

import os
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import trio

from arena.bots.streams import tune
from arena.support.address import parse_address
from arena.support.signals import first_exception

MAYBE_TLS: Final = "; if it speaks TLS, say --tls"


class ConnectError(Exception):
    """It does not help to try again."""


class CannotConnect(Exception):
    """Nobody listens there, at least not now."""


@attrs.frozen
class Destination:
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


async def connected(
    server: Destination, tls: ssl.SSLContext | None, met: Callable[[str], None] = lambda _peer: None
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
    """Why the first of the several attempts that trio makes failed."""
    cause = first_exception(error.__cause__) if error.__cause__ else error
    if isinstance(cause, socket.gaierror):  # its number is not one of the system's errors
        return str(cause.strerror)
    return os.strerror(cause.errno) if isinstance(cause, OSError) and cause.errno else str(cause)
