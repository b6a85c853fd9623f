"""The attempts themselves: how their results are judged, and that they run wherever a bot may run."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.devtools import sandbox_attempts
from arena.devtools.sandbox_attempts import Attempt, NoEffectError, Result, Targets, try_apart
from arena.devtools.targets import told
from tests.attack.escapes.calls import NUMBERS
from tests.attack.escapes.run import ATTEMPTS
from tests.helpers.escape_rounds import SYSTEM_PYTHON
from tests.helpers.escape_targets import all_laid_out
from tests.helpers.paths import ROOT

MODULES = [Path(sandbox_attempts.__file__), *sorted((ROOT / "tests" / "attack" / "escapes").glob("*.py"))]
HEADERS = ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h")
UNNAMED_THERE = {"name_to_handle_at", "open_by_handle_at", "memfd_secret"}  # in other words, or in newer headers


def reach(_: Targets) -> str:
    return "everything"


def be_refused(_: Targets) -> str:
    raise NoEffectError("nothing is there")


def be_forbidden(_: Targets) -> str:
    os.rmdir("/proc")
    return "it removed /proc"


def be_killed(_: Targets) -> str:
    os.kill(os.getpid(), signal.SIGSYS)
    time.sleep(60)
    return "it survived"


def be_wrong(_: Targets) -> str:
    raise ValueError("a mistake")


def say_nothing(_: Targets) -> str:
    os._exit(0)


@pytest.mark.parametrize(
    ("make", "escaped", "detail"),
    [
        (reach, True, "everything"),
        (be_refused, False, "nothing is there"),
        (be_forbidden, False, "/proc"),
        (be_killed, False, "killed by SIGSYS"),
        (be_wrong, True, "the attempt itself failed: ValueError('a mistake')"),
        (say_nothing, True, "no result"),
    ],
)
def test_only_what_was_refused_or_killed_counts_as_refused(
    make: Callable[[Targets], str], escaped: bool, detail: str
) -> None:
    with all_laid_out(0, 0) as targets:
        result = try_apart(Attempt("some", "some promise", make, fatal=False), targets)
    assert (result.attempt, result.escaped) == ("some", escaped)
    assert detail in result.detail


def test_targets_are_gone_afterwards() -> None:
    descriptors, variables = len(os.listdir("/proc/self/fd")), dict(os.environ)
    with all_laid_out(0, 0) as targets:
        assert Path(targets.hidden).stat().st_mode & 0o777 == 0o600
        assert dict(os.environ) != variables
    assert not Path(targets.own).parent.exists()
    assert not Path(f"/proc/{targets.host_process}").exists()
    assert (len(os.listdir("/proc/self/fd")), dict(os.environ)) == (descriptors, variables)


def test_one_file_is_enough_for_a_python_without_the_arena(tmp_path: Path) -> None:
    """A program that is not a bot has the variables and descriptors of the one that starts it."""
    if not Path(SYSTEM_PYTHON).exists():
        pytest.skip(f"there is no {SYSTEM_PYTHON}")
    names = ["read-hidden-file", "read-own-environment", "use-inherited-descriptor"]
    with all_laid_out(0, 0) as targets:
        words = [SYSTEM_PYTHON, "-I", "-S", targets.shared, str(told(targets)), *names]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, close_fds=False, check=True)
    results = [Result(**json.loads(line)) for line in done.stdout.splitlines()]
    assert [(result.attempt, result.escaped) for result in results] == [(name, True) for name in names]


@pytest.mark.extended
@pytest.mark.parametrize("name", [attempt.name for attempt in ATTEMPTS.values() if attempt.fatal])
def test_what_the_arena_would_end_succeeds_where_nobody_watches(name: str) -> None:
    """The others succeed in rounds without a sandbox, see tests/arena/sandbox/test_escapes.py."""
    with all_laid_out(2**20, 32 * 2**20) as targets:
        words = [sys.executable, "-I", "-S", targets.shared, str(told(targets)), name]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    result = Result(**json.loads(done.stdout))
    assert (result.attempt, result.escaped) == (name, True), result.detail


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_the_attempts_run_on_old_interpreters(module: Path) -> None:
    tree = ast.parse(module.read_text(), feature_version=(3, 9))
    imported = {name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in (node.names[0].name,)}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {name for name in imported if name.startswith((sandbox_attempts.__name__, "tests.attack.escapes."))}
    assert {name.partition(".")[0] for name in imported - own} <= sys.stdlib_module_names


def test_each_attempt_has_a_promise_of_its_own() -> None:
    promises = [attempt.promise for attempt in ATTEMPTS.values()]
    assert len(set(promises)) == len(promises) > 100


@pytest.mark.parametrize(("column", "header"), list(enumerate(HEADERS)), ids=["x86_64", "aarch64"])
def test_the_numbers_of_calls_are_those_of_the_kernel(column: int, header: str) -> None:
    if not Path(header).exists():
        pytest.skip(f"there is no {header}")
    known = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", Path(header).read_text())}
    compared = {name: (numbers[column], known[name]) for name, numbers in NUMBERS.items() if name in known}
    assert [name for name, (ours, theirs) in compared.items() if ours != theirs] == []
    assert set(NUMBERS) - set(compared) <= UNNAMED_THERE
