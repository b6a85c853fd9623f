"""HOST:PORT as people write it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import trio


class AddressError(Exception):
    """What somebody wrote is no address, or cannot be listened at."""


def parse_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise AddressError(f"{text!r} is no address; it looks like 127.0.0.1:4000 or [::1]:4000")
    return host.removeprefix("[").removesuffix("]"), int(port)


async def open_listener(address: str) -> "trio.SocketListener":
    import trio  # here: a command line that only reads an address should not wait for it

    host, port = parse_address(address)
    try:
        first, *others = await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        raise AddressError(f"cannot listen at {address}: {error.strerror}") from None
    for other in others:  # a name may stand for several addresses; one is enough, and is the one we tell
        await other.aclose()
    return first


def address_of(listener: "trio.SocketListener") -> str:
    host, port, *_ = listener.socket.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
