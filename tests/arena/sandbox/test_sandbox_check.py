"""No run that asks for sandboxes begins with less: what is missing is said in one line, with the remedy. Real commands
on machines that lack something."""

import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from arena.sandbox.sandbox_check import SandboxSupport
from tests.helpers.commands import arena
from tests.helpers.paths import ROOT, STEADY_BOT
from tests.helpers.sandboxes import (
    IS_ROOT,
    PYTHON,
    TIMEOUT,
    needs_sandbox,
    ordinary_environment,
    ordinary_python,
    reachable_folder,
)

INSTALL = "install it, for example with `apt install bubblewrap` or `dnf install bubblewrap`"
NO_BWRAP = f"bubblewrap (bwrap) is not installed: {INSTALL}"
GOOD = SandboxSupport("/usr/bin/bwrap", "bubblewrap 0.8.0", "x86_64", "6.1.0-13-amd64", {})


# What is missing, from facts


@pytest.mark.parametrize(
    ("machine", "lacks"),
    [
        (GOOD, None),
        (SandboxSupport("/usr/bin/bwrap", "bubblewrap 0.11.2", "aarch64", "6.1.0-13-amd64", {}), None),
        (SandboxSupport("/usr/bin/bwrap", "bubblewrap 1.0", "x86_64", "6.1.0-13-amd64", {}), None),
        (SandboxSupport(None, "", "x86_64", "6.1.0-13-amd64", {}), NO_BWRAP),
        (
            SandboxSupport("/usr/bin/bwrap", "bubblewrap 0.7.9", "x86_64", "6.1.0-13-amd64", {}),
            f"bubblewrap 0.7.9 is too old: 0.8 or newer is needed; {INSTALL}",
        ),
        (
            SandboxSupport("/opt/bin/bwrap", "", "x86_64", "6.1.0-13-amd64", {}),
            f"`/opt/bin/bwrap --version` names no version: 0.8 or newer is needed; {INSTALL}",
        ),
        (
            SandboxSupport("/usr/bin/bwrap", "bubblewrap 0.8.0", "riscv64", "6.1.0-13-amd64", {}),
            "there is no filter of system calls for riscv64, only for x86_64 and aarch64",
        ),
        (
            SandboxSupport("/usr/bin/bwrap", "bubblewrap 0.8.0", "x86_64", "5.10.0", {}),
            "Linux 5.10.0 is too old: 5.14 or newer is needed",
        ),
    ],
)
def test_what_no_sandbox_can_do_without(machine: SandboxSupport, lacks: str | None) -> None:
    assert machine.lacks == lacks


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("user/max_user_namespaces", "0", "`sysctl user.max_user_namespaces=10000` allows them (bwrap: no)"),
        ("user/max_user_namespaces", "9", None),
        ("kernel/unprivileged_userns_clone", "0", "`sysctl kernel.unprivileged_userns_clone=1` allows them (bwrap"),
        ("kernel/unprivileged_userns_clone", "1", None),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "AppArmor's profile unprivileged_userns is in the way"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "install the profile bwrap-userns-restrict (`apt"),
        ("kernel/apparmor_restrict_unprivileged_userns", "0", None),
    ],
)  # fmt: skip
def test_a_setting_of_the_kernel_that_is_in_the_way_is_named(setting: str, value: str, told: str | None) -> None:
    why = SandboxSupport("bwrap", "", "x86_64", "6.1.0-13-amd64", {f"/proc/sys/{setting}": value}).why("bwrap: no")
    assert (told or "bubblewrap cannot make a sandbox here: bwrap: no; a container has to allow user namespaces") in why


def test_the_facts_of_this_machine_are_found() -> None:
    machine = SandboxSupport.this()
    assert machine.architecture == platform.machine()
    assert machine.bwrap == shutil.which("bwrap")
    for path, value in machine.settings.items():
        assert Path(path).read_text().strip() == value


# Real commands

