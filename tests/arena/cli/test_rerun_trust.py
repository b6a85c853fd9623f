"""What a bundle of a fault, which anybody may have written, can have `arena rerun` do."""

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from arena.devtools.rerun import rerun
from arena.plan.bot_spec import BotSpec
from arena.sandbox.sandbox_check import Settled
from arena.worker.fault_bundle import opponents_folder
from tests.helpers.commands import arena
from tests.helpers.paths import STEADY_BOT
from tests.helpers.processes import bad_command
from tests.helpers.pty_session import arena_in_terminal
from tests.helpers.tournaments import configured, played, steady

Make = Callable[..., Path]
OWN = f"{sys.executable} {STEADY_BOT} own"


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    journal = tmp_path_factory.mktemp("cup") / "cup.jsonl"
    line = played(configured(f"bad={bad_command('crash')}", steady("good"), journal=journal))[0]
    assert line.fault is not None
    assert line.fault.bundle is not None
    return Path(line.fault.bundle)


@pytest.fixture
def bundle(crashed: Path, tmp_path: Path) -> Make:
    """Makes a bundle of both bots in which these facts of the one at fault are others."""

    def make(**changed: Any) -> Path:
        facts = json.loads((opponents_folder(crashed) / "bundle.json").read_text())
        facts["bots"][0] |= changed
        facts["cwd"] = str(tmp_path)
        path = tmp_path / "bundle.json"
        path.write_text(json.dumps(facts))
        return path

    return make


@pytest.fixture
def trap(bundle: Make, tmp_path: Path) -> Path:
    """A bundle whose command writes its environment to a file `sprung`."""
    program = f"import os; open({str(tmp_path / 'sprung')!r}, 'w').write(repr(dict(os.environ)))"
    return bundle(cmd=[sys.executable, "-c", program], env=["API_KEY"], inherit_env=True)


