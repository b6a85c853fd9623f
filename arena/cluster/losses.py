"""Which losses of workers count against their bots. Nobody knows whether a bot caused one."""

import math
import time
from typing import Final

from arena.cluster.worker_connection import RemoteWorker

_AT_ONCE: Final = 30.0  # seconds in which all workers of a lost machine are noticed


class Losses:
    def __init__(self) -> None:
        self._machines: dict[str, tuple[float, frozenset[str]]] = {}  # since when, and which bots it counted for

    def counts(self, process: RemoteWorker, bots: frozenset[str]) -> bool:
        """Whether the loss of this worker counts for its bots. A machine that is lost loses all its matches,
        which counts once for each bot; a lost scheduler counts for none."""
        if process.with_all or not process.is_lost:
            return not process.with_all
        now = time.monotonic()
        since, counted = self._machines.get(process.machine.name, (-math.inf, frozenset[str]()))
        if now - since > _AT_ONCE:
            since, counted = now, frozenset()
        self._machines[process.machine.name] = since, counted | bots
        return not bots <= counted