# Plays like the steady bot, and leaves a sign in its folder where it can write there: without a sandbox.
SIGNING = f"""
import os, sys
try:
    open(os.path.join(os.path.dirname(sys.argv[0]), "started"), "w").close()
except OSError:
    pass
{STEADY_BOT.read_text()}
"""
CRASHING = SIGNING.replace('if message["type"] == "hello":', 'if message["type"] == "request":\n        sys.exit(3)\n    elif message["type"] == "hello":')  # fmt: skip # noqa: E501


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in which every user may write, with bots a, b and crashing in folders of their own."""
    with reachable_folder() as found:
        for name, text in (("a", SIGNING), ("b", SIGNING), ("crashing", CRASHING)):
            (found / name).mkdir()
            (found / name / f"{name}.py").write_text(text)
            (found / name).chmod(0o777)
        found.chmod(0o777)
        yield found


def command(folder: Path, name: str) -> str:
    return f"{PYTHON} {folder}/{name}/{name}.py {name}"


def was_started(folder: Path) -> bool:
    return any(folder.glob("*/started"))


def forget_starts(folder: Path) -> None:
    for sign in folder.glob("*/started"):
        sign.unlink()


@pytest.fixture
def bundle(folder: Path) -> Path:
    """Of a fault in a round that was played without a sandbox."""
    options = ("--rounds", "1", "--journal", folder / "then.jsonl")
    assert arena("run", command(folder, "crashing"), command(folder, "b"), *options).exit_code == 0
    forget_starts(folder)
    (found,) = (folder / "then.faults").glob("*crashing")
    return found


def called(folder: Path, bundle: Path, name: str, level: str) -> Result:
    """One of the commands that start bots, with bots a and b and this level of sandbox."""
    one, two = command(folder, "a"), command(folder, "b")
    cup = folder / "cup.toml"
    cup.write_text(f"rounds = 2\n[[bot]]\nname = 'a'\ncmd = '{one}'\n[[bot]]\nname = 'b'\ncmd = '{two}'\n")
    match name:
        case "play":
            return arena("play", one, two, "--rounds", "2", f"--sandbox={level}")
        case "run":
            return arena("run", cup, f"--sandbox={level}")
        case "serve":
            return arena("serve", cup, "--listen", "127.0.0.1:0", f"--sandbox={level}")
        case "check":
            return arena("check", one, "--rounds", "2", f"--sandbox={level}")
        case "regress":
            return arena("regress", folder / "then.jsonl", one, "--as", "crashing", f"--sandbox={level}")
        case "rerun":
            return arena("rerun", bundle, "--yes", f"--sandbox={level}")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve_one, args=(listener,), daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        return arena("connect", address, f"--sandbox={level}", "--", *one.split())


def _serve_one(listener: socket.socket) -> None:
    """Admit one bot, and dismiss it."""
    try:
        connection, _ = listener.accept()
    except OSError:
        return  # nobody connected
    with connection, connection.makefile("rb") as lines:
        connection.sendall(b'{"type":"hello","protocol":1,"server":"test"}\n')
        lines.readline()
        connection.sendall(b'{"type":"welcome","name":"a"}\n{"type":"bye","reason":"enough"}\n')
        lines.read()


COMMANDS = ["play", "run", "serve", "check", "regress", "rerun", "connect"]
FIRST_BOT = dict.fromkeys(COMMANDS, "a") | {"rerun": "crashing", "connect": PYTHON}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_does_not_begin_without_the_sandbox_that_it_was_to_have(
    name: str, folder: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    done = called(folder, bundle, name, "true")
    assert (done.exit_code, done.stderr) == (2, f"Error: no sandbox for {FIRST_BOT[name]}: {NO_BWRAP}\n")
    assert done.stdout == ""
    assert not was_started(folder)
    assert not (folder / "cup.jsonl").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_sandbox_that_was_only_to_be_tried_is_missed_aloud(
    name: str, folder: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    done = called(folder, bundle, name, "try")
    assert f"{FIRST_BOT[name]} is started without a sandbox: {NO_BWRAP}\n" in done.stderr
    assert "Traceback" not in done.stderr
    assert was_started(folder)
    if name in ("play", "run", "serve"):
        assert done.exit_code == 0
        assert "Started without a sandbox, because it was unavailable: a, b." in done.stdout


def test_table_report_and_json_say_what_was_missing(
    folder: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert called(folder, bundle, "run", "try").exit_code == 0
    journal = folder / "cup.jsonl"
    told = "Started without a sandbox, because it was unavailable: a, b."
    assert told in arena("table", journal).stdout
    rows = json.loads(arena("table", journal, "--format", "json").stdout)
    assert [row["sandbox"] for row in rows["standings"]] == ["missing", "missing"]
    assert arena("report", journal, "-o", folder / "report", "--evaluate", "0").exit_code == 0
    report = (folder / "report" / "index.html").read_text()
    assert told in report
    assert re.search(r"<th[^>]*>Sandbox</th>", report)
    assert len(re.findall(r"<td[^>]*>missing</td>", report)) == 2


def refused(folder: Path, *options: str, **environment: str) -> str:
    """Why the bot cannot be checked in a sandbox; nothing of it was started."""
    words = [sys.executable, "-m", "arena", "check", command(folder, "a"), "--sandbox", *options]
    done = subprocess.run(words, env=os.environ | environment, capture_output=True, text=True, timeout=TIMEOUT)
    return told_by(done, folder)


def told_by(done: "subprocess.CompletedProcess[str]", folder: Path) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert not was_started(folder)
    return done.stderr.removeprefix("Error: no sandbox for a: ").removesuffix("\n")


def fake_bwrap(folder: Path, text: str) -> str:
    """The PATH that begins with a bwrap of this text."""
    fakes = folder / "fakes"
    fakes.mkdir(exist_ok=True)
    (fakes / "bwrap").write_text(text)
    (fakes / "bwrap").chmod(0o755)
    return f"{fakes}:{os.environ['PATH']}"


def test_an_old_bubblewrap_is_named(folder: Path) -> None:
    path = fake_bwrap(folder, "#!/bin/sh\necho bubblewrap 0.6.1\n")
    assert refused(folder, PATH=path) == f"bubblewrap 0.6.1 is too old: 0.8 or newer is needed; {INSTALL}"


def test_a_bubblewrap_that_is_none_is_named(folder: Path) -> None:
    path = fake_bwrap(folder, "\0no program")
    told = f"`{folder}/fakes/bwrap --version` names no version: 0.8 or newer is needed; {INSTALL}"
    assert refused(folder, PATH=path) == told


def test_a_bubblewrap_that_fails_is_quoted(folder: Path) -> None:
    text = "#!/bin/sh\n[ $1 = --version ] && exec echo bubblewrap 0.8.0\necho bwrap: No permissions >&2; exit 1\n"
    assert refused(folder, PATH=fake_bwrap(folder, text)) == SandboxSupport.this().why("bwrap: No permissions")


@needs_sandbox
def test_a_machine_without_user_namespaces_is_told_how_to_allow_them(folder: Path) -> None:
    """A user namespace in which there may be no other one."""
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    if subprocess.run(["unshare", "-Ur", "sh", "-c", forbid, "sh", "true"], capture_output=True).returncode != 0:
        pytest.skip("user namespaces cannot be forbidden here")
    words = ["unshare", "-Ur", "sh", "-c", forbid, "sh", sys.executable, "-m", "arena"]
    words += ["check", command(folder, "a"), "--sandbox"]
    why = told_by(subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT), folder)
    assert why.startswith(
        "this system allows no user namespaces: `sysctl user.max_user_namespaces=10000` allows them ("
    )


@needs_sandbox
@pytest.mark.skipif(not IS_ROOT, reason="only root starts bots as another user")
def test_what_the_other_user_cannot_reach_is_named(folder: Path) -> None:
    remedy = (
        "; use programs in /usr, such as /usr/bin/python3, make its folders readable for all, or run the arena as the "
        "user to whom they belong"
    )
    words = f"one of these cannot be run or read: {PYTHON}, {folder}/a/a.py"
    (folder / "a").chmod(0o700)
    assert refused(folder) == f"a user in the group of nobody cannot reach what the bot needs ({words}){remedy}"
    (folder / "a").chmod(0o755)
    (folder / "a" / "a.py").chmod(0o600)
    assert refused(folder) == f"a user in the group of nobody cannot reach what the bot needs ({words}){remedy}"
    (folder / "a" / "a.py").chmod(0o644)
    folder.chmod(0o700)
    why = refused(folder)
    assert f"bwrap: Can't find source path {folder}/a: Permission denied" in why


# Runs a command as root of a user namespace with 65,536 users, as most containers are.
IN_CONTAINER = """
import ctypes, os, sys
(ready, is_apart), (mapped, is_mapped) = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    clone_newuser = 0x10000000
    if ctypes.CDLL(None).unshare(clone_newuser) != 0:
        sys.exit(77)
    os.write(is_apart, b"x")
    os.read(mapped, 1)
    os.execvp(sys.argv[1], sys.argv[1:])
