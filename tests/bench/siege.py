"""Strangers who mean it: the attacks of siege.c, and handshakes of TLS, from processes of their own.

Everything goes to loopback, with a bounded number of connections, and ends by itself after a bounded time.
"""

import contextlib
import os
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from arena.support.address import parse_address

ELSEWHERE = "127.0.0.66"  # all of 127.0.0.0/8 is this machine
_LONGEST = 60.0  # seconds
_HELLO = '{"type":"hello","protocol":1,"name":"%s"%s}\n'


@attrs.frozen
class Attack:
    """`manners`: of siege.c, each with its number of connections and what it says."""

    name: str
    manners: tuple[tuple[str, int, bytes], ...]
    tls: bool = False  # also whole handshakes, one after the other


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
    """The nine. `token` is that of a bot called `name`, who means harm."""
    return [
        Attack("connect flood", (("flood", 64, b""),)),
        Attack("connect, stay silent", (("silent", 1000, b""),)),
        Attack("slow hello", (("slow", 500, hello("a" * 64, author="b" * 1000)),)),
        Attack("giant lines", (("say", 100, b"x" * 200_000),)),
        Attack("garbage lines", (("say", 100, b'{"type":"hello",]\n\x00\xff\n'),)),
        Attack("wrong tokens", (("say", 100, hello(name, token="a guess")),)),
        Attack("deaf watchers", (("deaf", 150, hello("watcher", watch="")),)),
        Attack("TLS handshakes", (("deaf", 200, client_hello()), ("say", 50, client_hello())), tls=True),
        Attack("reconnect storm", (("storm", 50, hello(name, token=token, session="%s")),)),
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
        lines.append([sys.executable, "-m", "tests.bench.siege", host, str(port), source, str(seconds)])
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


def handshakes(host: str, port: int, source: str, seconds: float) -> int:
    """Whole ones, as fast as may be, each on a connection of its own that then says nothing."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    made, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection((host, port), 1, (source, 0)) as plain:
            made += 1
            with context.wrap_socket(plain):
                pass
    return made


if __name__ == "__main__":
    to, at, of, lasting = sys.argv[1:]
    print(handshakes(to, int(at), of, min(float(lasting), _LONGEST)))
