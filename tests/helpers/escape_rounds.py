"""Two rounds in which a bot tries to get out (tests/bots/escape_bot.py), and a way to play them as another user:

    python -m tests.helpers.escape_rounds SANDBOX [NAME]...

SANDBOX is the option `sandbox` of that bot; the arena and its opponent have none. Prints what was played, as JSON.
"""

import json
import os
import pwd
import shlex
import shutil
import site
import subprocess
import sys
from pathlib import Path
from typing import Final

import attrs
import pytest

from arena.devtools.sandbox_attempts import Result
from arena.devtools.targets import told
from arena.plan.config import from_command_line
from arena.plan.sandbox import SCRATCH
from arena.sandbox.sandbox_check import settled
from tests.helpers.escape_targets import all_inside, all_laid_out
from tests.helpers.paths import ESCAPE_BOT, ROOT
from tests.helpers.tournaments import played, steady

MEMORY: Final = 128 * 2**20
SYSTEM_PYTHON: Final = "/usr/bin/python3"
TIMEOUT: Final = 240
USERS: Final = ("root", "nobody")


@attrs.frozen
class Played:
    """What became of the rounds."""

    endings: list[str]
    faults: list[str]  # what the faulty bot did
    winners: list[str]
    results: dict[str, Result]
    left: list[int]  # processes


def play(sandbox: str, names: list[str]) -> Played:
    with all_laid_out(SCRATCH, MEMORY) as targets:
        bot = shutil.copy(ESCAPE_BOT, targets.own)
        known = told(all_inside(targets) if sandbox == "true" else targets)
        command = shlex.join([SYSTEM_PYTHON, "-I", "-S", bot, targets.shared, str(known), *names])
        journal = Path(targets.own).parent / "played.jsonl"
        keys = f"name=escape cmd={shlex.quote(command)} sandbox={sandbox} memory={MEMORY >> 20}M"
        options = {"rounds": "2", "seed": "7", "st": "60" if "stop-own-group" not in names else "1", "timemargin": "0"}
        config = from_command_line([steady("steady")], [keys], options | {"journal": str(journal)})
        config = attrs.evolve(config, bots=settled(config.bots, [journal]).bots)
        lines = played(config)
        wrote = [path.read_text() for path in journal.with_suffix(".stderr").glob("*escape*")]
        results = [Result(**json.loads(line)) for text in wrote for line in text.splitlines()]
        return Played(
            [line.result.ending for line in lines],
            [line.fault.detail for line in lines if line.fault],
            [line.bots[line.result.winner] for line in lines if line.result.winner is not None],
            {each.attempt: each for each in results},
            _processes_with(bot),
        )


def _processes_with(word: str) -> list[int]:
    """The processes whose command line has the word, other than this one."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    return [pid for pid in pids if word.encode() in _command_line(pid)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def python_as(user: str) -> list[str]:
    """The command that starts Python with all that the tests need, as this user. Skips the test where that cannot be
    had: the interpreter of the tests may lie in the home of another user."""
    if (os.geteuid() == 0) is (user == "root"):
        return [sys.executable]
    if user == "root":
        pytest.skip("the tests are not run by root")
    account = pwd.getpwnam(user)
    words = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups", "env"]
    words += ["HOME=/tmp", f"PYTHONPATH={':'.join([str(ROOT), *site.getsitepackages()])}", SYSTEM_PYTHON]
    tried = subprocess.run([*words, "-c", "import arena, attrs, msgspec, numpy, pytest, trio"], capture_output=True)
    if tried.returncode != 0:
        pytest.skip(f"{SYSTEM_PYTHON} cannot run the arena as {user}")
    return words


def played_as(user: str, sandbox: str, *names: str) -> Played:
    words = [*python_as(user), "-m", "tests.helpers.escape_rounds", sandbox, *names]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    results = {name: Result(*each) for name, each in found.pop("results").items()}
    return Played(**found, results=results)


if __name__ == "__main__":
    print(json.dumps(attrs.asdict(play(sys.argv[1], sys.argv[2:]), recurse=False)))
