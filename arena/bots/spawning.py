"""Start a process with exactly the descriptors that it shall have.

This module uses only the standard library, because keepers have nothing else.
"""

import fcntl
import os
import signal
from collections.abc import Mapping, Sequence
from typing import Final

_RESET_SIGNALS: Final = (signal.SIGPIPE, signal.SIGXFSZ)  # Python ignores them, but others must not inherit that


def spawn(program: bytes, command: list[bytes], environment: Mapping[bytes, bytes], descriptors: Sequence[int]) -> int:
    """Start `program` in a session of its own, with `descriptors` as 0, 1, 2 and so on, and return its pid. Raises
    OSError. posix_spawn is faster than fork and exec."""
    # Copies with high numbers, because to put one descriptor into its place must not overwrite another one.
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, len(descriptors)) for descriptor in descriptors]
    try:
        return os.posix_spawn(
            program,
            command,
            environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, each, place) for place, each in enumerate(high)],
            setsid=True,
            setsigmask=[],
            setsigdef=_RESET_SIGNALS,
        )
    finally:
        for each in high:
            os.close(each)


def file_with(data: bytes) -> int:
    """A descriptor from which `data` can be read."""
    descriptor = os.memfd_create("arena")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
