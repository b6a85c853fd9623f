"""The seccomp filters: what they say for every call, by an interpreter here and by the kernel."""

import errno
import platform
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.devtools.starters import LANGUAGES, create, new_bot
from arena.sandbox.seccomp_filters import FILTERS
from tests.helpers.filtered import UNDER_FILTER, call_under_filter
from tests.helpers.paths import ROOT
from tests.tools.seccomp import BY_ARGUMENT, HIGHEST_KNOWN, MACHINES, NUMBERS, REFUSED, WRITTEN, Errno, module

ALLOW = "allow"
KILL = "kill the process"
ARCHS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
FOREIGN_ARCHS = {"i386": 0x40000003, "arm": 0x40000028, "riscv64": 0xC00000F3, "nothing": 0}
X32 = 0x40000000
HIGH_BITS = 0xFFFFFFFF_00000000

machines = pytest.mark.parametrize("machine", FILTERS)
needs_the_kernel = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in FILTERS, reason="no seccomp filter for this machine"
)


# The data.


def test_the_filters_are_what_the_rules_say() -> None:
    assert WRITTEN.read_text(encoding="utf-8") == module(), "the rules have changed: run `make seccomp`"


@machines
def test_a_filter_is_short(machine: str) -> None:
    assert len(FILTERS[machine]) % 8 == 0
    assert len(FILTERS[machine]) <= 1200


# The numbers. The headers of older systems do not know the newest calls: those numbers are checked nowhere.

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
NEWEST = {"open_tree_attr", "quotactl_fd", "memfd_secret", "mount_setattr"}


def numbers_in(header: str) -> dict[str, int]:
    """A few names of the generic header are spelled __NR3264: their meaning differs between 32 and 64 bits."""
    return {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", header)}


@machines
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"no {HEADERS[machine]} on this machine")
    known = numbers_in(HEADERS[machine].read_text())
    ours = MACHINES[machine].numbers
    assert {name: known[name] for name in ours if name in known} == {name: ours[name] for name in ours if name in known}
    assert set(ours) - set(known) <= NEWEST
    assert not (set(NUMBERS) - set(ours)) & set(known)


def test_only_calls_that_a_machine_lacks_have_no_number() -> None:
    assert set(MACHINES["x86_64"].numbers) == set(NUMBERS)
    lacking = {"futimesat", "inotify_init", "ioperm", "iopl", "modify_ldt", "utime", "utimes"}
    assert set(MACHINES["aarch64"].numbers) == set(NUMBERS) - lacking


def test_every_number_has_a_rule() -> None:
    ruled = [*(call for calls in REFUSED.values() for call in calls), *{rule.call for rule in BY_ARGUMENT}]
    assert sorted(ruled) == sorted(NUMBERS)


# What the filters say, by an interpreter of the few instructions that they use.


def run(code: bytes, data: bytes) -> tuple[int, set[int]]:
    """What the filter returns for a struct seccomp_data, and the places in it that the filter has looked at."""
    steps = list(struct.iter_unpack("<HBBI", code))
    at, word, seen = 0, 0, set()
    while True:
        operation, then, otherwise, operand = steps[at]
        at += 1
        match operation:
            case 0x20:
                seen.add(operand)
                (word,) = struct.unpack_from("<I", data, operand)
            case 0x06:
                return operand, seen
            case 0x15:
                at += then if word == operand else otherwise
            case 0x35:
                at += then if word >= operand else otherwise
            case 0x45:
                at += then if word & operand else otherwise
            case _:
                raise AssertionError(f"no instruction of ours: {operation:#x}")


def decision(code: int) -> str:
    match code >> 16:
        case 0x8000:
            return KILL
        case 0x7FFF:
            return ALLOW
        case 0x0005:
            return Errno(code & 0xFFFF).name
    raise AssertionError(f"no decision of ours: {code:#x}")


def asked(machine: str, number: int, arguments: tuple[int, ...], arch: int | None = None) -> tuple[str, set[int]]:
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number, ARCHS[machine] if arch is None else arch, 0x7FFF_1234_5678, *padded)
    code, seen = run(FILTERS[machine], data)
    return decision(code), seen


def says(machine: str, call: str, *arguments: int) -> str:
    return asked(machine, MACHINES[machine].numbers[call], arguments)[0]


