"""What the `arena` script and `python -m arena` run.

Loading the command line takes longer than many commands take to run. No command has begun meanwhile, so there is
nothing to tidy up, and Ctrl-C ends the process at once. From then on it raises KeyboardInterrupt
as usual; only inside a callback of the interpreter, where that would be lost, it still ends the process.
"""

import os
import signal
import sys
from types import FrameType

from arena.support.process_limits import tune_gc

_INTERRUPTED = 130  # as in arena.support.signals, which is not loaded yet


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(_INTERRUPTED)


def _unraisable(problem: "sys.UnraisableHookArgs") -> None:
    """An interrupt in a callback of the interpreter itself, as of its import locks, would be printed and forgotten."""
    if isinstance(problem.exc_value, KeyboardInterrupt):
        _leave(signal.SIGINT, None)
    sys.__unraisablehook__(problem)


def entry() -> None:
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in the background of a script
    if interruptible:
        signal.signal(signal.SIGINT, _leave)
        sys.unraisablehook = _unraisable
    tune_gc()
    from arena.cli.main import entry as run

    tune_gc()  # again, so that it does not search what is loaded now while the command loads the rest
    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done; only the interpreter has to end


if __name__ == "__main__":
    entry()
