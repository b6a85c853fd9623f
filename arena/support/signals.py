"""Ctrl-C, SIGTERM and a closed terminal all request an orderly stop."""

import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import trio

INTERRUPTED: Final = 130  # the exit status of a program that was stopped by one of these signals


@contextlib.asynccontextmanager
async def calling_on_signals(stop: Callable[[], None]) -> AsyncIterator[None]:
    """Call `stop` for each SIGINT, SIGTERM and SIGHUP that arrives while the block runs; not for SIGHUP if it was
    ignored before, as `nohup` does, so that a lost terminal stops nothing."""

    import trio  # here: commands that run no tasks should not wait for it

    async def listen(task_status: "trio.TaskStatus[None]") -> None:
        hangup = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN else []
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, *hangup) as signals:
            task_status.started()
            async for _ in signals:
                stop()

    async with trio.open_nursery() as nursery:
        await nursery.start(listen)
        yield
        nursery.cancel_scope.cancel()


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block, which is for code that would drop KeyboardInterrupt. Such is msgspec
    while it makes a decoder: it asks types for attributes that they may not have, and ignores why they have none."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield  # Python raises nothing there
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def first_exception(error: BaseException) -> BaseException:
    """The first exception inside a group, however deeply nested; any other exception is returned as it is."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@contextlib.contextmanager
def unwrap_exception_group(*kinds: type[Exception]) -> Iterator[None]:
    """Raise errors of these kinds without the exception group that a nursery wraps them in. A group that holds any
    other error stays a group, because that error is a bug of ours."""
    try:
        yield
    except ExceptionGroup as group:
        known, ours = group.split(kinds)
        if ours is not None or known is None:
            raise
        raise first_exception(known) from None