@pytest.mark.parametrize("words", [[], ["--live"], ["--from-start"], ["--live", OWN]])
def test_nothing_is_started_unasked(trap: Path, tmp_path: Path, words: list[str]) -> None:
    facts = json.loads(trap.read_text())
    facts["bots"][1]["cmd"] = facts["bots"][0]["cmd"]
    trap.write_text(json.dumps(facts))
    done = arena("rerun", trap, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {trap}: this would start a command of the bundle: ")
    assert f"in the folder {tmp_path}, without a sandbox; " in done.stderr
    assert done.stderr.endswith("; add --yes if you trust it, or name a bot of your own after the folder\n")
    assert not (tmp_path / "sprung").exists()


def test_a_bundle_gives_no_variables_to_a_bot(trap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "s3cret")
    done = arena("rerun", trap, "--yes")
    assert "s3cret" not in (tmp_path / "sprung").read_text()
    assert done.stdout.endswith(
        "Then, bad was started with --env API_KEY=… --inherit-env. "
        "These are not taken from a bundle: add what it needs.\n"
    )
    done = arena("rerun", trap, "--yes", "--env", "API_KEY=mine", "--inherit-env")
    assert "'API_KEY': 'mine'" in (tmp_path / "sprung").read_text()
    assert "not taken from a bundle" not in done.stdout


def test_a_bundle_shows_no_folder_to_a_sandbox_and_chooses_no_user(bundle: Make) -> None:
    sandbox = {"level": "full", "scratch": 1 << 20, "expose": ["/home", "../books"], "own_dir": True, "user": "root"}
    (spec,) = _started(bundle(sandbox=sandbox))
    assert spec.is_sandboxed
    assert spec.sandbox.expose == ()
    assert spec.sandbox.user is None
    assert spec.sandbox.scratch == 1 << 20


def _started(path: Path) -> Sequence[BotSpec]:
    """How the bots of a bundle would be started."""
    found: list[BotSpec] = []

    class Enough(Exception):
        pass

    def started(specs: Sequence[BotSpec]) -> Sequence[BotSpec]:
        found.extend(specs)
        raise Enough

    with pytest.raises(Enough):
        rerun(path, started)
    return found


def test_a_sandbox_is_named_in_the_question(bundle: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.sandbox.sandbox_check.settled", lambda bots, _: Settled(tuple(bots), ()))
    path = bundle(sandbox={"level": "full", "expose": ["/srv/books"]})
    assert ", in a sandbox; add --yes" in arena("rerun", path).stderr
    assert ", in a sandbox that shows /etc; add --yes" in arena("rerun", path, "--expose", "/etc").stderr


def test_what_a_sandbox_showed_then_is_told(bundle: Make, tmp_path: Path) -> None:
    box = {"level": "full", "expose": ["/srv/books", "data"], "user": "games"}
    told = f"bad was started with --expose /srv/books --expose {tmp_path}/data --sandbox-user games. "
    assert told in arena("rerun", bundle(sandbox=box), "--yes", "--sandbox=false").stdout


def test_a_bot_of_the_caller_is_started_at_once_with_the_clock_of_the_bundle(bundle: Make) -> None:
    done = arena("rerun", bundle(), OWN)
    assert done.exit_code == 1, done.stderr
    assert "\nNow:  no fault; bad answers 'play " in done.stdout
    slow = bundle(clock={"move_ms": 1, "bank_ms": None, "increment_ms": 0, "start_ms": 60_000, "margin_ms": 0})
    assert "\nNow:  bad: timeout" in arena("rerun", slow, bad_command("hang")).stdout


def test_a_bot_that_connected_can_be_replaced_by_one_of_the_caller(bundle: Make) -> None:
    path = bundle(remote=True, cmd=None)
    refused = arena("rerun", path)
    assert refused.exit_code == 2
    assert "; name a bot to start after the folder" in refused.stderr
    assert arena("rerun", path, OWN).exit_code == 1


def test_a_bot_of_the_caller_that_is_not_there_is_one_sentence(bundle: Make) -> None:
    done = arena("rerun", bundle(), "./gone")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith("Error: './gone': there is no program './gone'\n")


@pytest.mark.parametrize(("answer", "is_started"), [("y\r", True), ("n\r", False), ("\r", False), ("\x04", False)])
def test_a_terminal_is_asked(bundle: Make, tmp_path: Path, answer: str, is_started: bool) -> None:
    program = "touch sprung #\n\x1b[2K\u202eecho fine"
    with arena_in_terminal(["rerun", str(bundle(cmd=["sh", "-c", program]))], tmp_path) as session:
        session.wait_for("Start it? [y/N]")
        shown = "".join(session.lines)
        assert r"sh -c 'touch sprung #\n\x1b[2K\u202eecho fine'" in shown
        assert f"in the folder {tmp_path}" in shown
        assert not (tmp_path / "sprung").exists()
        session.press(answer)
        assert session.wait_for_status() == (1 if is_started else 2)
        assert ("nothing was started" in session.text) is not is_started
    assert (tmp_path / "sprung").exists() is is_started


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": "a\ud800"}, "is not the bundle of a fault (a bot's name is 1 to 32 ASCII"),
        ({"name": "x" * 100_000}, "is not the bundle of a fault (a bot's name is 1 to 32 ASCII"),
        ({"cmd": ["", "x"]}, "the command of bad has no program"),
    ],
)
def test_a_bundle_of_a_bot_that_cannot_be_is_one_sentence(bundle: Make, changed: dict[str, Any], said: str) -> None:
    done = arena("rerun", bundle(**changed), "--yes")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr) < 1000


def test_a_folder_whose_name_is_too_long_is_a_bot_that_cannot_be_started(bundle: Make) -> None:
    done = arena("rerun", bundle(dir="x" * 5000), "--yes")
    assert done.exit_code == 1
    assert "failed-to-start: cannot start " in done.stdout


def test_ctrl_c_at_the_question_is_the_end(bundle: Make, tmp_path: Path) -> None:
    with arena_in_terminal(["rerun", str(bundle())], tmp_path) as session:
        session.wait_for("Start it? [y/N]")
        session.press("\x03")
        assert session.wait_for_status() == 130


def test_an_output_that_is_no_terminal_is_not_asked(bundle: Make, tmp_path: Path) -> None:
    """Nobody would see the question."""
    log = shlex.quote(str(tmp_path / "log"))
    shell = ["sh", "-c", f'exec "$@" 2>{log}', "sh"]
    with arena_in_terminal(["rerun", str(bundle())], tmp_path, around=shell) as session:
        assert session.wait_for_status() == 2
