"""What tests of sandboxes share: whether this machine can make any, and what every user can reach.

Where the tests are run by root, bots in a sandbox are of user nobody, who can reach neither pytest's folders nor an
interpreter in root's home.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from arena.plan.bot_spec import BotSpec
from arena.plan.sandbox import Level, Sandbox
from tests.helpers.paths import ROOT

T = TypeVar("T", bound=Callable[..., object])
PYTHON: Final = "/usr/bin/python3"
IS_ROOT: Final = os.geteuid() == 0
TIMEOUT: Final = 120
_NOBODY: Final = pwd.getpwnam("nobody")
_BECOME_NOBODY: Final = ("setpriv", f"--reuid={_NOBODY.pw_uid}", f"--regid={_NOBODY.pw_gid}", "--clear-groups", "--")
_PACKAGES: Final = [path for path in sys.path if path.endswith("site-packages")]


def _why_no_sandbox() -> str | None:
    """Not as the arena finds out, whose own word is among what is tested."""
    if not shutil.which("bwrap"):
        return "there is no bwrap on this machine"
    options = ("--unshare-all", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/")
    words = [*(_BECOME_NOBODY if IS_ROOT else ()), "bwrap", *options, PYTHON, "-c", ""]
    tried = subprocess.run(words, capture_output=True, text=True)
    return f"no sandbox with {PYTHON} in it: {tried.stderr.strip()}" if tried.returncode else None


NO_SANDBOX: Final = _why_no_sandbox()
SANDBOX_MARKS: Final = [pytest.mark.extended, pytest.mark.skipif(NO_SANDBOX is not None, reason=NO_SANDBOX or "")]


def needs_sandbox(test: T) -> T:
    extended, skipped = SANDBOX_MARKS
    marked: T = extended(skipped(test))
    return marked


@contextmanager
def reachable_folder() -> Iterator[Path]:
    """An empty folder that every user can reach, and that is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="arena-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def boxed(*command: str, sandbox: Sandbox | None = None, **fields: Any) -> BotSpec:
    """A bot that is started in a sandbox."""
    return BotSpec("x", command, sandbox=sandbox or Sandbox(level=Level.FULL), **fields)


def script(folder: Path, text: str, name: str = "bot.py") -> tuple[str, str]:
    """The command of a bot in Python that has a folder of its own."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return PYTHON, str(folder / name)


def ordinary_python() -> list[str]:
    """The words that run Python as an ordinary user, with `ordinary_environment`; skips the test where they cannot."""
    if not IS_ROOT:
        return [sys.executable]
    words = [*_BECOME_NOBODY, PYTHON]
    tried = subprocess.run(
        [*words, "-c", "import arena.cli.main, msgspec, numpy, pytest"], env=ordinary_environment(), capture_output=True
    )
    if tried.returncode != 0:
        pytest.skip(f"{PYTHON} cannot run the arena as user nobody: {tried.stderr.decode().splitlines()[-1]}")
    return words


def ordinary_environment(**more: str) -> Mapping[str, str]:
    packages = os.pathsep.join([str(ROOT), *_PACKAGES])
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": packages} | more