os.close(is_apart)
if os.read(ready, 1):
    for kind in ("uid", "gid"):
        with open(f"/proc/{child}/{kind}_map", "w") as file:
            file.write("0 0 65536")
    os.write(is_mapped, b"x")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@needs_sandbox
@pytest.mark.skipif(not IS_ROOT, reason="only root starts bots as another user")
def test_a_container_with_few_users_plays_with_one_and_says_so(folder: Path) -> None:
    bots = [command(folder, "a"), command(folder, "b")]
    words = [sys.executable, "-c", IN_CONTAINER, sys.executable, "-m", "arena", "play", "--sandbox", *bots]
    done = subprocess.run([*words, "--rounds", "2"], capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode == 77:
        pytest.skip("this machine allows no user namespaces")
    assert done.returncode == 0, done.stderr
    assert "bots in sandboxes are of one user, because this container has few of them: " in done.stderr
    assert "All bots that the arena started were in a sandbox." in done.stdout
    assert "fault" not in done.stdout


@needs_sandbox
@pytest.mark.skipif(not IS_ROOT, reason="only root starts bots as another user")
def test_the_author_of_a_bot_does_not_decide_that_it_runs_without_a_sandbox(folder: Path) -> None:
    """By files that only the arena can read."""
    (folder / "a" / "a.py").chmod(0o600)
    assert "a user in the group of nobody cannot reach what the bot needs (" in refused(folder, "--sandbox=try")


@needs_sandbox
@pytest.mark.skipif(not IS_ROOT, reason="only root starts bots as another user")
def test_a_sandbox_may_be_missed_if_the_interpreter_cannot_be_reached(folder: Path) -> None:
    prefix = folder / "private" / "python"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").symlink_to(Path(sys.base_prefix) / "lib")
    (prefix / "bin" / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (prefix / "bin" / "python3").chmod(0o755)
    (folder / "private").chmod(0o700)
    command = f"{prefix}/bin/python3 {folder}/a/a.py a"
    done = arena("check", command, "--rounds", "2", "--sandbox=try")
    assert done.exit_code == 0, done.output
    why = f"bwrap: Can't find source path {prefix}: Permission denied"
    told = f"is started without a sandbox: a user in the group of nobody cannot reach what the bot needs ({why})"
    assert told in done.stderr
    assert was_started(folder)


@needs_sandbox
@pytest.mark.parametrize("level", ["true", "try"])
def test_more_variables_than_bubblewrap_takes_are_refused(folder: Path, level: str) -> None:
    many = " ".join(f"V{number}=x" for number in range(3000))
    bots = [f"name={name} cmd='{command(folder, name)}' env='{many}' sandbox={level}" for name in ("a", "b")]
    done = arena("run", "--bot", bots[0], "--bot", bots[1], "--journal", folder / "cup.jsonl")
    told = "Error: no sandbox for a: it has too many variables or paths for bubblewrap\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", told)
    assert not was_started(folder)


def test_a_current_folder_that_is_gone_is_named(folder: Path) -> None:
    words = [sys.executable, "-m", "arena", "check", command(folder, "a"), "--sandbox"]
    gone = folder / "gone"
    gone.mkdir()
    shell = ["sh", "-c", 'cd "$0" && rmdir "$0" && exec "$@"', str(gone), *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(shell, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert told_by(done, folder) == "the current folder is gone"


@needs_sandbox
@pytest.mark.skipif(not IS_ROOT, reason="only root starts bots as another user")
def test_a_user_who_cannot_be_become_is_named(folder: Path) -> None:
    assert refused(folder, "--sandbox-user", "ghost") == (
        "there is no user 'ghost'; name another one with sandbox-user"
    )
    assert refused(folder, "--sandbox-user", "root") == (
        "sandbox-user = 'root', but expected a user without the rights of root"
    )
    assert refused(folder, PATH=str(_only(folder, "bwrap"))) == (
        "setpriv, which makes root another user, is not installed; it is part of util-linux"
    )


def _only(folder: Path, program: str) -> Path:
    found = shutil.which(program)
    assert found is not None
    (folder / "only").mkdir()
    (folder / "only" / program).symlink_to(found)
    return folder / "only"


@needs_sandbox
def test_an_ordinary_user_cannot_become_another(folder: Path) -> None:
    words = [*ordinary_python(), "-m", "arena", "check", command(folder, "a"), "--sandbox"]
    environment = ordinary_environment()
    done = subprocess.run(
        [*words, "--sandbox-user", "nobody"], env=environment, capture_output=True, text=True, timeout=TIMEOUT
    )
    told = "sandbox-user = 'nobody', but only an arena that is run by root can change the user"
    assert told_by(done, folder) == told
    done = subprocess.run([*words, "--rounds", "2"], env=environment, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    assert not was_started(folder)  # but in its sandbox


@needs_sandbox
@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_starts_bots_in_sandboxes(name: str, folder: Path, bundle: Path) -> None:
    done = called(folder, bundle, name, "true")
    memory = r"Each bot in a sandbox may use \d+M of memory \(--memory sets it\)\.\n"
    assert "sandbox" not in re.sub(memory, "", done.stderr)
    assert not was_started(folder)  # it cannot write there
    if name in ("play", "run", "serve"):
        assert done.exit_code == 0, done.output
        assert "All bots that the arena started were in a sandbox." in done.stdout
    if name == "rerun":
        assert "The fault came again." in done.stdout


def test_a_bot_that_would_see_the_journal_is_refused_before_it_begins(folder: Path) -> None:
    journal = folder / "b" / "cup.jsonl"
    words = ("run", command(folder, "a"), command(folder, "b"), "--journal", journal, "--sandbox")
    done = arena(*words)
    told = f"Error: b would see {journal}; keep it out of the folders that bots see\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", told)
    assert not journal.exists()
    assert not was_started(folder)
