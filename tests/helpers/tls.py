"""A certificate for the server of a test, and visitors that trust it."""

import ssl
from pathlib import Path

import trio
import trustme

from tests.helpers.visitors import Visitor, connected


def certified(folder: Path) -> tuple[dict[str, str], ssl.SSLContext]:
    """The options of a server with a new certificate, and a context for clients that trust it."""
    authority, pem, trusting = trustme.CA(), folder / "server.pem", ssl.create_default_context()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(pem)
    authority.configure_trust(trusting)
    return {"cert": str(pem), "key": str(pem)}, trusting


async def connected_securely(address: str, trusting: ssl.SSLContext) -> Visitor:
    visitor = await connected(address)
    visitor.stream = trio.SSLStream(visitor.stream, trusting, server_hostname="127.0.0.1", https_compatible=True)
    return visitor
