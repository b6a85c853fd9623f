"""The first worker process of a command that plays. It is started before the command is loaded, so that it loads its
modules while the command loads its own."""

import contextlib

import click

from arena.worker.worker_process import WorkerProcess


def start(context: click.Context) -> None:
    """Start the worker. If nobody takes it, it ends with the context."""
    with contextlib.suppress(OSError):  # who needs a worker tries again, and says why there is none
        context.obj = context.with_resource(WorkerProcess())


def take() -> WorkerProcess:
    """The worker that was started early, or a new one. Raises OSError if none can be started."""
    context = click.get_current_context(silent=True)
    if context is None:
        return WorkerProcess()
    root = context.find_root()
    early, root.obj = root.obj, None
    return early or WorkerProcess()