def says_of_low_half(machine: str, call: str, argument: int, value: int) -> str:
    """The decision for the argument, which must not depend on its upper half nor on the other arguments."""
    fillings = [(filling, upper) for filling in (0, 2**64 - 1) for upper in (0, 1 << 32, HIGH_BITS)]
    found = set()
    for filling, upper in fillings:
        arguments = [filling] * 6
        arguments[argument] = upper | value
        found.add(says(machine, call, *arguments))
    (only,) = found
    return only


@machines
def test_calls_are_refused_by_their_number(machine: str) -> None:
    for error, calls in REFUSED.items():
        for call in set(calls) & set(MACHINES[machine].numbers):
            assert says(machine, call) == error.name
            assert says(machine, call, *(2**64 - 1,) * 6) == error.name


@machines
def test_clone3_and_memory_that_nobody_counts_are_said_not_to_exist(machine: str) -> None:
    for call in ("clone3", "memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open"):
        assert says(machine, call) == "ENOSYS"


@machines
@given(data=st.data())
def test_any_other_known_number_is_allowed_whatever_its_arguments_are(machine: str, data: st.DataObject) -> None:
    """By the number alone: so the kernel can keep the decision in its cache."""
    named = set(MACHINES[machine].numbers.values())
    number = data.draw(st.integers(0, HIGHEST_KNOWN).filter(lambda each: each not in named))
    arguments = data.draw(st.tuples(*[st.integers(0, 2**64 - 1)] * 6))
    assert asked(machine, number, arguments) == (ALLOW, {0, 4})


@machines
@given(data=st.data())
def test_calls_of_newer_kernels_are_said_not_to_exist(machine: str, data: st.DataObject) -> None:
    most = X32 - 1 if machine == "x86_64" else 2**32 - 1
    number = data.draw(st.just(HIGHEST_KNOWN + 1) | st.integers(HIGHEST_KNOWN + 1, most))
    assert asked(machine, number, (2**64 - 1,) * 6) == ("ENOSYS", {0, 4})


@machines
@pytest.mark.parametrize("arch", FOREIGN_ARCHS.values(), ids=FOREIGN_ARCHS)
def test_a_call_of_a_foreign_machine_kills(machine: str, arch: int) -> None:
    other = next(each for name, each in ARCHS.items() if name != machine)
    for number in range(600):
        assert asked(machine, number, (), arch)[0] == KILL
        assert asked(machine, number, (), other)[0] == KILL


def test_a_call_of_x32_kills() -> None:
    for number in (X32, X32 + 1, X32 + 39, X32 + 512, 2**31, 2**32 - 1):
        assert asked("x86_64", number, ())[0] == KILL
        assert asked("aarch64", number, ())[0] == "ENOSYS"
    assert asked("x86_64", X32 - 1, ())[0] == "ENOSYS"


@machines
def test_clone_makes_threads_and_processes_but_no_namespaces(machine: str) -> None:
    fork, vfork, thread = 0x1200011, 0x4111, 0x3D0F00
    for flags in (fork, vfork, thread, signal.SIGCHLD, 64):
        assert says_of_low_half(machine, "clone", 0, flags) == ALLOW
    for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert says_of_low_half(machine, "clone", 0, flag) == "EPERM"
        assert says_of_low_half(machine, "clone", 0, thread | flag) == "EPERM"


@machines
def test_all_threads_of_a_process_have_the_same_descriptors(machine: str) -> None:
    thread, shares_descriptors, unshare, set_cloexec = 0x3D0F00, 0x400, 2, 4
    assert says_of_low_half(machine, "clone", 0, thread & ~shares_descriptors) == "EPERM"
    for flags in range(8):
        expected = "EPERM" if flags & unshare else ALLOW
        assert says_of_low_half(machine, "close_range", 2, flags) == expected
    assert says(machine, "close_range", 3, 2**32 - 1, set_cloexec) == ALLOW


@machines
def test_fcntl_duplicates_descriptors_and_sets_their_flags_only(machine: str) -> None:
    duplicate, get_fd, set_fd, get_flags, set_flags, duplicate_cloexec = 0, 1, 2, 3, 4, 1030
    allowed = {duplicate, get_fd, set_fd, get_flags, set_flags, duplicate_cloexec}
    for command in {*range(50), *range(1020, 1050), 2**31, 2**32 - 1}:
        expected = ALLOW if command in allowed else "EPERM"
        assert says_of_low_half(machine, "fcntl", 1, command) == expected


