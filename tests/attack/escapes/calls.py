"""System calls by number, for those that Python does not offer."""

from __future__ import annotations

import ctypes
import os
import platform

from arena.devtools.sandbox_attempts import NoEffectError

X86 = "x86_64"
# The name, and the number on x86_64 and on aarch64.
NUMBERS = {
    "add_key": (248, 217),
    "bpf": (321, 280),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close_range": (436, 436),
    "exit": (60, 93),
    "fsopen": (430, 430),
    "getpid": (39, 172),
    "io_setup": (206, 0),
    "io_uring_setup": (425, 425),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "keyctl": (250, 219),
    "landlock_create_ruleset": (444, 444),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "prctl": (157, 167),
    "process_vm_readv": (310, 270),
    "ptrace": (101, 117),
    "seccomp": (317, 277),
    "semctl": (66, 191),
    "semget": (64, 190),
    "setns": (308, 268),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vmsplice": (278, 75),
}
_COLUMNS = {X86: 0, "aarch64": 1}
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_STACK = 1 << 16  # bytes
_stacks: list[ctypes.Array[ctypes.c_char]] = []  # of threads that run


def call(name: str, *arguments: int | bytes) -> int:
    """Make the call. Integers are passed in full length, bytes as a pointer to a copy that the kernel may write to.
    Raises OSError."""
    machine = platform.machine()
    if machine not in _COLUMNS:
        raise NoEffectError(f"the numbers of system calls on {machine} are not known here")
    return call_number(NUMBERS[name][_COLUMNS[machine]], *arguments)


def call_number(number: int, *arguments: int | bytes) -> int:
    """Make a call by its number. Raises OSError."""
    passed = [ctypes.c_long(each) if isinstance(each, int) else ctypes.create_string_buffer(each) for each in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *passed))


def inotify_watch(path: str, mask: int) -> int:
    """Watch a file. Returns the descriptor that tells of it. Raises OSError."""
    return _checked(_libc.inotify_add_watch(_checked(_libc.inotify_init1(0)), path.encode(), mask))


def queue_signal(pid: int, number: int) -> None:
    """Queue a signal, which the kernel keeps until the process takes it. Raises OSError."""
    _checked(_libc.sigqueue(pid, number, None))


def start_idle_thread(flags: int) -> None:
    """Start a thread that only waits, with these flags of clone. Raises OSError."""
    stack = ctypes.create_string_buffer(_STACK)
    _stacks.append(stack)
    top = ctypes.addressof(stack) + _STACK & -16
    _checked(_libc.clone(_libc.pause, ctypes.c_void_p(top), flags, None))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
