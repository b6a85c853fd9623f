"""No process of a bot gets away, and its limits hold for all of them together: real processes that try."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from arena.cli.progress import Quiet
from arena.devtools.starters import STARTERS
from arena.journal.endings import Fault
from arena.journal.lines import JournalLine, RoundLine, VoidLine, read
from arena.plan.bot_spec import BotSpec
from arena.plan.config import from_command_line
from arena.plan.options import MOST_PROCESSES
from arena.processes import launch
from arena.processes.bot_process import BotProcess, fork, running_launcher, spawn, started
from arena.processes.launch import KeptProcess
from arena.processes.process_state import SpawnError
from arena.processes.process_tree import children_by_parent, children_of, descendants, memory_of, resident_memory_of
from arena.tournament.run import run_tournament
from tests.helpers.drivers import RunLogic, both_drivers
from tests.helpers.jobs import KeepingOwner, job_of, play_job
from tests.helpers.paths import ROOT
from tests.helpers.processes import bad_command, is_running
from tests.helpers.tournaments import configured, played, steady

MIB = 2**20
DAEMON = """
import os, sys, time
def escape():
    '''A grandchild without parent, group, session, descriptors or environment that would join it to us.'''
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            os.write(writer, str(os.getpid()).encode() + b'\\n')
            os.closerange(0, 100)
            os.execve('/bin/sleep', ['sleep', '1000'], {})
        os._exit(0)
    os.wait()
    return os.read(reader, 20)
"""


def python(
    code: str, memory: int | None = None, cpu_seconds: int | None = None, processes: int = MOST_PROCESSES
) -> BotSpec:
    command = (sys.executable, "-c", code)
    return BotSpec("test", command, memory=memory, cpu_seconds=cpu_seconds, processes=processes)


async def said_numbers(process: BotProcess) -> list[int]:
    said = b""
    while not said.endswith(b"\n"):
        said += await process.stream.receive_some()
    return [int(word) for word in said.split()]


async def over(process: BotProcess) -> launch.Overrun:
    """Why it was ended."""
    with trio.fail_after(300):
        await process.wait_exit()
    assert process.overrun is not None
    return process.overrun


def exists(pid: int) -> bool:
    """Also a process that has ended, but was not reaped."""
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("then", ["time.sleep(1000)", "os._exit(0)"])
async def test_a_daemon_ends_with_its_bot_and_is_reaped(then: str) -> None:
    async with spawn(python(f"{DAEMON}\nos.write(1, escape())\n{then}")) as process:
        (daemon,) = await said_numbers(process)
        assert is_running(daemon)
    assert not exists(daemon)
    assert not exists(process.pid)


async def test_a_process_that_flees_from_number_to_number_is_caught() -> None:
    code = """
import os, time
until = time.monotonic() + 60
print(1, flush=True)
os.close(1)
while time.monotonic() < until:
    if os.fork():
        os._exit(0)
    os.setsid()
"""
    async with spawn(python(code)) as process:
        await said_numbers(process)
        assert descendants(running_launcher().pid)
    with trio.fail_after(300):
        while descendants(running_launcher().pid):
            await trio.sleep(0.01)


async def test_a_bot_gets_its_three_streams_and_nothing_else() -> None:
    async with spawn(BotSpec("x", ("/bin/sh", "-c", "echo /proc/self/fd/*"))) as process:
        await process.wait_exit()
        said = await process.stream.receive_some(1000)
    assert said == b"/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"  # the last is the folder itself


async def test_signals_are_as_a_program_expects_them() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may have been started by nohup
    async with spawn(BotSpec("x", ("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"))) as process:
        await process.wait_exit()
        said = await process.stream.receive_some(1000)
    ordinary = [int(line.split()[1], 16) & 0x7FFF_FFFF for line in said.splitlines()]  # others are the C library's
    assert ordinary == [0, 0]


async def test_the_processor_time_of_a_child_that_was_forked_at_once_counts() -> None:
    code = f"{DAEMON}\nif os.fork() == 0:\n    os.setsid()\n    while True: pass\ntime.sleep(1000)"
    async with spawn(python(code, cpu_seconds=1)) as process:
        overrun = await over(process)
    assert overrun.ending is Fault.OUT_OF_CPU
    assert overrun.words.endswith("seconds of processor time in all its processes; the limit is 1 (option cpu)")


@pytest.mark.parametrize("reaping", ["os.wait()", "signal.signal(signal.SIGCHLD, signal.SIG_IGN); time.sleep(0.7)"])
async def test_the_processor_time_of_children_that_have_ended_counts(reaping: str) -> None:
    """One after the other, none of which uses a second."""
    code = f"""
