"""HOST:PORT as people write it."""

import trio


class AddressError(Exception):
    """What somebody wrote is no address, or cannot be listened at."""


def parse_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise AddressError(f"{text!r} is no address; it looks like 127.0.0.1:4000 or [::1]:4000")
    return host.removeprefix("[").removesuffix("]"), int(port)


async def open_listener(address: str) -> trio.SocketListener:
    host, port = parse_address(address)
    try:
        return (await trio.open_tcp_listeners(port, host=host))[0]
    except OSError as error:
        raise AddressError(f"cannot listen at {address}: {error.strerror}") from None
