"""The host's side of the attempts (escapes/): what a hostile bot would like to have, laid out for it."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from arena.devtools.escapes.attempt import MARK, Baits
from arena.devtools.escapes.calls import call
from arena.devtools.escapes.packed import write_packed

_VARIABLE: Final = "ARENA_BAIT"  # of the host's environment
_WAIT_FOR_END: Final = "import sys; sys.stdin.read()"
_USER_KEYRING: Final = -4
_KEYCTL_UNLINK: Final = 9


@contextlib.contextmanager
def laid_out(folder: Path, scratch_bytes: int, memory: int) -> Iterator[Baits]:
    """Lay out baits in an empty folder that other users can enter, for the duration of the block. Without a sandbox,
    every bait can be reached; nothing else is touched."""
    mark = MARK.decode() + secrets.token_hex(16)
    name = f"arena-escape-{secrets.token_hex(8)}"
    own, hidden, opponent = (_folder(folder / each) for each in ("own", "hidden", "opponent"))
    write_packed(own / "escapes.pyz")
    files = {
        "hidden": _file(hidden / "private", mark, 0o600),
        "journal": _file(hidden / "cup.jsonl", mark, 0o644),
        "secret": _file(hidden / "cup.secret", mark, 0o600),
        "opponent": _file(opponent / "bot.py", mark, 0o644),
    }
    with contextlib.ExitStack() as stack:
        fifo = stack.enter_context(_fifo(hidden / "fifo"))
        first, host = (stack.enter_context(_process(mark)) for _ in range(2))
        for address in (str(hidden / "socket"), "\0" + name):
            stack.enter_context(_listener(socket.AF_UNIX, address))
        (hidden / "socket").chmod(0o666)
        stack.enter_context(_key(name))
        stack.enter_context(_inheritable(files["hidden"]))
        stack.enter_context(_variable(mark))
        yield Baits(
            **files,
            own=str(own),
            shared=str(own / "escapes.pyz"),
            fifo=fifo,
            socket=str(hidden / "socket"),
            scratch=str(_folder(folder / "scratch", 0o777)),
            shared_memory="/dev/shm",
            scratch_bytes=scratch_bytes,
            memory=memory,
            first_process=first,
            host_process=host,
            tcp=stack.enter_context(_listener(socket.AF_INET, ("127.0.0.1", 0))),
            tcp6=_port_of_ipv6(stack),
            udp=stack.enter_context(_listener(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)),
            abstract=name,
            key=name,
        )


@contextlib.contextmanager
def laid_out_anywhere(scratch_bytes: int, memory: int) -> Iterator[Baits]:
    """Baits in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="arena-baits-") as folder:
        os.chmod(folder, 0o755)  # an arena that is run by root starts a sandboxed bot as another user
        with laid_out(Path(folder), scratch_bytes, memory) as baits:
            yield baits


def inside(baits: Baits) -> Baits:
    """The baits for a bot in a sandbox, where some of them have another name."""
    return baits._replace(first_process=1, scratch="/tmp")


def told(baits: Baits) -> Path:
    """The file that tells the bot of its baits."""
    path = Path(baits.own) / "baits.json"
    path.write_text(json.dumps(baits._asdict()))
    path.chmod(0o644)
    return path


def _folder(path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


def _file(path: Path, text: str, mode: int) -> str:
    path.touch(mode)
    path.write_text(text)
    return str(path)


@contextlib.contextmanager
def _fifo(path: Path) -> Iterator[str]:
    """A named pipe that somebody reads."""
    os.mkfifo(path)
    path.chmod(0o666)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield str(path)
    finally:
        os.close(reader)


@contextlib.contextmanager
def _process(mark: str) -> Iterator[int]:
    """A process that ends with the block, also if the attempts killed it before."""
    command = [sys.executable, "-I", "-S", "-c", _WAIT_FOR_END, mark]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env={_VARIABLE: mark}) as process:
        yield process.pid


@contextlib.contextmanager
def _listener(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> Iterator[int]:
    """A socket that can be reached, and its port. The kernel completes connections by itself."""
    with socket.socket(family, kind) as listener:
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen()
        yield 0 if family == socket.AF_UNIX else listener.getsockname()[1]


def _port_of_ipv6(stack: contextlib.ExitStack) -> int:
    """The port of a listener that is closed with the stack; 0 on a host without IPv6."""
    with contextlib.suppress(OSError):
        return stack.enter_context(_listener(socket.AF_INET6, ("::1", 0)))
    return 0


@contextlib.contextmanager
def _inheritable(path: str) -> Iterator[None]:
    """A descriptor that programs which the host starts would have, if it did not take care."""
    descriptor = os.open(path, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _variable(mark: str) -> Iterator[None]:
    os.environ[_VARIABLE] = mark
    try:
        yield
    finally:
        del os.environ[_VARIABLE]


@contextlib.contextmanager
def _key(description: str) -> Iterator[None]:
    """A key in the keyring of the user. A host without keyrings, or that refuses them, has nothing to find."""
    try:
        key = call("add_key", b"user", description.encode(), b"x", 1, _USER_KEYRING)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        call("keyctl", _KEYCTL_UNLINK, key, _USER_KEYRING)
