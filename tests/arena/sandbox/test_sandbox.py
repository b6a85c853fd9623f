"""A bot in its sandbox: what it gets, how it ends, and that nothing of it is left. Real processes, started by whoever
runs the tests; if that is root, all of them once more by an ordinary user."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from arena.bots.player import LocalPlayer, StartError
from arena.bots.trio_driver import TrioProcesses, driven
from arena.journal.endings import Fault
from arena.journal.lines import JournalLine, RoundLine, VoidLine, read
from arena.plan.bot_spec import AnySpec, BotSpec
from arena.plan.sandbox import Level, Sandbox
from arena.processes.bot_process import BotProcess, running_launcher, spawn
from arena.processes.process_tree import children_of, descendants
from arena.sandbox.bubblewrap import OWN_PROCESSES
from arena.sandbox.sandbox_check import Settled, settled
from arena.sandbox.spawning import OWN_USERS
from tests.attack import sandboxes as attack
from tests.helpers.commands import arena
from tests.helpers.paths import ROOT, STEADY_BOT
from tests.helpers.processes import is_running
from tests.helpers.sandboxes import (
    IS_ROOT,
    PYTHON,
    SANDBOX_MARKS,
    boxed,
    ordinary_environment,
    ordinary_python,
    reachable_folder,
    script,
)

pytestmark = SANDBOX_MARKS
MIB = 2**20
SECONDS = 60


@pytest.fixture
def folder() -> Iterator[Path]:
    with reachable_folder() as found:
        yield found


def python(code: str, **fields: Any) -> BotSpec:
    return boxed(PYTHON, "-c", code, cwd=Path("/"), **fields)


async def all_said(process: BotProcess) -> str:
    said = b""
    with trio.fail_after(SECONDS):
        while part := await process.stream.receive_some(1 << 16):
            said += part
    return said.decode()


async def output_of(spec: BotSpec) -> str:
    """What a program writes that ends by itself."""
    async with spawn(spec) as process:
        said = await all_said(process)
        await process.wait_exit()
        assert process.exit_status == 0, process.stderr_tail
    return said


async def first_line(process: BotProcess) -> str:
    said = b""
    with trio.fail_after(SECONDS):
        while not said.endswith(b"\n"):
            part = await process.stream.receive_some(1 << 16)
            assert part, await process.last_words()
            said += part
    return said.decode().strip()


def below(process: BotProcess) -> list[int]:
    """All processes of a sandbox, from outside."""
    return [each.pid for each in descendants(process.kept.keeper)]


def bots_of(process: BotProcess) -> list[int]:
    """Those of them that are the bot's: the children of the first process in its namespace."""
    (first,) = children_of(process.pid)
    return children_of(first)


async def gone(pids: list[int]) -> None:
    with trio.fail_after(SECONDS):
        while any(map(is_running, pids)):
            await trio.sleep(0.01)


# What it gets


async def test_its_environment_is_small_and_the_same_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_KEY", "hunter2")
    said = await output_of(boxed("env", env=(("DEPTH", "3"), ("HOME", "/elsewhere")), cwd=Path("/usr")))
    assert dict(line.split("=", 1) for line in said.splitlines()) == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/elsewhere",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "DEPTH": "3",
        "PWD": "/usr",  # bubblewrap sets it
    }


async def test_a_variable_for_the_bot_does_not_reach_bubblewrap(folder: Path) -> None:
    """A library that it names would run outside of the sandbox. The bot itself gets it, inside."""
    spec = boxed("cat", env=(("LD_PRELOAD", f"{folder}/no-such-library.so"), ("SECRET", "x")))
    async with spawn(spec) as process:
        await process.stream.send_all(b"hello\n")
        assert await first_line(process) == "hello"  # so all of them run
        (first,) = children_of(process.pid)
        for outside in (process.pid, first):
            assert Path(f"/proc/{outside}/environ").read_bytes() == b""
    assert f"'{folder}/no-such-library.so' from LD_PRELOAD cannot be preloaded" in process.stderr_tail
    assert process.stderr_tail.count("LD_PRELOAD") == 1


