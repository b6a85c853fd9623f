"""Compare a whole cluster with the machine of the tournament, before anything is played."""

import asyncio
import uuid
from collections.abc import Awaitable
from typing import Any

from arena.cluster.machine_facts import PEERS, installed
from arena.cluster.preparation import Machine, Terms, left, prepared
from arena.cluster.scheduler import SILENT_SECONDS, ClusterError, closed, connected, reason_of


def compared(address: str, terms: Terms) -> list[Machine]:
    """All Dask workers of the cluster, and what is wrong with each. Raises ClusterError if there are none, or if the
    scheduler cannot be used."""
    return asyncio.run(_compared(address, terms))


async def _compared(address: str, terms: Terms) -> list[Machine]:
    client, run = await connected(address), uuid.uuid4().hex
    try:
        await _check_scheduler(client, address)
        found = await asyncio.gather(*(prepared(client, worker, run, terms) for worker in await _workers(client)))
        if terms.shipped:
            await asyncio.gather(*(left(client, machine.address, run) for machine in found))
        there = await _workers(client)  # some may have left meanwhile
        found = [machine for machine in found if machine.address in there]
    except OSError as error:
        raise ClusterError(f"the scheduler at {address} was lost: {reason_of(error)}") from None
    finally:
        await closed(client)
    if not found:
        raise ClusterError(f"the cluster of {address} has no workers; `dask worker {address}` starts one")
    return found


async def _workers(client: Any) -> list[str]:
    """The addresses of all Dask workers."""
    return sorted((await _answer(client.scheduler.identity()))["workers"])


async def _answer(question: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """What the scheduler answers. Raises TimeoutError: Dask itself waits for ever."""
    return await asyncio.wait_for(question, SILENT_SECONDS)


async def _check_scheduler(client: Any, address: str) -> None:
    """Raise ClusterError if the scheduler does not speak as we do."""
    packages = (await _answer(client.scheduler.versions()))["packages"]
    for name in PEERS:
        theirs, ours = packages.get(name) or "not installed", installed(name)
        if name != "cloudpickle" and theirs != ours:
            raise ClusterError(
                f"the scheduler at {address} has {name} {theirs}, here it is {ours}; install the same version on all "
                f"machines, for example `pip install {name}=={ours}`"
            )
