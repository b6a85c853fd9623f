"""A bot that tries everything to get out of its sandbox, in the middle of real rounds, as root and as another user."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from arena.plan.bot_spec import BotSpec
from arena.plan.sandbox import Level, Sandbox
from arena.processes.bot_process import running_launcher, spawn
from arena.processes.process_tree import descendants
from arena.sandbox.sandbox_check import SandboxError, SandboxSupport, settled
from tests.attack.escapes.run import ATTEMPTS
from tests.helpers.escape_rounds import USERS, Played, played_as

pytestmark = pytest.mark.extended

SURVIVED = {attempt.name for attempt in ATTEMPTS.values() if not attempt.fatal}
FATAL = sorted({attempt.name for attempt in ATTEMPTS.values() if attempt.fatal})
PLAYED_TO_THE_END = ("three-adjacent", "five-stones")

# What succeeds for nobody even without a sandbox, and why.
KEPT_BY_THE_ARENA = {
    "read-own-environment": "a bot gets only a few variables, with or without a sandbox",
    "use-inherited-descriptor": "the launcher passes on nothing",
}
NEEDS_ROOT = {
    "write-usr": "/usr belongs to root",
    "write-kernel-settings": "they belong to root",
    "make-device": "needs CAP_MKNOD",
    "open-packet": "needs CAP_NET_RAW",
    "enter-namespace": "needs CAP_SYS_ADMIN",
    "mount": "needs CAP_SYS_ADMIN",
    "mount-by-new-calls": "needs CAP_SYS_ADMIN",
    "copy-mount": "needs CAP_SYS_ADMIN",
    "chroot": "needs CAP_SYS_CHROOT",
    "raise-priority": "needs CAP_SYS_NICE",
    "take-realtime-priority": "needs CAP_SYS_NICE",
    "take-disk-priority": "needs CAP_SYS_NICE",
}
# What settings of the kernel, or how it was built, may refuse to everybody.
DEPENDS_ON_THE_KERNEL = {
    "call-with-x32": "few kernels have x32",
    "call-with-32-bits": "some kernels have no calls of 32 bits, as some architectures",
    "raise-limits": "needs CAP_SYS_RESOURCE, which root may lack in a container",
    "refuse-to-be-ended": "needs CAP_SYS_RESOURCE, which root may lack in a container",
    "use-bpf": "kernel.unprivileged_bpf_disabled",
    "use-landlock": "a kernel may be built without it",
    "unshare-descriptors": "kernels before 5.9 have no close_range",
    "use-perf": "kernel.perf_event_paranoid",
    "read-kernel-log": "kernel.dmesg_restrict",
    "use-io-uring": "kernel.io_uring_disabled",
    "use-userfaultfd": "a kernel may be built without it",
    "hide-memory-in-secret": "a kernel may be built without it",
    "hide-memory-in-posix-queue": "a kernel may be built without it",
    "read-flags": "a file system may have none",
    "type-into-terminal": "dev.tty.legacy_tiocsti",
    "dump-core": "kernel.core_pattern, or a limit of the session",
    "open-vsock": "a kernel may be built without it",
    "open-rare-socket": "a container may refuse them",
    "find-key": "a container may refuse keyrings",
    "leave-key": "a container may refuse keyrings",
    "connect-to-loopback-6": "a machine may have no IPv6",
    "find-route": "a machine may have no network",
    "find-name-server": "a machine may have no network",
    "unshare": "user.max_user_namespaces, or AppArmor",
    "clone-into-namespace": "user.max_user_namespaces, or AppArmor",
    "clone3-into-namespace": "user.max_user_namespaces, or AppArmor",
    "trace": "kernel.yama.ptrace_scope",
    "take-descriptor": "kernel.yama.ptrace_scope",
    "read-memory": "kernel.yama.ptrace_scope",
    "write-memory": "kernel.yama.ptrace_scope",
    "read-memory-by-call": "kernel.yama.ptrace_scope",
}


@pytest.fixture(scope="module", autouse=True)
def _sandbox() -> None:
    """Skips where no sandbox is available at all."""
    if problem := SandboxSupport.this().lacks:
        pytest.skip(problem)
    try:
        settled([BotSpec("true", ("/usr/bin/true",), sandbox=Sandbox(Level.FULL))])
    except SandboxError as error:
        pytest.skip(str(error))


def check_round_went_on(played: Played) -> None:
    assert (played.faults, played.left) == ([], [])
    assert len(played.endings) == 2
    assert set(played.endings) <= set(PLAYED_TO_THE_END)
    assert set(played.results) == SURVIVED


def escaped(played: Played) -> set[str]:
    return {result.attempt for result in played.results.values() if result.escaped}


@pytest.mark.parametrize("user", USERS)
def test_in_a_sandbox_every_attempt_is_refused_and_the_round_goes_on(user: str) -> None:
    played = played_as(user, "true")
    check_round_went_on(played)
    assert escaped(played) == set()


@pytest.mark.parametrize("user", USERS)
def test_without_a_sandbox_the_same_attempts_succeed(user: str) -> None:
    played = played_as(user, "false")
    check_round_went_on(played)
    refused = SURVIVED - escaped(played)
    expected = {*KEPT_BY_THE_ARENA, *DEPENDS_ON_THE_KERNEL, *(NEEDS_ROOT if user != "root" else ())}
    assert refused <= expected


def test_what_may_be_refused_without_a_sandbox_is_named_once_and_exists() -> None:
    lists = (KEPT_BY_THE_ARENA, NEEDS_ROOT, DEPENDS_ON_THE_KERNEL)
    names = [name for each in lists for name in each]
    assert len(names) == len(set(names))
    assert set(names) <= SURVIVED


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("name", FATAL)
def test_a_bot_that_takes_more_than_it_may_loses_and_leaves_nothing(user: str, name: str) -> None:
    played = played_as(user, "true", name)
    assert played.left == []
    assert escaped(played) == set()
    if not played.results:  # the arena ended the bot before it could tell
        assert set(played.endings) <= {"out-of-memory", "out-of-processes"}
        assert played.winners == ["steady", "steady"]


def test_a_bot_that_stops_all_that_it_reaches_only_stops_itself() -> None:
    played = played_as("root" if os.geteuid() == 0 else "nobody", "true", "stop-own-group")
    assert (played.endings, played.winners, played.left) == (["timeout"] * 2, ["steady"] * 2, [])


async def test_a_thousand_starts_and_kills_leave_no_process_mount_or_descriptor() -> None:
    spec = BotSpec("cat", ("/usr/bin/cat",), sandbox=Sandbox(Level.FULL))
    launcher = running_launcher().pid

    async def start_and_kill(times: int) -> None:
        for number in range(times):
            async with spawn(spec) as process:
                if number % 2:  # one that runs, and one that may not even be in its sandbox yet
                    await process.stream.send_all(b"hello")
                    assert await process.stream.receive_some() == b"hello"
                os.kill(process.pid, signal.SIGKILL)
                await process.wait_exit()

    await start_and_kill(1)  # the launcher opens its own descriptors with the first one
    await _only_the_launcher_runs(launcher)
    here, there, mounts = _descriptors("self"), _descriptors(launcher), Path("/proc/self/mounts").read_text()
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(start_and_kill, 250)
    await _only_the_launcher_runs(launcher)
    await _until(lambda: _descriptors(launcher) <= there)
    assert _descriptors(launcher) <= there
    assert (_descriptors("self"), Path("/proc/self/mounts").read_text()) == (here, mounts)


async def _only_the_launcher_runs(launcher: int) -> None:
    await _until(lambda: [each.pid for each in descendants(os.getpid())] == [launcher])
    left = {each.pid: Path(f"/proc/{each.pid}/status").read_text() for each in descendants(os.getpid())}
    assert [*left] == [launcher], left


async def _until(is_over: Callable[[], bool]) -> None:
    """The launcher takes a moment to reap a keeper that has told us of its end; only a failure waits to the end."""
    with trio.move_on_after(60):
        while not is_over():
            await trio.sleep(0.01)


def _descriptors(pid: int | str) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))
