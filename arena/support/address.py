"""Parse HOST:PORT addresses and listen at them."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import trio


class AddressError(Exception):
    """The text is not an address, or the arena cannot listen at it."""


def parse_address(text: str) -> tuple[str, int]:
    """Split HOST:PORT into its two parts, without the brackets of an IPv6 address. Raises AddressError."""
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise AddressError(f"{text!r} is not an address; it looks like 127.0.0.1:4000 or [::1]:4000")
    return host.removeprefix("[").removesuffix("]"), int(port)


async def open_listener(address: str) -> "trio.SocketListener":
    """Listen for TCP connections at HOST:PORT. Raises AddressError."""
    import trio  # imported here, so that commands that only parse an address start quickly

    host, port = parse_address(address)
    try:
        first, *others = await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        raise AddressError(f"cannot listen at {address}: {error.strerror}") from None
    for other in others:  # a host name may have several addresses; one is enough, and it is the one that we report
        await other.aclose()
    return first


def address_of(listener: "trio.SocketListener") -> str:
    """HOST:PORT of a listener, with the port that the system chose if port 0 was requested."""
    host, port, *_ = listener.socket.getsockname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
