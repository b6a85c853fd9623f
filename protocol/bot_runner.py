"""The small SDK: a function that chooses a move is all that a bot needs.

    from protocol.bot_runner import Request, run

    def choose(request: Request) -> str:
        return request.legal[0]

    run(choose, name="first")

The bot plays over stdin and stdout, or over TCP with `run(choose, connect="host:port", token="…")`; it reconnects when
that connection is lost.

At the start of each round `run` seeds Python's `random` with the round's seed, so that a bot that draws lots with it
plays the same round the same way again. For another generator, use the `seed` that `on_round_start` gets.

While the bot runs, stdout belongs to the protocol: what you print goes to stderr, and so does what a library or a
child process prints.

This is the one module of the package that does I/O.
"""

import contextlib
import io
import ipaddress
import os
import random
import socket
import ssl
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from protocol.backoff import Backoff
from protocol.bot import Bot, Choose, hello_of, ignore
from protocol.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from protocol.framing import LineBuffer
from protocol.messages import MatchEnd, MatchStart, Request, RoundEnd, RoundStart

__all__ = ["Bot", "Choose", "MatchEnd", "MatchStart", "Request", "RoundEnd", "RoundStart", "run"]

_CHUNK = 64 * 1024  # bytes per read: the length of the longest line
_jitter = random.Random()  # the bot's own numbers come from `random`, and must not depend on how often it reconnects


def run(
    choose: Choose,
    *,
    name: str | None = None,
    version: str | None = None,
    author: str | None = None,
    connect: str | None = None,
    token: str | None = None,
    tls: bool | str = False,
    retry: float = 300,
    legal: bool = True,
    on_match_start: Callable[[MatchStart], None] = ignore,
    on_round_start: Callable[[RoundStart], None] = ignore,
    on_round_end: Callable[[RoundEnd], None] = ignore,
    on_match_end: Callable[[MatchEnd], None] = ignore,
) -> None:
    """Play until the server says bye or closes the connection.

    `name` is the program's own name if left out. With `legal=False` requests have no list of legal moves, which
    saves time for a bot that knows the rules. An exception in `choose` or in a hook is printed with its traceback
    on stderr and ends the program with status 1. Python's `random` is seeded at the start of each round.

    With `connect` the bot reconnects when the connection is lost, as long as the server keeps its place, and gives up
    after `retry` seconds without a welcome. `tls=True` trusts the authorities that this machine trusts, `tls="ca.pem"`
    the certificates in that file.
    """
    bot = Bot(
        choose,
        hello_of(name or Path(sys.argv[0]).stem or "bot", version, author, token, legal),
        _tell,
        on_match_start=on_match_start,
        on_round_start=_after_seeding(on_round_start),
        on_round_end=on_round_end,
        on_match_end=on_match_end,
    )
    _play(bot, connect, token, tls, retry)


def _after_seeding(on_round_start: Callable[[RoundStart], None]) -> Callable[[RoundStart], None]:
    def start(message: RoundStart) -> None:
        if message.seed is not None:
            random.seed(message.seed)
        on_round_start(message)

    return start


def _play(bot: Bot, address: str | None, token: str | None, tls: bool | str, retry: float) -> None:
    try:
        if address:
            _stay_connected(bot, address, token, tls, retry)
        else:
            with _standard_streams() as (lines, out):
                _converse(bot, lines, out)
    except (BrokenPipeError, ConnectionResetError):
        _leave("the server closed the connection")
    except (RemoteProtocolError, OSError) as error:
        _leave(str(error))
    except LocalProtocolError as error:
        _leave(f"this bot broke the protocol: {error}")


def _converse(bot: Bot, lines: Iterator[bytes], out: BinaryIO) -> None:
    """Answer the server's lines until it says bye or its lines end."""
    for line in lines:
        if answer := _answer(bot, line):
            out.write(answer)
            out.flush()
        if bot.bye is not None:
            return