@machines
def test_ioctl_asks_what_is_unread_and_sets_flags_of_descriptors_only(machine: str) -> None:
    get_flags, set_flags, reflink = 0x80086601, 0x40086602, 0x40049409
    for command in (*range(0x5400, 0x5480), get_flags, set_flags, reflink, 0, 2**32 - 1):
        expected = ALLOW if command in (0x541B, 0x5421, 0x5450, 0x5451) else "ENOTTY"
        assert says_of_low_half(machine, "ioctl", 1, command) == expected


@machines
@pytest.mark.parametrize("call", ["socket", "socketpair"])
def test_sockets_are_of_one_family(machine: str, call: str) -> None:
    stream = 1
    for family in {*range(50), 2**31, 2**32 - 1}:
        for upper in (0, HIGH_BITS):
            expected = ALLOW if family == 1 else "EAFNOSUPPORT"
            assert says(machine, call, upper | family, stream) == expected


@machines
@pytest.mark.parametrize("call", ["socket", "socketpair"])
def test_sockets_are_connected_ones(machine: str, call: str) -> None:
    unix, stream, seqpacket, non_blocking, cloexec = 1, 1, 5, 0x800, 0x80000
    for kind in range(16):
        for flags in (0, non_blocking, cloexec, non_blocking | cloexec, HIGH_BITS):
            expected = ALLOW if kind in (stream, seqpacket) else "ESOCKTNOSUPPORT"
            assert says(machine, call, unix, kind | flags) == expected
    assert says(machine, call, unix, stream | 0x10) == "ESOCKTNOSUPPORT"


@machines
def test_a_bot_does_not_hide_and_makes_no_filters_and_no_larger_buffers(machine: str) -> None:
    for option in range(80):
        assert says_of_low_half(machine, "prctl", 0, option) == ("EPERM" if option in (4, 22) else ALLOW)
        assert says_of_low_half(machine, "setsockopt", 2, option) == ("EPERM" if option in (7, 8, 32, 33) else ALLOW)


@machines
def test_a_personality_may_be_asked_for_or_be_ordinary_or_have_fixed_addresses(machine: str) -> None:
    for persona in (0, 0x40000, 0xFFFFFFFF):
        assert says_of_low_half(machine, "personality", 0, persona) == ALLOW
    for persona in (1, 8, 0x20000, 0x400000, 0x440000, 0x40008, 0xFFFFFFFE):
        assert says_of_low_half(machine, "personality", 0, persona) == "EPERM"


@machines
def test_mmap_shares_files_only(machine: str) -> None:
    shared, private, validated, fixed, anonymous, no_reserve, stack = 0x01, 0x02, 0x03, 0x10, 0x20, 0x4000, 0x20000
    for others in (0, fixed, no_reserve | stack):
        assert says_of_low_half(machine, "mmap", 3, shared | others) == ALLOW
        assert says_of_low_half(machine, "mmap", 3, validated | others) == ALLOW
        assert says_of_low_half(machine, "mmap", 3, private | others) == ALLOW
        assert says_of_low_half(machine, "mmap", 3, private | anonymous | others) == ALLOW
        assert says_of_low_half(machine, "mmap", 3, shared | anonymous | others) == "EPERM"
        assert says_of_low_half(machine, "mmap", 3, validated | anonymous | others) == "EPERM"


# What the kernel says.

# No call means anything with these arguments: were the filter missing, none would do harm, even to root.
NONSENSE = (-1,) * 6