import os, signal, time
while True:
    if os.fork() == 0:
        until = time.process_time() + 0.6
        while time.process_time() < until: pass
        os._exit(0)
    {reaping}
"""
    async with spawn(python(code, cpu_seconds=1)) as process:
        assert (await over(process)).ending is Fault.OUT_OF_CPU


async def test_the_limit_for_the_processor_holds_before_the_program_runs() -> None:
    async with spawn(attrs.evolve(BotSpec("x", ("/bin/sh", "-c", "ulimit -t")), cpu_seconds=7)) as process:
        await process.wait_exit()
        assert await process.stream.receive_some(10) == b"8\n"  # a second later than for all of them together


async def test_the_memory_of_all_processes_counts() -> None:
    code = f"{DAEMON}\nfor _ in range(3):\n    if os.fork() == 0:\n        hoard = b'x' * {60 * MIB}\n        break"
    async with spawn(python(f"{code}\ntime.sleep(1000)", memory=150 * MIB)) as process:
        overrun = await over(process)
    assert overrun.ending is Fault.OUT_OF_MEMORY
    assert overrun.words.endswith(" MiB of memory in all its processes; the limit is 150.0 MiB (option memory)")


async def test_memory_that_is_reserved_but_not_used_does_not_count() -> None:
    code = f"import mmap, sys; m = mmap.mmap(-1, {8192 * MIB}); m[0] = 1; print(1, flush=True); sys.stdin.read()"
    async with spawn(python(code, memory=150 * MIB)) as process:
        await said_numbers(process)
        assert memory_of(descendants(process.kept.keeper)) < 100 * MIB
    assert (process.exit_status, process.overrun) == (0, None)


async def test_memory_that_processes_share_counts_once() -> None:
    code = (
        f"import os, time\nhoard = bytearray({100 * MIB})\n"
        "for _ in range(4):\n    if os.fork() == 0:\n        print(1, flush=True)\n        time.sleep(1000)\n"
        "print(2, flush=True)\ntime.sleep(1000)"
    )
    async with spawn(python(code)) as process:
        said = b""
        while said.count(b"\n") < 5:
            said += await process.stream.receive_some(100)
        processes = descendants(process.kept.keeper)
        assert len(processes) == 5
        assert 100 * MIB < memory_of(processes) < 200 * MIB
        assert resident_memory_of(processes) > 500 * MIB  # without looking closely
    assert memory_of(processes) == 0


async def test_the_memory_of_one_bot_is_not_charged_to_another() -> None:
    greedy = python(f"{DAEMON}\nif not os.fork():\n    os.setsid()\nhoard = b'x' * {200 * MIB}\ntime.sleep(1000)")
    modest = python("import sys; sys.stdin.read()", memory=100 * MIB)
    async with spawn(modest) as innocent, spawn(attrs.evolve(greedy, memory=150 * MIB)) as guilty:
        await over(guilty)
    assert (innocent.exit_status, innocent.overrun) == (0, None)


@pytest.mark.parametrize(("processes", "threads", "words"), [
    (20, 1, " or more processes at once; the limit is 20 (option processes)"),
    (64, 1500, " threads at once; the limit is 1000"),
])  # fmt: skip
async def test_too_many_processes_or_threads_are_ended(processes: int, threads: int, words: str) -> None:
    """The bomb stops by itself at 256 processes, in case nobody else stops it."""
    code = f"""
