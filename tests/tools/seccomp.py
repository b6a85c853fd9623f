"""Writes arena/sandbox/seccomp_filters.py, the system calls that the kernel refuses to bots in the sandbox:

    python -m tests.tools.seccomp

A filter is a program of classic BPF, see seccomp(2). The kernel runs it for each call, but keeps a cache of the calls
that the number alone allows: read, write, poll, futex and most others cost next to nothing. So only the calls of
BY_ARGUMENT look at an argument, and never at more than its lower 32 bits, which is all that the kernel uses of it.

Everything else up to HIGHEST_KNOWN is allowed, and what newer kernels add is said not to exist. What needs a capability
is refused by the kernel, because bots have none and cannot get any (clock_settime, sched_setattr with SCHED_DEADLINE, a
higher priority, quotas of others). Such a call is named here only where it would reach beyond the sandbox if a
capability were ever left to a bot by mistake.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, IntEnum, auto
from itertools import groupby
from typing import Final

import attrs

from tests.helpers.paths import ROOT

WRITTEN = ROOT / "arena" / "sandbox" / "seccomp_filters.py"


class Errno(IntEnum):
    """Errors as Linux numbers them; the module errno has the numbers of the system that runs this tool."""

    NONE = 0  # the caller is told that it was done
    EPERM = 1
    ENOTTY = 25
    ENOSYS = 38
    ESOCKTNOSUPPORT = 94
    EAFNOSUPPORT = 97


# The rules. Calls that are refused whatever their arguments are.

REFUSED: Final[Mapping[Errno, tuple[str, ...]]] = {
    Errno.EPERM: (
        # Other processes: their memory, their descriptors, their course.
        *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd"),
        # Each session has a share of the processors of its own, as large as that of the opponent, and a group of
        # processes can be stopped as a whole: no process leaves those of its bot.
        *("setsid", "setpgid"),
        # Descriptors on their way to another process, of which all programs of a user share one number, and which hold
        # files and watches that nobody counts. The kernel offers no other way to send them.
        *("sendmsg", "sendmmsg"),
        # New namespaces and mounts: in a new user namespace a bot would have every capability again.
        *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot"),
        *("open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
        # Messages to another bot that can read the same file: its locks, and who opens it. fcntl is below.
        *("flock", "inotify_init", "inotify_init1", "inotify_add_watch", "fanotify_init", "fanotify_mark"),
        # Keys, which belong to a user and not to a namespace, and files by their number instead of their path.
        *("keyctl", "add_key", "request_key", "name_to_handle_at", "open_by_handle_at"),
        # Large parts of the kernel that no bot needs and in which many holes were found. io_uring would also make
        # other calls without asking this filter.
        *("io_uring_setup", "io_uring_enter", "io_uring_register"),
        *("bpf", "userfaultfd", "perf_event_open", "modify_ldt"),
        # Rules that a program makes for itself, in memory of the kernel that nobody counts.
        *("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp"),
        # Memory that stays in a pipe after the process has unmapped it: a page of 2 MiB for each byte written.
        "vmsplice",
        # The machine itself. All but syslog, quotactl and the flushing of all disks need a capability.
        *("sync", "syncfs"),
        *("syslog", "quotactl", "quotactl_fd", "acct", "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load"),
        *("init_module", "finit_module", "delete_module", "iopl", "ioperm"),
    ),
    Errno.ENOSYS: (
        # Its flags lie in memory, where a filter cannot see them. Without it, libraries use clone.
        "clone3",
        # Memory that no process needs to map and that no tmpfs with a size holds: nobody would count it. Without
        # memfd_create, libraries use a file in /dev/shm, which has a size.
        *("memfd_create", "memfd_secret", "shmget", "msgget", "semget"),
        # Queues of POSIX, which are memory of the kernel; all programs of a user share one number of bytes for them.
        "mq_open",
        # A timer may send SIGCONT, which wakes a process that the arena has stopped until its turn. Those of setitimer
        # cannot.
        "timer_create",
        # The old asynchronous I/O: all programs of the machine share one number of requests, which a bot could use up.
        "io_setup",
    ),
    Errno.NONE: (
        # Whoever may write to a device may set its times to now: another bot could read them later. bubblewrap cannot
        # show a device read-only. Programs set times when they copy files; those of a bot are all new anyway.
        *("utime", "utimes", "futimesat", "utimensat"),
    ),
}

# Calls that are refused for some values of an argument.


class When(Enum):
    """Which values of the argument are refused."""

    ANY_BIT = auto()  # at least one of the bits is set
    ALL_BITS = auto()  # all of the bits are set
    FIRST_BIT_ONLY = auto()  # the first of two bits is set, and the second is not
    ONE_OF = auto()  # it is one of the values
    NONE_OF = auto()  # it is none of the values


@attrs.frozen
class ArgumentRule:
    """The call fails with the error when its argument, counted from 0, has such a value."""

    call: str
    argument: int
    when: When
    values: Mapping[str, int]
    error: Errno = Errno.EPERM


NAMESPACES: Final = {
    "CLONE_NEWTIME": 0x80,
    "CLONE_NEWNS": 0x20000,
    "CLONE_NEWCGROUP": 0x2000000,
    "CLONE_NEWUTS": 0x4000000,
    "CLONE_NEWIPC": 0x8000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_NEWNET": 0x40000000,
}
# All others leave something on the file, which another bot may find there, even in the next tournament (F_SET_RW_HINT,
# locks, leases), tell of such things, make the kernel send signals, or take from the pages that all pipes of a user
# share (F_SETPIPE_SZ).
CONTROLS_OF_FILES: Final = {
    "F_DUPFD": 0,
    "F_GETFD": 1,
    "F_SETFD": 2,
    "F_GETFL": 3,
    "F_SETFL": 4,
    "F_DUPFD_CLOEXEC": 1030,
}
# What runtimes need of pipes and sockets. They also ask whether these are terminals (TCGETS), which the kernel answers
# with ENOTTY, too. The rest leaves flags or keys on files, types into terminals, or reaches large parts of the kernel.
CONTROLS_OF_DEVICES: Final = {
    "FIONREAD": 0x541B,
    "FIONBIO": 0x5421,
    "FIONCLEX": 0x5450,
    "FIOCLEX": 0x5451,
}
# A thread with descriptors of its own, which /proc does not show as those of its process: nobody would count them.
OWN_DESCRIPTORS: Final = {"CLONE_THREAD": 0x10000, "CLONE_FILES": 0x400}
# The same for a thread that runs already.
OWN_DESCRIPTORS_NOW: Final = {"CLOSE_RANGE_UNSHARE": 2}
# A process that does not let an ordinary user look at its descriptors, and filters of the bot's own, as those of the
# call seccomp.
HIDING_AND_FILTERS: Final = {"PR_SET_DUMPABLE": 4, "PR_SET_SECCOMP": 22}
# Larger buffers, which hold memory that no process maps.
BUFFER_SIZES: Final = {"SO_SNDBUF": 7, "SO_RCVBUF": 8, "SO_SNDBUFFORCE": 32, "SO_RCVBUFFORCE": 33}
# Others reach the host (vsock, netlink, bluetooth), or are large and rarely used parts of the kernel. The buffers
# of TCP have one limit for all network namespaces: a bot that fills its own loopback would stall the connections of the
# whole machine.
FAMILIES: Final = {"AF_UNIX": 1}
# What is unread in these is limited for each connection. A socket for datagrams takes them from many senders, which may
# be closed already: it would hold ten times as much. The kernel takes SOCK_RAW for SOCK_DGRAM.
CONNECTED_KINDS: Final = {
    f"{name} | {flags:#x}": kind | flags  # none, SOCK_NONBLOCK, SOCK_CLOEXEC, both
    for name, kind in (("SOCK_STREAM", 1), ("SOCK_SEQPACKET", 5))
    for flags in (0, 0x800, 0x80000, 0x80800)
}
# The ordinary one, the question for the current one, and fixed addresses, which debuggers, sanitizers and some Lisps
# ask for. The rest emulates other systems, or takes protections away.
PERSONALITIES: Final = {"PER_LINUX": 0, "ADDR_NO_RANDOMIZE": 0x40000, "query": 0xFFFFFFFF}
# Pages of such a mapping stay when they are unmapped, as long as one of them is mapped: memory that nobody would count,
# like that of memfd_create. A file in /dev/shm can be shared instead. MAP_SHARED_VALIDATE has the bit too.
SHARED_WITHOUT_A_FILE: Final = {"MAP_ANONYMOUS": 0x20, "MAP_SHARED": 0x01}

BY_ARGUMENT: Final = (
    ArgumentRule("clone", 0, When.ANY_BIT, NAMESPACES),
    ArgumentRule("clone", 0, When.FIRST_BIT_ONLY, OWN_DESCRIPTORS),
    ArgumentRule("close_range", 2, When.ANY_BIT, OWN_DESCRIPTORS_NOW),
    ArgumentRule("fcntl", 1, When.NONE_OF, CONTROLS_OF_FILES),
    ArgumentRule("ioctl", 1, When.NONE_OF, CONTROLS_OF_DEVICES, Errno.ENOTTY),
    ArgumentRule("prctl", 0, When.ONE_OF, HIDING_AND_FILTERS),
    ArgumentRule("setsockopt", 2, When.ONE_OF, BUFFER_SIZES),
    ArgumentRule("socket", 0, When.NONE_OF, FAMILIES, Errno.EAFNOSUPPORT),
    ArgumentRule("socket", 1, When.NONE_OF, CONNECTED_KINDS, Errno.ESOCKTNOSUPPORT),
    ArgumentRule("socketpair", 0, When.NONE_OF, FAMILIES, Errno.EAFNOSUPPORT),
    ArgumentRule("socketpair", 1, When.NONE_OF, CONNECTED_KINDS, Errno.ESOCKTNOSUPPORT),
    ArgumentRule("personality", 0, When.NONE_OF, PERSONALITIES),
    ArgumentRule("mmap", 3, When.ALL_BITS, SHARED_WITHOUT_A_FILE),
)

# The numbers of the calls.


@attrs.frozen
class Machine:
    """What differs between machines: its mark in the kernel, the numbers of its calls, and numbers of a second kind."""

    audit_arch: int
    numbers: Mapping[str, int]
    foreign_numbers_from: int | None = None  # x86_64 has a second set of numbers, for the x32 ABI


# The last call whose meaning was looked at here: file_setattr of Linux 6.17. New ones have the same number everywhere.
HIGHEST_KNOWN: Final = 469
# The name, and the number on x86_64 and on aarch64.
NUMBERS: Final[Mapping[str, tuple[int, int | None]]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close_range": (436, 436),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "fcntl": (72, 25),
    "finit_module": (313, 273),
    "flock": (73, 32),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "inotify_add_watch": (254, 27),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "io_setup": (206, 0),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "mmap": (9, 222),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prctl": (157, 167),
    "process_madvise": (440, 440),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "seccomp": (317, 277),
    "semget": (64, 190),
    "sendmmsg": (307, 269),
    "sendmsg": (46, 211),
    "setns": (308, 268),
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "setsockopt": (54, 208),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "syslog": (103, 116),
    "timer_create": (222, 107),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "vmsplice": (278, 75),
}
MACHINES: Final = {
    "x86_64": Machine(0xC000003E, {name: number for name, (number, _) in NUMBERS.items()}, 0x40000000),
    "aarch64": Machine(0xC00000B7, {name: number for name, (_, number) in NUMBERS.items() if number is not None}),
}

# The assembler. A program is a list of steps and labels; a label is a string, and names the step after it.

LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
IF_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
IF_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
IF_ANY_BIT: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN: Final = 0x06  # BPF_RET | BPF_K

# Where the facts of a call lie in struct seccomp_data. Both machines store the lower half of an argument first.
NUMBER: Final = 0
ARCH: Final = 4
ARGUMENTS: Final = 16

KILL_PROCESS: Final = 0x80000000
ERRNO: Final = 0x00050000
ALLOW: Final = 0x7FFF0000


@attrs.frozen
class Step:
    """One instruction; a jump goes to a label, or on to the next step where it has none."""

    code: int
    operand: int
    then: str | None = None
    otherwise: str | None = None


Line = Step | str


def assemble(program: Sequence[Line]) -> bytes:
    """The program as an array of struct sock_filter. A jump back, or further than 255 steps, is a struct.error."""
    places: dict[str, int] = {}
    steps: list[Step] = []
    for line in program:
        if isinstance(line, str):
            places[line] = len(steps)
        else:
            steps.append(line)

    def distance(here: int, label: str | None) -> int:
        return 0 if label is None else places[label] - here - 1

    return b"".join(
        struct.pack("<HBBI", step.code, distance(here, step.then), distance(here, step.otherwise), step.operand)
        for here, step in enumerate(steps)
    )


# The program.


def program(machine: Machine) -> Iterator[Line]:
    """First the kind of call, then its number, then the arguments of the few calls that have a rule for one."""
    yield Step(LOAD, ARCH)
    yield Step(IF_EQUAL, machine.audit_arch, otherwise="kill")
    yield Step(LOAD, NUMBER)
    if machine.foreign_numbers_from is not None:
        yield Step(IF_AT_LEAST, machine.foreign_numbers_from, then="kill")
    yield Step(IF_AT_LEAST, HIGHEST_KNOWN + 1, then=_failing(Errno.ENOSYS))
    for error, calls in REFUSED.items():
        yield from _refusals(sorted(machine.numbers[call] for call in calls if call in machine.numbers), error)
    rules = {call: list(each) for call, each in groupby(BY_ARGUMENT, key=lambda rule: rule.call)}
    for call in rules:
        yield Step(IF_EQUAL, machine.numbers[call], then=call)
    yield Step(RETURN, ALLOW)
    for call, of_call in rules.items():
        yield call
        for place, rule in enumerate(of_call, start=1):
            after = f"{call} {place}"
            yield from (*_argument_part(rule, "allow" if place == len(of_call) else after), after)
    yield from ("allow", Step(RETURN, ALLOW), "kill", Step(RETURN, KILL_PROCESS))
    for error in sorted({*REFUSED, *(rule.error for rule in BY_ARGUMENT)}):
        yield from (_failing(error), Step(RETURN, ERRNO | error))


def _refusals(numbers: Sequence[int], error: Errno) -> Iterator[Line]:
    """Two steps for numbers in a row, however many these are."""
    for _, row in groupby(enumerate(numbers), key=lambda each: each[1] - each[0]):
        first, *others = (number for _, number in row)
        if len(others) < 2:
            yield from (Step(IF_EQUAL, number, then=_failing(error)) for number in (first, *others))
        else:
            after = f"after {others[-1]}"
            yield Step(IF_AT_LEAST, others[-1] + 1, then=after)
            yield Step(IF_AT_LEAST, first, then=_failing(error))
            yield after


def _failing(error: Errno) -> str:
    return f"fail with {error.name}"


def _argument_part(rule: ArgumentRule, passed: str) -> Iterator[Line]:
    """Goes on to a label if the rule does not refuse the call."""
    refused = _failing(rule.error)
    *others, last = rule.values.values()
    yield Step(LOAD, ARGUMENTS + 8 * rule.argument)
    match rule.when:
        case When.ANY_BIT:
            yield Step(IF_ANY_BIT, sum(rule.values.values()), refused, passed)
        case When.ALL_BITS:
            yield from (Step(IF_ANY_BIT, value, otherwise=passed) for value in others)
            yield Step(IF_ANY_BIT, last, refused, passed)
        case When.FIRST_BIT_ONLY:
            yield from (Step(IF_ANY_BIT, value, otherwise=passed) for value in others)
            yield Step(IF_ANY_BIT, last, passed, refused)
        case When.ONE_OF:
            yield from (Step(IF_EQUAL, value, then=refused) for value in others)
            yield Step(IF_EQUAL, last, refused, passed)
        case When.NONE_OF:
            yield from (Step(IF_EQUAL, value, then=passed) for value in others)
            yield Step(IF_EQUAL, last, passed, refused)


# The file.

HEAD: Final = '''\
"""The system calls that the kernel refuses to bots in the sandbox, as a seccomp filter for each machine that has one.

`make seccomp` writes this file. The rules, and the reason for each, are in tests/tools/seccomp.py.
"""

from typing import Final

# The key is what platform.machine() says. A filter is an array of struct sock_filter, 8 bytes each.
FILTERS: Final[dict[str, bytes]] = {
'''
STEPS_IN_A_LINE: Final = 6


def module() -> str:
    return HEAD + "".join(_entry(name, assemble(list(program(machine)))) for name, machine in MACHINES.items()) + "}\n"


def _entry(name: str, code: bytes) -> str:
    steps = code.hex(" ", 8).split()
    lines = [" ".join(steps[at : at + STEPS_IN_A_LINE]) for at in range(0, len(steps), STEPS_IN_A_LINE)]
    return "\n".join([f'    "{name}": bytes.fromhex("""', *(f"        {line}" for line in lines), '    """),\n'])


if __name__ == "__main__":
    WRITTEN.write_text(module(), encoding="utf-8")
