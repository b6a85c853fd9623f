"""Runs a command under the seccomp filter of this machine, and a program that makes system calls to be run so:

python -m tests.helpers.filtered COMMAND...
"""

import ctypes
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from arena.sandbox.seccomp_filters import FILTERS
from tests.helpers.paths import ROOT

UNDER_FILTER: Final = (sys.executable, "-m", "tests.helpers.filtered")
# From <linux/prctl.h> and <linux/seccomp.h>.
PR_SET_SECCOMP: Final = 22
PR_SET_NO_NEW_PRIVS: Final = 38
SECCOMP_MODE_FILTER: Final = 2


class SockFprog(ctypes.Structure):
    """The argument of prctl: how many instructions, and where they are."""

    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(code: bytes) -> None:
    """From now on, the filter decides on every system call of this process and of its children."""
    libc = ctypes.CDLL(None, use_errno=True)
    program = SockFprog(len(code) // 8, code)
    for arguments in [(PR_SET_NO_NEW_PRIVS, 1), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))]:
        if libc.prctl(*arguments, *(ctypes.c_ulong(0),) * (5 - len(arguments))) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


# Each line of stdin is the number of a call and its arguments; each line of stdout is the error, 0 for none.
CALLER: Final = """
import ctypes, sys
syscall = ctypes.CDLL(None, use_errno=True).syscall
for line in sys.stdin:
    failed = syscall(*(ctypes.c_long(int(word)) for word in line.split())) == -1
    print(ctypes.get_errno() if failed else 0, flush=True)
"""


def call_under_filter(calls: Sequence[Sequence[int]]) -> subprocess.CompletedProcess[str]:
    text = "".join(" ".join(map(str, call)) + "\n" for call in calls)
    words = [*UNDER_FILTER, sys.executable, "-c", CALLER]
    return subprocess.run(words, input=text, capture_output=True, text=True, cwd=ROOT, timeout=60)


if __name__ == "__main__":
    install(FILTERS[platform.machine()])
    os.execvp(sys.argv[1], sys.argv[1:])