import os, threading, time
threading.stack_size(65536)
if {threads} > 1:
    for _ in range({threads}): threading.Thread(target=time.sleep, args=[1000]).start()
else:
    for _ in range(8):
        if os.fork() == 0: os.setsid()
time.sleep(1000)
"""
    async with spawn(python(code, processes=processes)) as process:
        overrun = await over(process)
        keeper = process.kept.keeper
        with trio.fail_after(300):
            while descendants(keeper):
                await trio.sleep(0.01)
    assert overrun.ending is Fault.OUT_OF_PROCESSES
    assert overrun.words.endswith(words)


async def test_children_are_found_also_by_a_kernel_without_lists_of_them() -> None:
    async with spawn(python(f"{DAEMON}\nos.write(1, escape())\ntime.sleep(1000)")) as process:
        (daemon,) = await said_numbers(process)
        keeper = process.kept.keeper
        assert sorted(children_by_parent()(keeper)) == sorted(children_of(keeper)) == sorted([process.pid, daemon])


async def test_a_bot_that_kills_its_keeper_is_ended_and_so_are_its_children() -> None:
    code = f"{DAEMON}\nos.write(1, escape())\nsys.stdin.readline()\nos.kill(os.getppid(), 9)\ntime.sleep(1000)"
    async with spawn(python(code)) as process:
        (daemon,) = await said_numbers(process)
        await process.stream.send_all(b"\n")
        with trio.fail_after(300):
            await process.wait_exit()
        assert process.exit_status == -signal.SIGKILL
    with trio.fail_after(300):
        while exists(daemon) or exists(process.pid):  # the launcher does it
            await trio.sleep(0.01)


class Excuses(KeepingOwner):
    """Excuses a bot once."""

    def may_excuse(self, name: str) -> bool:
        return not any(void.excused is not None and void.bots[void.excused] == name for void in self.voids)


KILLER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"hello","protocol":1,"name":"killer"}', flush=True)
    elif message["type"] == "request":
        os.write(1, b'{"type":"ac' if sys.argv[1] == "torn" else b"")
        os.kill(os.getppid(), 9)
"""


@pytest.mark.parametrize("way", ["silent", "torn"])
@both_drivers
def test_a_round_whose_keeper_was_killed_is_void_but_not_again_and_again(
    run: RunLogic[None], way: str, tmp_path: Path
) -> None:
    (tmp_path / "killer.py").write_text(KILLER)
    config = configured(f"killer={sys.executable} {tmp_path / 'killer.py'} {way}", steady("b"), rounds="1")
    owner = play_job(run, job_of(config), Excuses(), config)
    (void,) = owner.voids
    assert (void.excused, void.killed, void.is_loss) == (0, True, True)
    assert void.reason == "killer was ended: its keeper, a process of the arena, was killed"
    (line,) = owner.rounds
    assert line.fault is not None
    assert line.fault.seat == 0


def test_with_no_voids_allowed_a_bot_whose_keeper_was_killed_loses_at_once(tmp_path: Path) -> None:
    (tmp_path / "killer.py").write_text(KILLER)
    journal, killer = tmp_path / "cup.jsonl", f"killer={sys.executable} {tmp_path / 'killer.py'} silent"
    played(configured(killer, steady("b"), journal=journal, rounds="2", max_voids="0"))
    lines = [entry.line for entry in read(journal, JournalLine)]
    assert not [line for line in lines if isinstance(line, VoidLine)]
    assert [line.result.ending for line in lines if isinstance(line, RoundLine)] == ["crashed"] * 2