async def test_its_folder_is_there_and_is_where_it_starts(folder: Path) -> None:
    code = "import json, os; print(json.dumps([os.getcwd(), os.listdir(), os.listdir('/')]))"
    command = script(folder / "mine", code)
    where, mine, root = json.loads(await output_of(boxed(*command, cwd=folder / "mine")))
    assert (where, mine) == (f"{folder}/mine", ["bot.py"])
    maybe = {"lib32", "lib64", "libx32"}
    assert set(root) - maybe == {"usr", "bin", "sbin", "lib", "etc", "proc", "dev", "tmp", "var"}
    where, others, _ = json.loads(await output_of(boxed(*command, cwd=folder)))
    assert (where, others) == (str(folder), ["mine"])


@pytest.mark.parametrize("by", ["its python", "its first line"])
async def test_a_bot_may_be_run_by_a_venv(by: str, folder: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (module,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    (module / "in_venv.py").write_text("WORD = 'found'")
    python = f"{folder}/venv/bin/python"
    command = script(folder / "mine", f"#!{python}\nimport in_venv; print(in_venv.WORD)")
    (folder / "mine" / "bot.py").chmod(0o755)
    words = (python, command[1]) if by == "its python" else (command[1],)
    shown = () if by == "its python" else (str(folder / "venv"),)
    sandbox = Sandbox(level=Level.FULL, expose=shown)
    assert await output_of(boxed(*words, sandbox=sandbox)) == "found\n"


async def test_its_scratch_has_the_size_that_was_asked_for() -> None:
    code = """
import os, errno
for folder in ("/tmp", "/dev/shm"):
    written = 0
    try:
        with open(folder + "/big", "wb", buffering=0) as file:
            while True:
                written += file.write(bytes(65536))
    except OSError as error:
        assert error.errno == errno.ENOSPC
    print(written)
"""
    spec = python(code, sandbox=Sandbox(level=Level.FULL, scratch=MIB))
    assert [int(line) for line in (await output_of(spec)).split()] == [MIB, MIB]


async def test_limits_of_the_system_are_set_inside() -> None:
    kinds = "(r.RLIMIT_NOFILE, r.RLIMIT_CORE, r.RLIMIT_NPROC, r.RLIMIT_SIGPENDING)"
    code = f"import resource as r; print([r.getrlimit(n) for n in {kinds}], r.getrlimit(r.RLIMIT_CPU)[0])"
    said = await output_of(python(code, cpu_seconds=7))
    assert said == "[(256, 256), (1, 1), (1024, 1024), (256, 256)] 8\n"


async def test_each_bot_of_root_is_a_user_of_its_own_while_it_runs() -> None:
    code = "import time; print(1, flush=True); time.sleep(1000)"
    async with spawn(python(code)) as one, spawn(python(code)) as other:
        users = []
        for process in (one, other):
            await first_line(process)
            (pid,) = bots_of(process)
            users.append(Path(f"/proc/{pid}").stat().st_uid)
        keepers = (one.kept.keeper, other.kept.keeper)
        assert users == ([OWN_USERS.start + keeper for keeper in keepers] if IS_ROOT else [os.geteuid()] * 2)


async def test_a_bot_is_in_one_session_and_one_group_and_can_be_stopped_as_a_whole() -> None:
    code = """
import os, time
for leave in (os.setsid, lambda: os.setpgid(0, 0)):
    if not os.fork():
        try: leave()
        except PermissionError: print("refused", flush=True)
        time.sleep(1000)
time.sleep(1000)
"""
    async with spawn(python(code)) as process:
        said = b""
        with trio.fail_after(SECONDS):
            while said.count(b"\n") < 2:
                said += await process.stream.receive_some()
        assert said == b"refused\n" * 2
        (first,) = children_of(process.pid)
        os.killpg(first, signal.SIGSTOP)
        with trio.fail_after(SECONDS):
            while {Path(f"/proc/{pid}/stat").read_text().split()[2] for pid in below(process)[1:]} != {"T"}:
                await trio.sleep(0.01)
        os.killpg(first, signal.SIGCONT)


async def test_it_has_three_descriptors() -> None:
    assert await output_of(python("import os; print(os.listdir('/proc/self/fd'))")) == "['0', '1', '2', '3']\n"


# How it ends


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(0)", 0),
        ("raise SystemExit(3)", 3),
        ("raise SystemExit(128)", 128),
        ("raise SystemExit(255)", 255),
        ("import os; os.abort()", -signal.SIGABRT),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("raise SystemExit(137)", -signal.SIGKILL),  # bubblewrap does not tell these two apart
        ("import os\nif os.fork(): os._exit(4)\nimport time; time.sleep(1000)", 4),
    ],
)
async def test_its_exit_status_is_passed_on(code: str, status: int) -> None:
    async with spawn(python(code)) as process:
        with trio.fail_after(SECONDS):
            await process.wait_exit()
        assert (process.exit_status, process.never_ran, process.overrun) == (status, False, None)


