"""Let the kernel drop a flood of connections before it costs the server anything (Linux).

Accepting a connection and closing it again takes about 15 µs; a machine on the same network can open 30,000 per second.
A small program attached to the listening socket (a classic BPF filter, which needs no privileges) drops most SYN
packets from the given addresses. It examines only SYN packets, so it does not affect open connections, although their
sockets inherit it.
"""

import ctypes
import ipaddress
import socket
import struct
from collections.abc import Iterable
from typing import Final

_SO_ATTACH_FILTER: Final = 26
_SO_DETACH_FILTER: Final = 27
# Opcodes.
_LOAD, _LOAD_BYTE, _AND, _SHIFT_RIGHT = 0x20, 0x30, 0x54, 0x74
_JUMP, _IF_EQUAL, _IF_GREATER, _RETURN = 0x05, 0x15, 0x25, 0x06
# Offsets count from the TCP header; with _IP added, from the IP header.
_IP: Final = 0xFFF00000
_TCP_FLAGS, _SYN, _SYN_OR_ACK = 13, 0x02, 0x12
_SOURCE_V4, _SOURCE_V6 = _IP + 12, _IP + 8
_RANDOM: Final = 0xFFFFF000 + 56
_PASS, _DROP = 0xFFFFFFFF, 0

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, value
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def program(flooding: Iterable[str], sample: int) -> list[Instruction]:
    """A BPF program that drops SYN packets from these addresses and networks, except one in `sample`, and passes all
    other packets."""
    networks = sorted((ipaddress.ip_network(text) for text in flooding), key=lambda each: (each.version, str(each)))
    checks = {version: [_check(each) for each in networks if each.version == version] for version in (4, 6)}
    sizes = {version: sum(map(len, checks[version])) + 1 for version in (4, 6)}
    head: list[Instruction] = [
        (_LOAD_BYTE, 0, 0, _TCP_FLAGS),
        (_AND, 0, 0, _SYN_OR_ACK),
        (_IF_EQUAL, 1, 0, _SYN),
        (_RETURN, 0, 0, _PASS),
        (_LOAD_BYTE, 0, 0, _IP),
        (_SHIFT_RIGHT, 0, 0, 4),
        (_IF_EQUAL, 1, 0, 4),
        (_JUMP, 0, 0, sizes[4]),
    ]
    body: list[Instruction] = []
    end = sizes[4] + sizes[6]  # where the sample is taken
    for version in (4, 6):
        for check in checks[version]:
            body += check[:-1]
            body.append((_JUMP, 0, 0, end - len(body) - 1))
        body.append((_RETURN, 0, 0, _PASS))
    tail: list[Instruction] = [
        (_LOAD, 0, 0, _RANDOM),
        (_IF_GREATER, 0, 1, 0xFFFFFFFF // sample),
        (_RETURN, 0, 0, _DROP),
        (_RETURN, 0, 0, _PASS),
    ]
    return head + body + tail


def _check(network: Network) -> list[Instruction]:
    """Instructions that fall through to what follows them unless the source is in this network. If it is, the last one,
    a jump whose distance the caller fills in, is executed."""
    size, source = (4, _SOURCE_V4) if network.version == 4 else (8, _SOURCE_V6)  # half of an IPv6 address is enough
    wanted, mask = network.network_address.packed[:size], network.netmask.packed[:size]
    words = list(zip(struct.unpack(f"!{size // 4}I", wanted), struct.unpack(f"!{size // 4}I", mask), strict=True))
    found: list[Instruction] = []
    for number, (word, bits) in enumerate(words):
        behind = 3 * (len(words) - number - 1) + 1  # the rest of the check
        found += [(_LOAD, 0, 0, source + 4 * number), (_AND, 0, 0, bits), (_IF_EQUAL, 0, behind, word)]
    return [*found, (_JUMP, 0, 0, 0)]


def set_filter(listening: socket.socket, flooding: Iterable[str], sample: int) -> None:
    """Make the kernel drop connections from the addresses and networks in `flooding`, except one in `sample`; remove
    the filter if there are none. Raises OSError if the system does not support such filters."""
    if not (named := list(flooding)):
        listening.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
        return
    instructions = program(named, sample)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in instructions))
    described = struct.pack("@HP", len(instructions), ctypes.addressof(code))
    listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, described)
