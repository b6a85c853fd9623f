"""Attempts to use parts of the kernel that a bot does not need, and in which it could hide or break out."""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import signal
import struct

from arena.devtools.sandbox_attempts import Attempts, NoEffectError
from tests.attack.escapes.all_targets import AllTargets
from tests.attack.escapes.calls import X86, call, call_number

KERNEL = Attempts()
_CLONE_NEWUSER, _CLONE_NEWNS = 0x10000000, 0x20000
_USER_KEYRING = -4
_KEYCTL_SEARCH, _KEYCTL_UNLINK = 10, 9
_AT_FDCWD, _OPEN_TREE_CLONE = -100, 1
_IPC_RMID, _IPC_CREAT = 0, 0o1000
_SYSLOG_READ_ALL = 3
_X32 = 0x40000000
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 22, 38
_SECCOMP_SET_FILTER, _SECCOMP_MODE_FILTER = 1, 2
_ALLOW_ALL = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)  # one instruction: return SECCOMP_RET_ALLOW
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_PERF_SOFTWARE, _PERF_EXCLUDE_KERNEL_AND_HYPERVISOR = 1, 0b1100000
# mov eax, 20 (getpid for 32 bits); int 0x80; ret
_CALL_OF_32_BITS = b"\xb8\x14\x00\x00\x00\xcd\x80\xc3"


@KERNEL.add("a bot does not find keys that were left in the user's keyring")
def find_key(targets: AllTargets) -> str:
    call("keyctl", _KEYCTL_SEARCH, _USER_KEYRING, b"user", targets.key.encode(), 0)
    return "it found a key"


@KERNEL.add("a bot leaves no keys for its next run")
def leave_key(_: AllTargets) -> str:
    key = call("add_key", b"user", b"arena-escape", b"x", 1, _USER_KEYRING)
    call("keyctl", _KEYCTL_UNLINK, key, _USER_KEYRING)
    return "it left a key"


@KERNEL.add("a bot makes no namespaces of its own")
def unshare(_: AllTargets) -> str:
    call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS)
    return "it is in a new namespace"


@KERNEL.add("a bot makes no namespaces by clone")
def clone_into_namespace(_: AllTargets) -> str:
    return _cloned(call("clone", _CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0))


