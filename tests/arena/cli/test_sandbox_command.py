"""`arena sandbox`: what holds on this machine, for people and programs."""

import json
import subprocess
from pathlib import Path

import pytest

from arena.devtools.sandbox_attempts import TRIALS
from arena.devtools.sandbox_report import as_json, finding_text, holds, summary
from arena.devtools.sandbox_trial import SandboxFinding
from arena.sandbox.sandbox_check import SandboxSupport
from tests.helpers.commands import arena
from tests.helpers.escape_rounds import USERS, python_as
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.extended

HELD = SandboxFinding("read-journal", "a bot does not read the journal", True, "No such file or directory")
BROKEN = SandboxFinding("mount", "a bot mounts nothing", False, "it mounted a file system")


@pytest.mark.parametrize("user", USERS)
def test_every_promise_is_tried_and_holds(user: str) -> None:
    if problem := SandboxSupport.this().lacks:
        pytest.skip(problem)
    words = [*python_as(user), "-m", "arena", "sandbox", "--json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=240)
    found = json.loads(done.stdout)
    if "missing" in found:
        pytest.skip(found["missing"])
    assert [each for each in found["findings"] if not each["holds"]] == []
    assert {each["attempt"] for each in found["findings"]} == {*TRIALS, "outlive-bot"}
    assert (found["holds"], done.returncode, done.stderr) == (True, 0, "")


def test_a_machine_without_bubblewrap_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = "no sandbox for bots: bubblewrap (bwrap) is not installed: install it, for example with `apt install"
    done = arena("sandbox")
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(reason)
    done = arena("sandbox", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["holds"], found["findings"]) == (1, False, [])
    assert found["missing"].startswith(reason)


def test_a_promise_that_does_not_hold_is_shown_with_what_was_got() -> None:
    assert finding_text(HELD) == "ok    read-journal         a bot does not read the journal"
    assert finding_text(BROKEN).splitlines()[1] == "      but: it mounted a file system"
    assert not holds([HELD, BROKEN])
    assert summary([HELD]) == "The sandbox holds: all 1 attempts to get out were refused."
    assert "does NOT hold: 1 of 2 attempts succeeded. Let no bot of a stranger run here" in summary([HELD, BROKEN])
    assert json.loads(as_json([HELD, BROKEN]))["holds"] is False


def test_names_fit_into_their_column() -> None:
    assert max(map(len, TRIALS)) < finding_text(HELD).index("a bot") - len("ok    ")
