"""Tune the limits of this process before a tournament: file descriptors and the garbage collector."""

import gc
import resource


def raise_descriptor_limit() -> int:
    """Raise the soft limit of open files to the hard limit, because each bot needs four. Returns the new limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def tune_gc() -> None:
    """Run the garbage collector less often. A tournament creates and drops many small objects that form no cycles; with
    Python's default thresholds, searching them for cycles takes a tenth of the time."""
    gc.freeze()  # without collecting first, which would delay the first bot; the little garbage there is may stay
    gc.set_threshold(50_000, 20, 100)
