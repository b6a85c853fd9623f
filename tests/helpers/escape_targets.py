"""The host's side of all attempts (tests/attack/escapes): what `arena sandbox` lays out, and more."""

import contextlib
import dataclasses
import os
import secrets
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from arena.devtools import sandbox_attempts
from arena.devtools.targets import inside, laid_out, listener, new_file, new_folder, new_mark
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.calls import call
from tests.helpers.paths import ROOT

_VARIABLE: Final = "ARENA_TARGET"  # of the host's environment
_USER_KEYRING: Final = -4
_KEYCTL_UNLINK: Final = 9
_PACKAGES: Final = ("arena", "arena/devtools", "tests", "tests/attack", "tests/attack/escapes")
_MAIN: Final = "from tests.attack.escapes.run import run\n\nrun()\n"


@contextlib.contextmanager
def all_laid_out(scratch_bytes: int, memory: int) -> Iterator[AllTargets]:
    """Lay out all targets in a temporary folder, for the duration of the block."""
    mark, name = new_mark(), f"arena-escape-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        stack.enter_context(_variable(mark))
        some = stack.enter_context(laid_out(memory))
        own, hidden = Path(some.own), Path(some.hidden).parent
        for address in (str(hidden / "socket"), "\0" + name):
            stack.enter_context(listener(socket.AF_UNIX, address))
        (hidden / "socket").chmod(0o666)
        stack.enter_context(_key(name))
        stack.enter_context(_inheritable(some.hidden))
        yield AllTargets(
            **dataclasses.asdict(some),
            journal=new_file(hidden / "cup.jsonl", mark),
            secret=new_file(hidden / "cup.secret", mark, 0o600),
            shared=_packed(own / "escapes.pyz"),
            fifo=stack.enter_context(_fifo(hidden / "fifo")),
            socket=str(hidden / "socket"),
            scratch=str(new_folder(own.parent / "scratch", 0o777)),
            shared_memory="/dev/shm",
            scratch_bytes=scratch_bytes,
            tcp6=_port_of_ipv6(stack),
            udp=stack.enter_context(listener(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)),
            abstract=name,
            key=name,
        )


def all_inside(targets: AllTargets) -> AllTargets:
    """The targets for a bot in a sandbox, where some of them have another name."""
    return dataclasses.replace(inside(targets), scratch="/tmp")


def _packed(path: Path) -> str:
    """The attempts as one file, which any Python 3.9 runs: inside a sandbox, nothing else of the arena can be seen. A
    program that has `path` in sys.path can also import the modules."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("__main__.py", _MAIN)
        for package in _PACKAGES:
            file.writestr(f"{package}/__init__.py", "")
        modules = [each for each in (ROOT / _PACKAGES[-1]).glob("*.py") if each.name != "__init__.py"]
        for module in (Path(sandbox_attempts.__file__), *modules):
            file.write(module, module.relative_to(ROOT))
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


def _port_of_ipv6(stack: contextlib.ExitStack) -> int:
    """The port of a listener that is closed with the stack; 0 on a host without IPv6."""
    with contextlib.suppress(OSError):
        return stack.enter_context(listener(socket.AF_INET6, ("::1", 0)))
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
