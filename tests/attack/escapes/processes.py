"""Attempts on other processes, and on what a process may do to the machine."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import pty
import resource
import signal
import struct
import termios
import time

from arena.devtools.sandbox_attempts import EFFECT_SECONDS, MARK, Attempts, NoEffectError, state
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.calls import call, queue_signal

PROCESSES = Attempts()
_PTRACE_SEIZE = 0x4206
_KCMP_FILES = 2
_MANY_SIGNALS = 4096
_IOPRIO_OF_PROCESS, _IOPRIO_REALTIME = 1, 1 << 13


@PROCESSES.add("a bot sees nothing of the arena in /proc: no environment, no command line, no path")
def read_proc(_: AllTargets) -> str:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline", "mountinfo", "cgroup"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    if MARK in file.read():
                        return f"/proc/{pid}/{name} tells of the host"
            except OSError:
                pass  # the next one may be readable
    raise NoEffectError("nothing of the host is there")


@PROCESSES.add("a bot's own environment has nothing of the arena's")
def read_own_environment(_: AllTargets) -> str:
    for name, value in os.environb.items():
        if MARK in value:
            return f"it has the arena's {name.decode()}"
    raise NoEffectError("nothing of the host is there")


@PROCESSES.add("a bot reads no memory of the process that holds its sandbox")
def read_memory(targets: AllTargets) -> str:
    address = _mapped(targets.first_process)
    memory = os.open(f"/proc/{targets.first_process}/mem", os.O_RDONLY)
    os.pread(memory, 8, address)
    return "it read the memory of another process"


@PROCESSES.add("a bot writes nothing into the memory of that process")
def write_memory(targets: AllTargets) -> str:
    """What is there already, so that the other process does not notice."""
    address = _mapped(targets.first_process)
    memory = os.open(f"/proc/{targets.first_process}/task/{targets.first_process}/mem", os.O_RDWR)
    os.pwrite(memory, os.pread(memory, 8, address), address)
    return "it wrote into another process"


def _mapped(pid: int) -> int:
    """An address of memory that the process may write."""
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as file:
        return next(int(line.partition("-")[0], 16) for line in file if " rw" in line)


@PROCESSES.add("a bot reads no memory of that process by a system call either")
def read_memory_by_call(targets: AllTargets) -> str:
    """From an address that no process has: the kernel looks at the right to read first."""
    local, remote = bytearray(8), struct.pack("QQ", 8, 8)
    here = struct.pack("QQ", ctypes.addressof(ctypes.c_char.from_buffer(local)), 8)
    try:
        call("process_vm_readv", targets.first_process, here, 1, remote, 1, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:
            raise
    return "it may read the memory of another process"


@PROCESSES.add("a bot does not take over that process with ptrace")
def trace(targets: AllTargets) -> str:
    call("ptrace", _PTRACE_SEIZE, targets.first_process, 0, 0)
    return "it traces another process"


@PROCESSES.add("a bot takes no descriptor of another process")
def take_descriptor(targets: AllTargets) -> str:
    call("pidfd_getfd", os.pidfd_open(targets.first_process), 0, 0)
    return "it has a descriptor of another process"


@PROCESSES.add("a bot does not compare itself with other processes, which tells where their memory lies")
def compare(targets: AllTargets) -> str:
    call("kcmp", os.getpid(), targets.first_process, _KCMP_FILES, 0, 0)
    return "it compared itself with another process"


@PROCESSES.add("a bot cannot stop the process that holds its sandbox")
def stop_first_process(targets: AllTargets) -> str:
    os.kill(targets.first_process, signal.SIGSTOP)
    time.sleep(EFFECT_SECONDS)
    if _is_stopped(targets.first_process):
        os.kill(targets.first_process, signal.SIGCONT)
        return "it stopped another process"
    raise NoEffectError("the signal had no effect")


def _is_stopped(pid: int) -> bool:
    """Whether a process is stopped. One that hides its state has to reap the orphans of the sandbox."""
    try:
        return state(pid) == "T"
    except OSError:
        orphan = _orphan()
        time.sleep(EFFECT_SECONDS)
        return _exists(orphan)


def _orphan() -> int:
    """The number of a process that has ended, and whose parent ended before it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if (grandchild := os.fork()) != 0:
            os.write(writer, str(grandchild).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return int(os.read(reader, 100))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@PROCESSES.add("all processes of a bot are in one group, which can be stopped as a whole")
def leave_group(_: AllTargets) -> str:
    os.setpgid(0, 0)
    return "it has another group"


@PROCESSES.add("a bot types nothing into a terminal")
def type_into_terminal(_: AllTargets) -> str:
    """Into one of its own, because the arena may have none; the call is the same for each."""
    terminal = pty.openpty()[1]
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    fcntl.ioctl(terminal, termios.TIOCSTI, b"x")
    return "it typed"


@PROCESSES.add("a bot does not choose what reads a terminal in the kernel")
def change_line_discipline(_: AllTargets) -> str:
    """To the ordinary one, which it has already."""
    fcntl.ioctl(pty.openpty()[1], termios.TIOCSETD, struct.pack("i", 0))
    return "it chose"


@PROCESSES.add("a bot does not raise its priority")
def raise_priority(_: AllTargets) -> str:
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1)
    return "it has a higher priority"


@PROCESSES.add("a bot does not take real-time priority")
def take_realtime_priority(_: AllTargets) -> str:
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    return "it has real-time priority"


@PROCESSES.add("a bot does not take real-time priority for disks")
def take_disk_priority(_: AllTargets) -> str:
    call("ioprio_set", _IOPRIO_OF_PROCESS, 0, _IOPRIO_REALTIME)
    return "it has real-time priority for disks"


@PROCESSES.add("a bot does not raise its limits")
def raise_limits(_: AllTargets) -> str:
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    if hard == resource.RLIM_INFINITY:
        return "it has no limit of processes"
    try:
        resource.setrlimit(resource.RLIMIT_NPROC, (hard + 1, hard + 1))
    except ValueError as error:  # Python's name for the refusal
        raise NoEffectError(str(error)) from None
    return "it may have more processes"


@PROCESSES.add("a bot does not use up the signals that all programs of its user may have waiting")
def fill_signal_queue(_: AllTargets) -> str:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    for __ in range(_MANY_SIGNALS):
        queue_signal(os.getpid(), signal.SIGRTMIN)
    return f"{_MANY_SIGNALS} signals wait"


@PROCESSES.add("a bot does not protect itself when memory runs out")
def refuse_to_be_ended(_: AllTargets) -> str:
    # A bot starts with 1000, and where root does not run the arena it may go back to the value of that, usually 0.
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("-1")
    return "the arena is ended before it"
