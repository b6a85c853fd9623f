"""Which Dask workers of a cluster may play: each is compared when it joins, and again when it did not answer.

If none may, the organiser is told at once. If that lasts, the tournament stops instead of waiting for ever.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from arena.cluster.preparation import Machine, Terms, left, prepared

PATIENCE: Final = 300.0  # seconds without a machine that may play before the tournament stops


class Machines:
    """`refused` is told of each machine that may not play, `deserted` if none may, and `failed` if that lasts."""

    def __init__(
        self,
        run: str,
        terms: Terms,
        *,
        refused: Callable[[Machine], None],
        deserted: Callable[[str], None],
        failed: Callable[[str], None],
        patience: float = PATIENCE,
    ):
        self._run = run
        self._terms = terms
        self._refused, self._deserted, self._failed = refused, deserted, failed
        self._patience = patience
        self._client: Any = None
        self._machines: dict[str, Machine | None] = {}  # by the address of a Dask worker; None while it is compared
        self._comparing: set[asyncio.Task[None]] = set()
        self._since: float | None = None  # when the last machine that may play was lost

    def open(self, client: Any) -> None:
        """Begin anew, with another connection to the cluster."""
        self._client, self._machines, self._since = client, {}, None

    async def close(self, *, is_over: bool) -> None:
        """Let no machine play. At the end of a tournament, have all of them forget what was sent there."""
        for task in tuple(self._comparing):
            task.cancel()
        machines, self._machines = self._machines, {}
        if self._terms.shipped and is_over:
            await asyncio.gather(*(left(self._client, address, self._run) for address in machines))

    def machine(self, address: str) -> Machine | None:
        """The machine of a Dask worker; None if it is not there, or is being compared."""
        return self._machines.get(address)

    @property
    def fit(self) -> list[str]:
        """The addresses of all Dask workers that may play."""
        return [address for address, machine in self._machines.items() if machine is not None and not machine.problems]

    def look_at(self, present: set[str]) -> None:
        """Compare Dask workers that are new, and forget those that left."""
        self._machines = {address: machine for address, machine in self._machines.items() if address in present}
        for address in sorted(present - self._machines.keys()):
            self._compare_again(address)
        if self.fit or None in self._machines.values():
            self._since = None
        elif self._since is None:
            self._since = time.monotonic()
            self._deserted(f"{self._nobody()}; waiting up to {self._patience / 60:.0f} minutes for another one")
        elif time.monotonic() - self._since > self._patience:
            self._failed(f"{self._nobody()}, and none that can came within {self._patience / 60:.0f} minutes")

    def _nobody(self) -> str:
        reasons = [
            f"{machine.name}: {machine.problems[0]}" for machine in self._machines.values() if machine is not None
        ]
        return f"no machine of the cluster can play ({reasons[0] if reasons else 'it has no Dask workers'})"

    def suspect(self, address: str) -> None:
        """Let no task begin on a machine that does not answer, until it does. Dask itself waits for minutes."""
        if self._machines.get(address) is not None:
            self._compare_again(address)

    def _compare_again(self, address: str) -> None:
        self._machines[address] = None
        self._comparing.add(task := asyncio.get_running_loop().create_task(self._compare(address)))
        task.add_done_callback(self._comparing.discard)

    async def _compare(self, address: str) -> None:
        machine = await prepared(self._client, address, self._run, self._terms)
        if not machine.answered:
            self._machines.pop(address, None)  # it is asked again if it is still there
            return
        self._machines[address] = machine
        if machine.problems:
            self._refused(machine)