@KERNEL.add("a bot makes no namespaces by clone3")
def clone3_into_namespace(_: AllTargets) -> str:
    arguments = struct.pack("8Q", _CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    return _cloned(call("clone3", arguments, len(arguments)))


def _cloned(child: int) -> str:
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "its child is in a new namespace"


@KERNEL.add("a bot enters no other namespace")
def enter_namespace(_: AllTargets) -> str:
    call("setns", os.open("/proc/self/ns/net", os.O_RDONLY), 0)
    return "it entered a namespace"


@KERNEL.add("a bot mounts nothing")
def mount(targets: AllTargets) -> str:
    place = os.path.join(targets.scratch, f".arena-escape-{os.getpid()}").encode()
    os.mkdir(place)
    try:
        call("mount", b"none", place, b"tmpfs", 0, 0)
        call("umount2", place, 0)
    finally:
        os.rmdir(place)
    return "it mounted a file system"


@KERNEL.add("a bot makes no file system to mount by the newer calls")
def mount_by_new_calls(_: AllTargets) -> str:
    call("fsopen", b"tmpfs", 0)
    return "it has a new file system"


@KERNEL.add("a bot copies no mount")
def copy_mount(_: AllTargets) -> str:
    call("open_tree", _AT_FDCWD, b"/", _OPEN_TREE_CLONE)
    return "it has a copy of the root"


@KERNEL.add("a bot does not change its root")
def chroot(targets: AllTargets) -> str:
    os.chroot(targets.scratch)
    return "it has another root"


@KERNEL.add("a bot does not use io_uring, which passes by the filter of calls")
def use_io_uring(_: AllTargets) -> str:
    call("io_uring_setup", 2, bytes(120))
    return "it has a ring"


@KERNEL.add("a bot does not use up the asynchronous I/O of the machine")
def use_old_aio(_: AllTargets) -> str:
    call("io_setup", 1, bytes(8))
    return "it has a context"


@KERNEL.add("a bot does not flush the disks of the machine, for which others would have to wait")
def flush_disks(_: AllTargets) -> str:
    call("sync")
    return "it flushed them"


@KERNEL.add("a bot does not flush the disk that its own folder is on")
def flush_own_disk(targets: AllTargets) -> str:
    call("syncfs", os.open(targets.own, os.O_RDONLY))
    return "it flushed it"


@KERNEL.add("a bot does not use userfaultfd")
def use_userfaultfd(_: AllTargets) -> str:
    only_own_faults = 1
    call("userfaultfd", only_own_faults)
    return "it has such a descriptor"


@KERNEL.add("a bot does not use bpf")
def use_bpf(_: AllTargets) -> str:
    array, bytes_of_key, bytes_of_value, entries = 2, 4, 8, 1
    attributes = struct.pack("4I", array, bytes_of_key, bytes_of_value, entries) + bytes(112)
    call("bpf", 0, attributes, len(attributes))
    return "it has a map in the kernel"


@KERNEL.add("a bot does not count events of the processor")
def use_perf(_: AllTargets) -> str:
    size = 112
    attributes = struct.pack("2I5Q", _PERF_SOFTWARE, size, 0, 0, 0, 0, _PERF_EXCLUDE_KERNEL_AND_HYPERVISOR)
    call("perf_event_open", attributes.ljust(size, b"\0"), 0, -1, -1, 0)
    return "it counts events"


@KERNEL.add("a bot keeps no rules of landlock in the kernel")
def use_landlock(_: AllTargets) -> str:
    handled = struct.pack("Q", 1)
    call("landlock_create_ruleset", handled, len(handled), 0)
    return "it has a set of rules"


@KERNEL.add("a bot keeps no filters of its own in the kernel")
def use_seccomp(_: AllTargets) -> str:
    code = ctypes.create_string_buffer(_ALLOW_ALL)
    call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    call("seccomp", _SECCOMP_SET_FILTER, 0, struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
    return "it has a filter"


@KERNEL.add("a bot keeps no filters of its own in the kernel by the older call")
def use_seccomp_by_prctl(_: AllTargets) -> str:
    code = ctypes.create_string_buffer(_ALLOW_ALL)
    call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
    call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0)
    return "it has a filter"


@KERNEL.add("a bot does not read the log of the kernel")
def read_kernel_log(_: AllTargets) -> str:
    call("syslog", _SYSLOG_READ_ALL, bytes(4096), 4096)
    return "it read the log"


@KERNEL.add("a bot makes no calls of 32 bits, which have other numbers")
def call_with_32_bits(_: AllTargets) -> str:
    if platform.machine() != X86:
        raise NoEffectError("there is no such way on this machine")
    code = mmap.mmap(-1, mmap.PAGESIZE, _PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(_CALL_OF_32_BITS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid():
        return "it made such a call"
    raise NoEffectError("the call failed")


@KERNEL.add("a bot makes no calls of x32, which have other numbers")
def call_with_x32(_: AllTargets) -> str:
    if platform.machine() != X86:
        raise NoEffectError("there is no such way on this machine")
    call_number(_X32 + 39)
    return "it made such a call"


@KERNEL.add("a bot hides no memory in files without a name")
def hide_memory_in_memfd(_: AllTargets) -> str:
    call("memfd_create", b"x", 0)
    return "it has such a file"


@KERNEL.add("a bot hides no memory from the kernel itself")
def hide_memory_in_secret(_: AllTargets) -> str:
    call("memfd_secret", 0)
    return "it has secret memory"


@KERNEL.add("a bot hides no memory in segments of System V")
def hide_memory_in_segment(_: AllTargets) -> str:
    call("shmctl", call("shmget", 0, mmap.PAGESIZE, _IPC_CREAT | 0o600), _IPC_RMID, 0)
    return "it has a segment"


@KERNEL.add("a bot hides no memory in queues of System V")
def hide_memory_in_queue(_: AllTargets) -> str:
    call("msgctl", call("msgget", 0, _IPC_CREAT | 0o600), _IPC_RMID, 0)
    return "it has a queue"


@KERNEL.add("a bot hides no memory in queues of POSIX, of which all programs of its user share one number of bytes")
def hide_memory_in_posix_queue(_: AllTargets) -> str:
    name = f"arena-escape-{os.getpid()}".encode()
    call("mq_open", name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600, 0)
    call("mq_unlink", name)
    return "it has a queue"


@KERNEL.add("a bot hides no memory in semaphores of System V")
def hide_memory_in_semaphores(_: AllTargets) -> str:
    call("semctl", call("semget", 0, 1, _IPC_CREAT | 0o600), 0, _IPC_RMID, 0)
    return "it has semaphores"


@KERNEL.add("a bot hides no memory in pipes")
def hide_memory_in_pipe(_: AllTargets) -> str:
    writer = os.pipe()[1]
    page = mmap.mmap(-1, mmap.PAGESIZE, _PRIVATE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    call("vmsplice", writer, struct.pack("QQ", address, 1), 1, 0)
    return "its pages are in a pipe"


@KERNEL.add("a bot hides no memory in pages that stay when it lets them go")
def hide_memory_in_shared_pages(_: AllTargets) -> str:
    mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    return "it has such pages"


@KERNEL.add("a bot hides no memory in such pages of /dev/zero")
def hide_memory_in_zero_device(_: AllTargets) -> str:
    zero = os.open("/dev/zero", os.O_RDWR)
    mmap.mmap(zero, mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    return "it has such pages"
