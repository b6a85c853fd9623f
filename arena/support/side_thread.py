"""A thread for calls that block, such as waiting for the disk. It lives exactly as long as its block."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import trio

T = TypeVar("T")


class SideThread:
    """Runs one call after the other. trio's worker threads could do that as well, but they need a fifth more processor
    time for a call, and stay for some seconds after the last one."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # A daemon, so that after a crash of trio, which leaves blocks without ending them, the process can still exit.
        self._thread = Thread(target=self._work, daemon=True)

    def __enter__(self) -> "SideThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._calls.put(None)
        self._thread.join()

    def _work(self) -> None:
        while call := self._calls.get():
            call()

    async def run(self, blocking: Callable[..., T], *arguments: Any) -> T:
        """Call the function in the thread and wait until it returns, also if the task is cancelled meanwhile. Returns
        what it returns and raises what it raises."""
        task, token = trio.lowlevel.current_task(), trio.lowlevel.current_trio_token()
        returned: list[T] = []
        raised: list[BaseException] = []

        def call() -> None:
            try:
                returned.append(blocking(*arguments))
            except BaseException as error:  # whatever it is, the task must not wait forever
                raised.append(error)
            token.run_sync_soon(trio.lowlevel.reschedule, task)

        self._calls.put(call)
        await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)
        for error in raised:
            raise error
        return returned[0]
