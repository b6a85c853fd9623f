"""The host's side of the attempts (sandbox_attempts): what a hostile bot would like to have, laid out for it."""

import contextlib
import dataclasses
import json
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from arena.devtools.sandbox_attempts import MARK, SomeTargets, Targets

_PROGRAM: Final = "sandbox_attempts.py"
_WAIT_FOR_END: Final = "import sys; sys.stdin.read()"


@contextlib.contextmanager
def laid_out(memory: int) -> Iterator[Targets]:
    """Lay out targets in a temporary folder, for the duration of the block. Without a sandbox, every target can be
    reached; nothing else is touched."""
    mark = new_mark()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="arena-targets-")))
        folder.chmod(0o755)  # an arena that is run by root starts a sandboxed bot as another user
        own, hidden, opponent = (new_folder(folder / each) for each in ("own", "hidden", "opponent"))
        first, host = (stack.enter_context(_process(mark)) for _ in range(2))
        yield Targets(
            hidden=new_file(hidden / "private", mark, 0o600),
            opponent=new_file(opponent / "bot.py", mark),
            own=str(own),
            program=new_file(own / _PROGRAM, resources.files(__package__).joinpath(_PROGRAM).read_text("utf-8")),
            memory=memory,
            first_process=first,
            host_process=host,
            tcp=stack.enter_context(listener(socket.AF_INET, ("127.0.0.1", 0))),
        )


def inside(targets: SomeTargets) -> SomeTargets:
    """The targets for a bot in a sandbox, where one of them has another name."""
    return dataclasses.replace(targets, first_process=1)


def told(targets: Targets) -> Path:
    """The file that tells the bot of its targets."""
    return Path(new_file(Path(targets.own) / "targets.json", json.dumps(dataclasses.asdict(targets))))


def new_mark() -> str:
    return MARK.decode() + secrets.token_hex(16)


def new_folder(path: Path, mode: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


def new_file(path: Path, text: str, mode: int = 0o644) -> str:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return str(path)


@contextlib.contextmanager
def _process(mark: str) -> Iterator[int]:
    """A process that ends with the block, also if the attempts killed it before."""
    command = [sys.executable, "-I", "-S", "-c", _WAIT_FOR_END, mark]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield process.pid


@contextlib.contextmanager
def listener(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> Iterator[int]:
    """A socket that can be reached, and its port. The kernel completes connections by itself."""
    with socket.socket(family, kind) as heard:
        heard.bind(address)
        if kind == socket.SOCK_STREAM:
            heard.listen()
        yield 0 if family == socket.AF_UNIX else heard.getsockname()[1]
