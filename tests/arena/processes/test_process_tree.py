"""What is measured of real processes, also of those whose first thread has exited: the kernel shows nothing of them at
the usual place."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.processes.process_tree import (
    ProcessInfo,
    descendants,
    descriptors_of,
    hidden_among,
    may_run,
    memory_of,
    private_memory_of,
    resident_memory_of,
    sockets_beside,
    watches_of,
)
from tests.helpers.sandboxes import ordinary_environment, ordinary_python, reachable_folder

MIB = 2**20
PAIRS, WATCHES = 20, 300
HOLDING = f"""
import os, select, socket, sys
from tests.attack.escapes.hiding import run_without_first_thread

def hold():
    hoard = b"x" * {50 * MIB}
    pairs = [socket.socketpair() for _ in range({PAIRS})]
    poll = select.epoll()
    for number in range(1000, 1000 + {WATCHES}):
        os.dup2(pairs[0][0].fileno(), number)
        poll.register(number)
        os.close(number)
    print(os.getpid(), flush=True)
    sys.stdin.read()

if sys.argv[1] == "hidden":
    run_without_first_thread(hold)
    os.wait()
else:
    hold()
"""


@pytest.fixture(params=["plain", "hidden"])
def holding(request: pytest.FixtureRequest) -> Iterator[ProcessInfo]:
    """A process that holds memory, sockets and watches."""
    words = [sys.executable, "-c", HOLDING, request.param]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert ("VmRSS" in Path(f"/proc/{pid}/status").read_text()) is (request.param == "plain")
        yield next(each for each in descendants(os.getpid()) if each.pid == pid)


def test_memory_descriptors_and_watches_are_seen(holding: ProcessInfo) -> None:
    assert 50 * MIB < memory_of([holding]) < 100 * MIB  # what it shares counts in part
    assert 50 * MIB < resident_memory_of([holding]) < 100 * MIB  # without looking closely
    assert 50 * MIB < private_memory_of([holding]) < 100 * MIB
    assert 2 * PAIRS < descriptors_of([holding]) < 2 * PAIRS + 10
    assert watches_of([holding], 10**6) == WATCHES
    assert hidden_among([holding]) == 0


def test_counting_watches_stops_when_there_are_enough(holding: ProcessInfo) -> None:
    assert watches_of([holding] * 3, 2 * WATCHES) == 3 * WATCHES
    assert watches_of([holding] * 3, 10) == WATCHES


def test_a_process_that_has_ended_has_nothing() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        ended = next(each for each in descendants(os.getpid()) if each.pid == process.pid)
    assert (memory_of([ended]), descriptors_of([ended]), watches_of([ended], 1), sockets_beside(ended.pid)) == (0,) * 4
    assert (hidden_among([ended]), private_memory_of([ended])) == (0, 0)


READING = f"""
import mmap, sys
with open(sys.argv[1], "rb") as file:
    pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
touched = sum(pages[place] for place in range(0, {50 * MIB}, 4096))
print("read", flush=True)
sys.stdin.read()
"""


def test_private_memory_stays_the_same_when_another_process_of_the_program_ends(tmp_path: Path) -> None:
    """Two processes share the pages of a file, as those of one interpreter do."""
    shared = tmp_path / "program"
    shared.write_bytes(b"x" * (50 * MIB))
    words = [sys.executable, "-c", READING, str(shared)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as staying:
        assert staying.stdout is not None
        assert staying.stdout.readline() == b"read\n"
        measured = [each for each in descendants(os.getpid()) if each.pid == staying.pid]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as leaving:
            assert leaving.stdout is not None
            assert leaving.stdout.readline() == b"read\n"
            share, private = memory_of(measured), private_memory_of(measured)
        assert memory_of(measured) > share + 20 * MIB
        assert 0 < private_memory_of(measured) < private + MIB


def test_connections_that_nobody_accepted_are_among_the_sockets(tmp_path: Path) -> None:
    waiting = 300
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "x"))
        listener.listen(waiting)
        for _ in range(waiting):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(tmp_path / "x"))
        assert sockets_beside(os.getpid()) > waiting


# For root nothing is hidden, so an ordinary user looks: at a program that it may run but not read, and at one that has
# exited but was not waited for.
LOOKING = """
import os, shutil, subprocess, sys, time
from arena.processes.process_tree import descendants, hidden_among

shutil.copy("/usr/bin/sleep", "unread")
os.chmod("unread", 0o111)
hiding = subprocess.Popen(["./unread", "60"])
print(hidden_among(descendants(os.getpid())))
hiding.kill()
os.waitid(os.P_PID, hiding.pid, os.WEXITED | os.WNOWAIT)
print(len(descendants(os.getpid())), hidden_among(descendants(os.getpid())))
"""


def test_a_program_that_nobody_may_read_is_hidden_and_one_that_has_exited_is_not() -> None:
    with reachable_folder() as folder:
        folder.chmod(0o777)
        words = [*ordinary_python(), "-c", LOOKING]
        done = subprocess.run(words, cwd=folder, env=ordinary_environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "1\n1 0\n"), done.stderr


@pytest.mark.parametrize(("threads", "expected"), [(3, False), (40, True)])
def test_many_threads_are_taken_to_run_because_looking_at_them_takes_long(threads: int, expected: bool) -> None:
    code = (
        "import threading, time\n"
        f"for _ in range({threads}): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "print('started', flush=True)\n"
        "input()"
    )
    words = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        while may_run(parent.pid) is not expected:  # what has just printed may still be running
            pass
        parent.stdin.close()