def calls_of_each_rule() -> Iterator[tuple[str, tuple[int, ...], str]]:
    """The name of a call, its arguments, and the error that is expected."""
    for error, calls in REFUSED.items():
        yield from ((call, NONSENSE, error.name if error else "success") for call in calls)
    yield ("clone", (0x10000000 | signal.SIGCHLD, 0, 0, 0, 0), "EPERM")
    for command in (5, 6, 7, 8, 10, 36, 37, 38, 1024, 1025, 1026, 1031, 1036, 1038, 1040, 0x7_0000_0406):
        yield ("fcntl", (-1, command, 0), "EPERM" if command < 2**32 else "EBADF")
    for command in (0, 1, 2, 3, 4, 1030):
        yield ("fcntl", (-1, command, 0), "EBADF")
    for command in (0x5401, 0x5412, 0x541C, 0x7_0000_5412, 0x80086601):
        yield ("ioctl", (-1, command, 0), "ENOTTY")
    yield ("ioctl", (-1, 0x5421, 0), "EBADF")
    yield ("ioctl", (-1, 0x7_0000_5421, 0), "EBADF")
    for family in (0, 3, 16, 38, 40):
        yield ("socket", (family, 1, 0), "EAFNOSUPPORT")
        yield ("socketpair", (family, 1, 0, 0), "EAFNOSUPPORT")
    for kind in (2, 3, 0x80002):
        yield ("socket", (1, kind, 0), "ESOCKTNOSUPPORT")
        yield ("socketpair", (1, kind, 0, 0), "ESOCKTNOSUPPORT")
    yield ("socketpair", (1, 1, 0, 0), "EFAULT")
    yield ("clone", (0x10000, 0, 0, 0, 0), "EPERM")
    yield ("close_range", (100, 100, 2), "EPERM")
    yield ("close_range", (100, 100, 0), "success")
    yield ("prctl", (22, 2, 0, 0, 0), "EPERM")
    yield ("prctl", (4, 0, 0, 0, 0), "EPERM")
    yield ("setsockopt", (-1, 1, 7, 0, 0), "EPERM")
    yield ("setsockopt", (-1, 1, 9, 0, 0), "EBADF")
    yield ("mmap", (0, 4096, 3, 0x21, -1, 0), "EPERM")
    yield ("mmap", (0, 4096, 3, 0x22, -1, 0), "success")
    yield ("mmap", (0, 4096, 3, 0x01, -1, 0), "EBADF")
    yield ("personality", (8,), "EPERM")
    yield ("personality", (0xFFFFFFFF,), "success")


@needs_the_kernel
def test_the_kernel_takes_the_filter_and_answers_as_the_rules_say() -> None:
    numbers = MACHINES[platform.machine()].numbers
    calls = [each for each in calls_of_each_rule() if each[0] in numbers]
    done = call_under_filter([(numbers[call], *arguments) for call, arguments, _ in calls])
    assert done.returncode == 0, done.stderr
    answers = [errno.errorcode.get(int(line), "success") for line in done.stdout.splitlines()]
    named = [(call, arguments) for call, arguments, _ in calls]
    assert dict(zip(named, answers, strict=True)) == {(call, args): expected for call, args, expected in calls}


@needs_the_kernel
@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86_64 has numbers of x32")
def test_the_kernel_kills_for_a_number_of_x32() -> None:
    getpid = 39
    assert call_under_filter([(getpid,)]).returncode == 0
    assert call_under_filter([(X32 + getpid,)]).returncode == -signal.SIGSYS


I386_GETPID = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
code.write(bytes.fromhex("b814000000 cd80 c3"))  # mov eax, 20; int 0x80; ret
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))())
"""


@needs_the_kernel
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the calls of i386 are made by code for x86")
def test_the_kernel_kills_for_a_call_of_i386() -> None:
    plain = subprocess.run([sys.executable, "-c", I386_GETPID], capture_output=True)
    if plain.returncode != 0:
        pytest.skip("this kernel has no calls of i386")
    words = [*UNDER_FILTER, sys.executable, "-c", I386_GETPID]
    assert subprocess.run(words, cwd=ROOT, capture_output=True).returncode == -signal.SIGSYS


# Bots. A JVM locks a file in /tmp with flock; when that fails, it says so on stdout, among the messages of the bot.
JVM_WITHOUT_PERF_DATA = ("env", "JDK_JAVA_OPTIONS=-XX:-UsePerfData")


@pytest.mark.extended
@needs_the_kernel
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bot_in_any_language_plays_under_the_filter(language: str, tmp_path: Path) -> None:
    bot = new_bot(language, "mybot")
    if not shutil.which(bot.needs):
        pytest.skip(f"no {bot.needs} on this machine")
    folder = tmp_path / "mybot"
    create(language, folder)
    if bot.build:
        subprocess.run(bot.build.split(), cwd=folder, check=True, timeout=120)
    inner = f"cd {shlex.quote(str(folder))} && exec {bot.run}"
    under = shlex.join([*JVM_WITHOUT_PERF_DATA, *UNDER_FILTER, "sh", "-c", inner])
    words = [sys.executable, "-m", "arena", "check", under, "--rounds", "2"]
    checked = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stdout + checked.stderr