def _stay_connected(bot: Bot, address: str, token: str | None, tls: bool | str, retry: float) -> None:
    backoff = Backoff(retry, time.monotonic())
    while True:
        problem = "the server closed the connection"
        try:
            with _connected(address, tls, warn=token is not None) as (lines, out):
                _converse(bot, lines, out)
        except _UnreachableError as error:
            problem = str(error)
        except (RemoteProtocolError, OSError) as error:
            problem = f"the connection was lost: {error}"
        if bot.bye is not None and not bot.bye.again:
            _tell(f"the server says bye: {bot.bye.reason}; {bot.deals.summary()}")
            return
        if bot.welcomed:
            backoff.welcomed(time.monotonic())
        wait = backoff.next_wait(time.monotonic(), _jitter.random())
        if wait is None:
            _leave(f"{problem}; gave up after {retry:g} seconds" if retry else problem)
        _tell(f"{bot.bye.reason if bot.bye else problem}; connecting again")
        time.sleep(wait)
        bot.connected_again()


def _answer(bot: Bot, line: bytes) -> bytes | None:
    try:
        return bot.answer(line)
    except ProtocolError:
        raise
    except Exception:  # the author's code may fail in any way, with an OSError too
        traceback.print_exc(file=sys.stderr)
        _leave("the bot failed; see the traceback above")


def _tell(text: str) -> None:
    """Prints to stderr without control characters: a server must not be able to change the author's terminal."""
    harmless = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    print(harmless, file=sys.stderr, flush=True)


def _leave(reason: str) -> NoReturn:
    _tell(reason)
    raise SystemExit(1)


@contextlib.contextmanager
def _standard_streams() -> Iterator[tuple[Iterator[bytes], BinaryIO]]:
    """Reserve stdin and stdout for the protocol: inside the block, no other code can read or write them."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    printed, sys.stdout = sys.stdout, sys.stderr
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        with open(source, "rb", closefd=False) as lines, open(sink, "wb", closefd=False) as out:
            yield _lines(lines), out
    finally:
        printed.flush()  # text that is still buffered for the real stdout goes to stderr
        sys.stdout = printed
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


def _lines(stream: io.BufferedReader) -> Iterator[bytes]:
    buffer = LineBuffer()
    while data := stream.read1(_CHUNK):
        yield from buffer.feed(data)
    buffer.end()


def _secured(connection: socket.socket, host: str, tls: bool | str) -> ssl.SSLSocket:
    try:
        context = ssl.create_default_context(cafile=tls if isinstance(tls, str) else None)
    except OSError as error:
        _leave(f"cannot use tls={tls!r}: {error.strerror or error}")
    try:
        return context.wrap_socket(connection, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        _leave(f"the server's certificate is not trusted: {error.verify_message}")
    except ssl.SSLError as error:
        if error.reason == "WRONG_VERSION_NUMBER":
            _leave("the server does not speak TLS; leave out tls")
        raise


class _UnreachableError(Exception):
    """No server accepts connections at the address, at least not now."""


@contextlib.contextmanager
def _connected(address: str, tls: bool | str, *, warn: bool) -> Iterator[tuple[Iterator[bytes], BinaryIO]]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        _leave(f"{address!r} is not an address; an address looks like localhost:4000")
    try:
        connection = socket.create_connection((host.strip("[]"), int(port)))
    except ValueError as error:  # it cannot be the name of a host
        _leave(f"cannot connect to {address}: {error}")
    except OSError as error:
        raise _UnreachableError(f"cannot connect to {address}: {error}") from None
    if warn and not tls and not ipaddress.ip_address(connection.getpeername()[0]).is_loopback:
        _tell("Warning: the token crosses the network in the clear; with tls=True it does not")
    with _secured(connection, host.strip("[]"), tls) if tls else connection as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        with connection.makefile("rb") as lines, connection.makefile("wb") as out:
            yield _lines(lines), out
