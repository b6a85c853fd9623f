"""How a bot may keep things from its keeper, which looks at its processes from outside."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from tests.attack.escapes.calls import call


def run_without_first_thread(work: Callable[[], None]) -> None:
    """Do the work in a new process, in a thread that goes on when the first one has exited: of such a process, the
    kernel shows neither memory nor descriptors at the usual place. The process ends with the work."""

    def work_and_exit() -> None:
        try:
            work()
        finally:
            os._exit(0)

    if os.fork() == 0:
        threading.Thread(target=work_and_exit).start()
        call("exit", 0)
