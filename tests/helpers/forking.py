"""Start `arena` and its workers as forks of the process that runs the tests, which has loaded their modules already.

To load the arena takes an interpreter longer than most commands take to run, and the tests start it more than a
thousand times. A fork is a process like any other: it has its own pid, streams, folder, variables, signals and exit
status. What only a new interpreter can show, such as how it starts and what it imports, needs the fixture
`new_interpreters`. Whatever is neither `python -m arena` nor a worker, such as a bot, is started as always.
"""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

import trio

from arena.__main__ import entry

_WORKERS: Final = ("from arena.worker.entry import", "from arena.journal.line_workers import")  # in the code of one
_READ_BY_THE_INTERPRETER: Final = ("PYTHON", "LC_", "LANG", "COVERAGE")  # beginnings of names
_NOT_RUN: Final = 125  # exit status of a fork that did not come to run its command
_NOT_WRITTEN: Final = 120  # as an interpreter ends that cannot write the rest of its output

Variables = Mapping[Any, Any] | None
_kept: Final[list[object]] = []  # streams of the tests, which would close their descriptors if they were collected


class ForkingPopen(subprocess.Popen[Any]):
    """As Popen, but where a fork can do the same, the new process runs it instead of another program."""

    def __init__(self, args: Any, *more: Any, **options: Any):
        variables = options.get("env")
        if not more and not options.get("shell") and is_forkable(args, variables):
            # It is called in the new process, last before the program: streams, folder and session are in place.
            options["preexec_fn"] = partial(_begin, args, variables, options.get("pass_fds", ()))
        super().__init__(args, *more, **options)


_Popen: Final = subprocess.Popen


def install() -> None:
    """Fork from now on."""
    subprocess.Popen = ForkingPopen  # type: ignore[misc]


def uninstall() -> None:
    subprocess.Popen = _Popen  # type: ignore[misc]


def is_forkable(words: object, variables: Variables) -> bool:
    """Whether a fork can do what these words start."""
    if not isinstance(words, list | tuple) or len(words) < 3 or words[0] != sys.executable:
        return False
    if subprocess.Popen is not ForkingPopen or _for_the_interpreter(variables) != _for_the_interpreter(os.environ):
        return False
    if list(words[1:3]) == ["-m", "arena"]:
        return not trio.lowlevel.in_trio_run()  # where the fork could not run a trio of its own
    return list(words[1:3]) == ["-P", "-c"] and any(code in words[3] for code in _WORKERS)


def _for_the_interpreter(variables: Variables) -> dict[str, str]:
    read = _decoded(os.environ if variables is None else variables)
    return {name: value for name, value in read.items() if name.startswith(_READ_BY_THE_INTERPRETER)}


def _decoded(variables: Mapping[Any, Any]) -> dict[str, str]:
    return {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()}


def _begin(words: Sequence[str], variables: Variables, passed: Collection[int]) -> NoReturn:
    try:
        gc.freeze()  # a stream of the tests that is collected here would close a descriptor that is another by then
        for descriptor in map(int, os.listdir("/proc/self/fd")):
            if descriptor > 2 and descriptor not in passed:
                with contextlib.suppress(OSError):  # the one that listed them is closed
                    os.close(descriptor)
        become(words, variables)
    except BaseException:  # a fault of this module: no test may go on in the fork
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(_NOT_RUN)


def become(words: Sequence[str], variables: Variables) -> NoReturn:
    """Run in this process, a fork whose streams are in place, what these words start, and end as it ends."""
    if variables is not None:
        os.environ.clear()
        os.environ.update(_decoded(variables))
    _forget_the_tests()
    words = [os.fsdecode(word) for word in words]  # some are paths
    is_command = words[1] == "-m"
    Path("/proc/self/comm").write_text("arena" if is_command else "arena worker")
    status = 0
    try:
        if is_command:
            sys.argv = ["arena", *words[3:]]
            entry()
        else:
            sys.argv = ["-c", *words[4:]]
            exec(words[3], {"__name__": "__main__"})
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        status = 1
    try:
        sys.stdout.flush()
    except OSError:
        status = _NOT_WRITTEN
    os._exit(status)


def _forget_the_tests() -> None:
    """Put back what pytest and trio have changed in the interpreter."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    sys.unraisablehook, threading.excepthook = sys.__unraisablehook__, threading.__excepthook__
    tempfile.tempdir = None  # found anew from the variables
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        first = getattr(sys, f"__{name}__")
        _kept.extend((first, getattr(sys, name)))
        by_lines = 1 if name == "stderr" else -1
        stream = open(descriptor, mode, by_lines, encoding="utf-8", errors=first.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
