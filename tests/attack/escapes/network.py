"""Attempts to reach a network, or another process through one."""

from __future__ import annotations

import socket
import time

from arena.devtools.sandbox_attempts import Attempts, NoEffectError
from tests.attack.escapes.all_targets import AllTargets

NETWORK = Attempts()
_ANSWER_SECONDS = 1.0
_PLAIN_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_MOST_FAMILIES = 64
_KINDS = (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)


@NETWORK.add("a bot does not connect to a program on this machine by TCP over IPv6")
def connect_to_loopback_6(targets: AllTargets) -> str:
    socket.create_connection(("::1", targets.tcp6), _ANSWER_SECONDS).close()
    return "it connected"


@NETWORK.add("a bot sends no datagrams to a program on this machine")
def send_datagram(targets: AllTargets) -> str:
    """Twice: the kernel refuses the second one if nobody listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", targets.udp))
        for _ in range(2):
            client.send(b"hello")
            time.sleep(_ANSWER_SECONDS / 10)
    return "it was heard"


@NETWORK.add("a bot has no way to a server for names (DNS)")
def find_name_server(_: AllTargets) -> str:
    with open("/etc/resolv.conf", encoding="utf-8") as file:
        servers = [words[1] for words in map(str.split, file) if words[:1] == ["nameserver"]]
    if not servers:
        raise NoEffectError("no server is named")
    family = socket.AF_INET6 if ":" in servers[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.connect((servers[0], 53))
    return f"there is a way to {servers[0]}"


@NETWORK.add("a bot does not reach the abstract sockets of this machine")
def reach_abstract_socket(targets: AllTargets) -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_ANSWER_SECONDS)
        client.connect("\0" + targets.abstract)
    return "it connected"


@NETWORK.add("a bot has no sockets to the host of a virtual machine (vsock)")
def open_vsock(_: AllTargets) -> str:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    return "it has such a socket"


@NETWORK.add("a bot has no sockets to the kernel (netlink)")
def open_netlink(_: AllTargets) -> str:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()
    return "it has such a socket"


@NETWORK.add("a bot has no sockets to network cards (packet)")
def open_packet(_: AllTargets) -> str:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    return "it has such a socket"


@NETWORK.add("a bot has no sockets of any other rare family")
def open_rare_socket(_: AllTargets) -> str:
    for family in set(range(_MOST_FAMILIES)) - set(_PLAIN_FAMILIES):
        for kind in _KINDS:
            try:
                socket.socket(family, kind).close()
            except OSError:
                continue  # the next one may be open
            return f"it has a socket of family {family}"
    raise NoEffectError("there are none")
