"""A connection to the scheduler of a Dask cluster, and what goes wrong with it, in words of ours."""

import asyncio
import logging
import os
import socket
import warnings
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import urlsplit

from distributed import Client

_CONNECT_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 20.0  # Dask itself waits for ever for a scheduler that accepts the connection and says nothing
_CLOSE_SECONDS: Final = 10.0

# What happens to the cluster is said by us, in one line. Each logger may have a level of its own.
for _name in (
    "asyncio",
    "tornado",
    *(name for name in logging.root.manager.loggerDict if name.startswith("distributed")),
):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class ClusterError(Exception):
    """The cluster cannot be used; the text says why, and what would help."""


async def connected(address: str) -> Any:
    """A client of the cluster. Raises ClusterError."""
    try:
        await _reach(address)
    except (OSError, ValueError) as error:  # ValueError: there is no such port
        raise _not_there(address, error) from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # versions are compared by cluster-check, in words of ours
        make: Any = Client  # it is not typed
        client = make(address, asynchronous=True, timeout=_CONNECT_SECONDS, set_as_default=False, name="schotten-arena")
        try:
            await asyncio.wait_for(client, SILENT_SECONDS)
        except OSError as error:
            await closed(client)
            raise _not_there(address, error) from None
        except Exception as error:  # whatever Dask raises if it is not a scheduler, or one of another version
            await closed(client)
            raise ClusterError(
                f"the scheduler at {address} cannot be used, perhaps because its version of Dask is not the one here, "
                f"which `pip install distributed=={version('distributed')}` installs there: {reason_of(error)}"
            ) from None
    return client


async def _reach(address: str) -> None:
    """Raise OSError if nothing listens there: Dask would try for some seconds, and then often not know why it failed.
    Raises ValueError if the address has no possible port."""
    place, loop = urlsplit(address), asyncio.get_running_loop()
    found = await loop.getaddrinfo(place.hostname, place.port, type=socket.SOCK_STREAM)
    for number, (family, kind, protocol, _, there) in enumerate(found, start=1):
        with socket.socket(family, kind, protocol) as probe:
            probe.setblocking(False)
            try:
                await asyncio.wait_for(loop.sock_connect(probe, there), _CONNECT_SECONDS)
            except OSError:
                if number == len(found):
                    raise
            else:
                return


def _not_there(address: str, error: Exception) -> ClusterError:
    return ClusterError(f"there is no Dask scheduler at {address}: {reason_of(error)}; `dask scheduler` starts one")


def reason_of(error: BaseException) -> str:
    """The words of an error that Dask raised, or of what caused it, on one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, TimeoutError | asyncio.CancelledError):
        return "it does not answer"
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        # asyncio's own words for a failed connection name only the address; negative are those of name resolution.
        text = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
    return " ".join(text.split()) or type(error).__name__


async def closed(client: Any) -> None:
    """Close a client, even if its scheduler does not answer."""
    try:
        await client.close(timeout=_CLOSE_SECONDS)
    except Exception:  # it is given up in any case
        return