async def test_bots_and_their_children_are_killed_before_the_arena_if_memory_is_short() -> None:
    code = "import os\nos.fork()\nprint(open('/proc/self/oom_score_adj').read(), flush=True)\nos.fork() or input()"
    async with spawn(python(code)) as process:
        said = b""
        while said.count(b"1000") < 2:
            said += await process.stream.receive_some(100)
        own, keeper = (Path(f"/proc/{pid}/oom_score_adj").read_text() for pid in ("self", process.kept.keeper))
        assert keeper == own != "1000\n"


async def test_a_keeper_that_was_stopped_does_not_stop_the_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "END_SECONDS", 0.1)
    async with spawn(python("import time; time.sleep(1000)")) as process:
        os.kill(process.kept.keeper, signal.SIGSTOP)
    with trio.fail_after(300):
        while exists(process.pid):
            await trio.sleep(0.01)


async def test_a_launcher_that_was_killed_is_replaced() -> None:
    async with spawn(python("import sys; sys.stdin.read()")) as process:
        os.kill(running_launcher().pid, signal.SIGKILL)
        os.waitid(os.P_PID, running_launcher().pid, os.WEXITED | os.WNOWAIT)
        async with spawn(BotSpec("x", ("/bin/echo", "7"))) as another:
            assert await said_numbers(another) == [7]
    assert process.exit_status == 0


async def test_a_shortage_of_the_arena_is_not_the_bots_fault() -> None:
    """An error that says so, and no SpawnError, which would be the bot's."""
    async with spawn(BotSpec("x", ("/bin/true",))):
        os.kill(running_launcher().pid, signal.SIGSTOP)
        while " T " not in Path(f"/proc/{running_launcher().pid}/stat").read_text():
            await trio.sleep(0.001)
        kept = fork((0, 1, 2))
        os.kill(running_launcher().pid, signal.SIGKILL)
        with pytest.raises(OSError, match="the keeper of a bot was killed before it started the bot"):
            await started(kept, b"")
        kept.close()


@pytest.mark.parametrize(("number", "error"), [(errno.EAGAIN, OSError), (errno.ENOEXEC, launch.StartRefusedError)])
async def test_who_is_to_blame_depends_on_what_the_system_refuses(number: int, error: type[Exception]) -> None:
    ours, keepers = socket.socketpair()
    ours.setblocking(False)
    with keepers:
        keepers.sendall(b'{"refused":%d}\n' % number)
        kept = KeptProcess(ours, trio.Event(), trio.Event())
        with pytest.raises(error, match=os.strerror(number)):
            await started(kept, b"")
        kept.close()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (("no-such-bot",), "cannot start 'no-such-bot' in /: No such file or directory"),
        (("/etc",), "cannot start '/etc' in /: Permission denied (it is a folder: name the program in it)"),
        (
            ("/etc/passwd",),
            "cannot start '/etc/passwd' in /: Permission denied "
            "(put its interpreter first, such as python3 /etc/passwd, or make it executable)",
        ),
        (("true\0",), "cannot start 'true\\x00' in /: embedded null byte"),
    ],
)
async def test_what_cannot_be_started_is_said_so(command: tuple[str, ...], reason: str) -> None:
    with pytest.raises(SpawnError) as caught:
        async with spawn(BotSpec("x", command, cwd=Path("/"))):
            pytest.fail("started")
    assert str(caught.value) == reason


