"""Strangers who mean it: the attacks of siege.c, TLS handshakes and updates of keys, from processes of their own.

Everything goes to loopback, with a bounded number of connections, and ends by itself after a bounded time.
"""

import contextlib
import ctypes
import ctypes.util
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import attrs

from arena.support.address import parse_address

ELSEWHERE = "127.0.0.66"  # all of 127.0.0.0/8 is this machine
_LONGEST = 60.0  # seconds
_HELLO = '{"type":"hello","protocol":1,"name":"%s"%s}\n'


@attrs.frozen
class Attack:
    """`manners`: of siege.c, each with its number of connections and what it says. `tls`: what else is done to a server
    with TLS, whole handshakes one after the other or updates of keys."""

    name: str
    manners: tuple[tuple[str, int, bytes], ...]
    tls: Literal["", "handshakes", "updates"] = ""


def client_hello() -> bytes:
    """How a handshake of TLS begins; the server has to compute for it before it knows anything about us."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def hello(name: str, **fields: str) -> bytes:
    return (_HELLO % (name, "".join(f',"{key}":"{value}"' for key, value in fields.items()))).encode()


def attacks(name: str, token: str) -> list[Attack]:
    """The eleven. `token` is that of a bot called `name`, who means harm."""
    return [
        Attack("connect flood", (("flood", 64, b""),)),
        Attack("connect, stay silent", (("silent", 1000, b""),)),
        Attack("slow hello", (("slow", 500, hello("a" * 64, author="b" * 1000)),)),
        Attack("giant lines", (("say", 100, b"x" * 200_000),)),
        Attack("garbage lines", (("say", 100, b'{"type":"hello",]\n\x00\xff\n'),)),
        Attack("wrong tokens", (("say", 100, hello(name, token="a guess")),)),
        Attack("deaf watchers", (("deaf", 150, hello("watcher", watch="")),)),
        Attack("TLS handshakes", (("deaf", 200, client_hello()), ("say", 50, client_hello())), tls="handshakes"),
        Attack("TLS updates of keys", (), tls="updates"),
        Attack("reconnect storm", (("storm", 50, hello(name, token=token, session="%s")),)),
        Attack("long hellos", (("storm", 50, hello(name, token=token, session="%s", version="漢" * 19_000)),)),
    ]


REST = Attack("rest", (("rest", 1, b""),))  # only keeps its core busy


def compiled(folder: Path, name: str = "siege") -> Path:
    """Needs a C compiler."""
    program, source = folder / name, Path(__file__).with_name(f"{name}.c")
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", str(program), str(source)], check=True)
    return program


@contextlib.contextmanager
def besieged(
    program: Path, address: str, attack: Attack, seconds: float, *, source: str = ELSEWHERE, core: int | None = None
) -> Iterator[list[int]]:
    """While the block runs, for `seconds` at most; afterwards the list holds how many connections were made."""
    host, port = parse_address(address)
    seconds = min(seconds, _LONGEST)
    made: list[int] = []
    words = [str(program), host, str(port), source]
    lines = [
        [*words, str(count), str(round(seconds)), manner, str(_kept(program.parent, payload))]
        for manner, count, payload in attack.manners
    ]
    if attack.tls:
        lines.append([sys.executable, "-m", "tests.bench.siege", attack.tls, host, str(port), source, str(seconds)])
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(_running(line, core)) for line in lines]
        yield made
        made += [int(process.communicate()[0] or 0) for process in processes]


def _kept(folder: Path, payload: bytes) -> Path:
    path = folder / f"payload-{hash(payload)}"
    path.write_bytes(payload)
    return path


@contextlib.contextmanager
def _running(line: Sequence[str], core: int | None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(line, stdout=subprocess.PIPE)
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def updates(host: str, port: int, source: str, seconds: float) -> int:
    """Updates of keys, as fast as may be, on one connection after the other that never says hello. By OpenSSL itself,
    because Python cannot update keys."""
    library = ctypes.CDLL(ctypes.util.find_library("ssl"))
    for function in (library.TLS_client_method, library.SSL_CTX_new, library.SSL_new):
        function.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.SSL_CTX_new(ctypes.c_void_p(library.TLS_client_method())))
    made, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1, (source, 0)) as plain:
            plain.setblocking(True)
            tls = ctypes.c_void_p(library.SSL_new(context))
            library.SSL_set_fd(tls, plain.fileno())
            made += library.SSL_connect(tls) == 1
            while time.monotonic() < end and library.SSL_key_update(tls, 0) == 1:
                if library.SSL_do_handshake(tls) != 1:  # sends it
                    break
            library.SSL_free(tls)
    return made


def _trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def handshakes(host: str, port: int, source: str, seconds: float) -> int:
    """Whole ones, as fast as may be, each on a connection of its own that then says nothing."""
    context = _trusting()
    made, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1, (source, 0)) as plain:
            made += 1
            with context.wrap_socket(plain):
                pass
    return made


if __name__ == "__main__":
    what, to, at, of, lasting = sys.argv[1:]
    attack = updates if what == "updates" else handshakes
    print(attack(to, int(at), of, min(float(lasting), _LONGEST)))