async def start_failure(spec: BotSpec) -> StartError:
    async with trio.open_nursery() as nursery:
        player = LocalPlayer(spec, TrioProcesses(nursery), lambda _: None)
        with pytest.raises(StartError) as caught:
            await driven(player.arrive())
        nursery.cancel_scope.cancel()
    return caught.value


async def test_its_last_words_are_kept() -> None:
    failure = await start_failure(python("import sys; sys.exit('no book of openings')"))
    assert str(failure).endswith(" before it said hello; exit status 1; on stderr: no book of openings")


async def test_a_program_that_cannot_be_run_inside_is_the_fault_of_the_bot(folder: Path) -> None:
    own = folder / "mine" / "bot"
    own.parent.mkdir()
    own.write_text("#!/no/such/interpreter\n")
    own.chmod(0o755)
    (spec,) = settled([boxed(str(own))]).bots
    assert isinstance(spec, BotSpec)
    told = f"its program cannot be run in the sandbox; bwrap: execvp {own}: No such file or directory"
    assert str(await start_failure(spec)) == told


def replaced_bwrap(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    fake = folder / "fakes" / "bwrap"
    fake.parent.mkdir()
    fake.write_text(text)
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    return fake


GOING_WRONG = """#!/bin/sh
[ -e {folder}/broken ] || exec {bwrap} "$@"
echo 'bwrap: Creating new namespace failed: No space left on device' >&2
exit 1
"""


@pytest.mark.parametrize("way", ["fails", "disappears"])
def test_a_bubblewrap_that_stops_working_makes_rounds_void(
    way: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run does not end with losses of bots that were never started."""
    text = GOING_WRONG.format(folder=folder, bwrap="/usr/bin/bwrap")
    fake = replaced_bwrap(folder, monkeypatch, text)
    journal = folder / "cup.jsonl"

    def then_broken(bots: Sequence[AnySpec], hidden: Sequence[Path] = ()) -> Settled:
        found = settled(bots, hidden)
        if way == "fails":
            (folder / "broken").touch()
        else:
            fake.write_text("#!/no/such/shell\n")
        return found

    for name in ("a", "b"):
        script(folder / name, STEADY_BOT.read_text())
    monkeypatch.setattr("arena.sandbox.sandbox_check.settled", then_broken)
    bots = [f"{name}={PYTHON} {folder}/{name}/bot.py {name}" for name in ("a", "b")]
    done = arena("run", *bots, "--rounds", "2", "--journal", journal, "--sandbox", "--concurrency", "1")
    assert done.exit_code == 1
    lines = [entry.line for entry in read(journal, JournalLine)]
    assert not [line for line in lines if isinstance(line, RoundLine)]
    voids = [line for line in lines if isinstance(line, VoidLine)]
    expected = "No space left on device" if way == "fails" else "No such file or directory"
    assert voids
    assert all("the arena failed: bubblewrap could not " in line.reason for line in voids)
    assert all(expected in line.reason for line in voids)
    assert all(line.excused is None for line in voids)


async def test_sigterm_at_the_end_reaches_the_bot_and_not_bubblewrap() -> None:
    code = """
import signal, sys, time
def last(*_):
    time.sleep(0.1)  # bubblewrap, if it had got the signal as well, would end this
    print("done", file=sys.stderr)
    sys.exit(5)
signal.signal(signal.SIGTERM, last)
print("ready", flush=True)
while True: time.sleep(1000)
"""
    async with spawn(python(code)) as process:
        assert await first_line(process) == "ready"
    assert (process.exit_status, process.stderr_tail) == (5, "done\n")


async def test_a_bot_that_ignores_sigterm_is_killed() -> None:
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(1000)"
    async with spawn(python(code)) as process:
        await first_line(process)
        left = below(process)
        assert len(left) == OWN_PROCESSES + 1
    assert process.exit_status == -signal.SIGKILL
    assert not any(map(is_running, left))


async def test_a_cancelled_bot_is_gone() -> None:
    with trio.CancelScope() as scope:
        async with spawn(python("print(1, flush=True); import time; time.sleep(1000)")) as process:
            await first_line(process)
            left = below(process)
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert not any(map(is_running, left))


async def test_a_daemon_ends_with_the_bot() -> None:
    code = "import os, time\nif os.fork() == 0:\n    if os.fork() == 0:\n        print(1, flush=True)\n    time.sleep(1000)\ntime.sleep(1000)"  # noqa: E501
    async with spawn(python(code)) as process:
        await first_line(process)
        left = below(process)
        assert len(left) == OWN_PROCESSES + 3
    assert not any(map(is_running, left))


@pytest.mark.parametrize("victim", ["keeper", "bubblewrap", "the first process inside", "launcher"])
async def test_nothing_is_left_whatever_is_killed(victim: str) -> None:
    code = "import os, time, signal\nsignal.signal(15, signal.SIG_IGN)\nif os.fork():\n    print(1, flush=True)\nos.fork()\ntime.sleep(1000)"  # noqa: E501
    async with spawn(python(code)) as process:
        await first_line(process)
        left = below(process)
        victims = {
            "keeper": process.kept.keeper,
            "bubblewrap": process.pid,
            "the first process inside": children_of(process.pid)[0],
            "launcher": running_launcher().pid,
        }
        os.kill(victims[victim], signal.SIGKILL)
        await gone(left if victim != "launcher" else [])
    await gone(left)


def test_nothing_is_left_of_an_arena_that_is_killed(folder: Path) -> None:
    command = script(folder / "mine", "import os, time\nos.fork()\nos.fork()\ntime.sleep(1000)")
    words = [sys.executable, "-m", "arena", "play", " ".join(command), "--sandbox", "cat", "--start", "60"]
    environment = os.environ | {"TMPDIR": str(folder)}  # it does not live to remove what it writes
    running = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    limit = time.monotonic() + SECONDS
    marker = str(folder).encode()
    while len(left := [pid for pid in all_pids() if marker in command_line(pid) and pid != running.pid]) < 6:
        assert time.monotonic() < limit, running.poll()
        time.sleep(0.01)
    running.kill()
    running.communicate()
    while any(map(is_running, left)):
        assert time.monotonic() < limit
        time.sleep(0.01)


def all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


# Its limits


async def ended_for(spec: BotSpec) -> tuple[Fault, str]:
    async with spawn(spec) as process:
        with trio.fail_after(SECONDS):
            await process.wait_exit()
        assert process.overrun is not None, (process.exit_status, process.stderr_tail)
        return process.overrun.ending, process.overrun.words


async def test_its_memory_is_limited() -> None:
    code = f"import os, time\nos.fork()\nhoard = b'x' * {80 * MIB}\ntime.sleep(1000)"
    ending, words = await ended_for(python(code, memory=120 * MIB))
    assert ending is Fault.OUT_OF_MEMORY
    assert words.endswith("MiB of memory in all its processes; the limit is 120.0 MiB (option memory)")


async def test_its_processor_time_is_limited() -> None:
    code = "import os\nos.fork()\nwhile True: pass"
    ending, words = await ended_for(python(code, cpu_seconds=1))
    assert ending is Fault.OUT_OF_CPU
    assert words.endswith("seconds of processor time in all its processes; the limit is 1 (option cpu)")


async def test_its_processes_are_counted_without_those_of_the_sandbox() -> None:
    code = """
import os, sys, time
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        time.sleep(1000)
time.sleep(0.7)  # for several measurements of the keeper
print(1, flush=True)
time.sleep(1000)
"""
    async with spawn(boxed(PYTHON, "-c", code, "8", processes=8)) as process:
        await first_line(process)
        assert process.overrun is None
        assert len(below(process)) == 8 + OWN_PROCESSES
    ending, words = await ended_for(boxed(PYTHON, "-c", code, "9", processes=8))
    assert ending is Fault.OUT_OF_PROCESSES
    assert words == "it had 9 or more processes at once; the limit is 8 (option processes)"


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
async def test_its_files_are_counted(place: str) -> None:
    """Empty ones need none of the space that it has, but memory of the kernel."""
    code = f"""
import os, time
os.chdir("{place}")
for number in range(3000):
    os.close(os.open(str(number), os.O_CREAT))
time.sleep(1000)
"""
    ending, words = await ended_for(python(code, sandbox=Sandbox(level=Level.FULL, scratch=MIB)))
    assert ending is Fault.OUT_OF_MEMORY
    assert words.startswith("it had ")
    assert words.endswith(" files in one folder of its sandbox; the limit is 1024 (option scratch)")


async def test_a_few_files_do_no_harm() -> None:
    code = """
import os, time
for number in range(900):
    open(f"/tmp/{number}", "w").close()
time.sleep(0.7)  # for several measurements of the keeper
print(len(os.listdir("/tmp")), flush=True)
"""
    assert await output_of(python(code, sandbox=Sandbox(level=Level.FULL, scratch=MIB))) == "900\n"


# Starting again


def test_a_bot_that_is_restarted_for_each_round_finds_its_scratch_empty(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    text = f"""
import os, sys
if os.listdir("/tmp"):
    sys.exit("I was here before")
open("/tmp/mine", "w").close()
{STEADY_BOT.read_text()}
"""
    bots = [f"{name}={' '.join(script(folder / name, text))} {name}" for name in ("a", "b")]
    journal = folder / "cup.jsonl"
    done = arena("run", *bots, "--rounds", "4", "--restart", "round", "--journal", journal, "--sandbox")
    assert done.exit_code == 0, done.output
    rounds = [entry.line for entry in read(journal, JournalLine) if isinstance(entry.line, RoundLine)]
    assert [line.fault for line in rounds] == [None] * 4


def test_many_starts_and_kills_leave_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make attack` has a thousand of them."""
    monkeypatch.setattr(attack, "STARTS", 50)
    (finding,) = attack.starts(folder)
    assert finding.harm == []
    assert finding.figures.startswith("50 starts in ")


# As an ordinary user


@pytest.mark.skipif(not IS_ROOT, reason="the tests above are already run by an ordinary user")
def test_all_this_holds_for_an_ordinary_user(folder: Path) -> None:
    words = [*ordinary_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__]
    environment = ordinary_environment(TMPDIR="/var/tmp", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
    assert " passed, 1 skipped in " in done.stdout
    assert folder.exists()