def test_nothing_of_a_bot_lives_longer_than_an_arena_that_is_killed(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        f"{DAEMON}\nimport signal\nfor number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\n"
        "daemon = escape()\nopen('pids', 'wb').write(b'%d ' % os.getpid() + daemon)\n"
        "os.rename('pids', 'written')\ntime.sleep(1000)"
    )
    words = [sys.executable, "-m", "arena", "play", f"{sys.executable} bot.py", "random", "--start", "60"]
    arena = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.monotonic() + 300
    while not (tmp_path / "written").exists():
        assert time.monotonic() < limit
        time.sleep(0.01)
    pids = [int(word) for word in (tmp_path / "written").read_text().split()]
    assert all(map(is_running, pids))
    arena.kill()
    arena.wait()
    while any(map(is_running, pids)):
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_the_launcher_ends_what_a_keeper_left_that_was_killed_just_before_the_arena() -> None:
    """Here it learns of both ends at once."""
    code = """
import os, signal, trio
from arena.plan.bot_spec import BotSpec
from arena.processes.bot_process import running_launcher, spawn

async def main():
    async with spawn(BotSpec("x", ("/bin/sleep", "1000"))) as process:
        launcher = running_launcher().pid
        os.kill(launcher, signal.SIGSTOP)
        os.waitid(os.P_PID, launcher, os.WSTOPPED)
        os.kill(process.kept.keeper, signal.SIGKILL)
        await process.wait_exit()
        print(launcher, process.pid, flush=True)
        os._exit(0)

trio.run(main)
"""
    arena = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    launcher, bot = map(int, arena.stdout.split())
    assert is_running(bot)
    os.kill(launcher, signal.SIGCONT)
    limit = time.monotonic() + 300
    while is_running(bot) or is_running(launcher):
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_the_launcher_ends_what_a_keeper_left_that_exited_as_if_nothing_were_wrong() -> None:
    code = """
import os
from arena.processes import launcher

def keep(control, streams):
    control.sendall(b"%d" % os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "1000"))

launcher.keep = keep
launcher.main()
"""
    ours, launchers = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control, keepers = socket.socketpair()
    with launchers:
        launcher = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=launchers.fileno())
    with control, keepers:
        socket.send_fds(ours, [b"keeper"], [keepers.fileno(), 0, 1, 2])
        left = int(control.recv(100))
    limit = time.monotonic() + 300
    while exists(left):
        assert time.monotonic() < limit
        time.sleep(0.01)
    ours.close()
    assert launcher.wait() == 0


@pytest.mark.extended
@pytest.mark.parametrize("language", ["java", "javascript"])
def test_java_and_node_play_with_little_memory(tmp_path: Path, language: str) -> None:
    """They reserve much more than they use."""
    starter = STARTERS[language]
    if not shutil.which(starter.needs):
        pytest.skip(f"there is no {starter.needs} on this machine")
    (tmp_path / starter.file).write_text(starter.text())
    if starter.build:
        subprocess.run(starter.build.split(), cwd=tmp_path, check=True)
    options = {"rounds": "2", "memory": "512M", "start": "60", "journal": str(tmp_path / "cup.jsonl")}
    config = from_command_line([], [f"cmd='{starter.run}' name=big dir={tmp_path}", "cmd=random"], options)
    run_tournament(config, Quiet())
    rounds = [each.line for each in read(tmp_path / "cup.jsonl", JournalLine) if isinstance(each.line, RoundLine)]
    assert [line.fault for line in rounds] == [None, None]


def test_the_limits_are_options_of_the_checker(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "arena", "check", bad_command("eat-memory"), "--memory", "200M"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "the bot was ended: it used " in done.stdout
    assert "the limit is 200.0 MiB (option memory)" in done.stdout


@both_drivers
def test_a_keeper_that_fails_makes_the_round_void_and_charges_nobody(
    run: RunLogic[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = KeptProcess.hear
    told = 0

    def hear(kept: KeptProcess[Any], news: dict[str, Any]) -> None:
        nonlocal told
        heard(kept, news)
        if "started" in news and not told:
            told += 1
            heard(kept, {"bug": "our own bug"})

    monkeypatch.setattr(KeptProcess, "hear", hear)
    config = configured(steady("a"), steady("b"))
    owner = play_job(run, job_of(config), KeepingOwner(), config)
    assert [line.fault for line in owner.rounds] == [None, None]
    (void,) = owner.voids
    assert "our own bug" in void.reason
    assert void.excused is None
