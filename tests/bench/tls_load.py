"""Honest bots through TLS, many at once: what load.c is without TLS.

python -m tests.bench.tls_load HOST PORT BOTS CA
"""

import contextlib
import re
import selectors
import socket
import ssl
import sys

_REQUEST = re.compile(rb'^\{"type":"request","id":(\d+),.*?"legal":\["([^"]+)"')


def answered(line: bytes, number: int) -> bytes | None:
    """The messages of our own server only: the fields stand in the order in which it writes them."""
    if line.startswith(b'{"type":"hello"'):
        return b'{"type":"hello","protocol":1,"name":"b%d","token":"t%d"}\n' % (number, number)
    if found := _REQUEST.match(line):
        return b'{"type":"action","id":%s,"move":"%s"}\n' % found.groups()
    return None


def main() -> None:
    host, port, count, ca = sys.argv[1:]
    context = ssl.create_default_context(cafile=ca)
    selector = selectors.DefaultSelector()
    for number in range(1, int(count) + 1):
        connection = context.wrap_socket(socket.create_connection((host, int(port))), server_hostname=host)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, (number, bytearray()))
    while selector.get_map():
        for key, _ in selector.select():
            speaker, (number, unread) = key.fileobj, key.data
            assert isinstance(speaker, ssl.SSLSocket)
            with contextlib.suppress(ssl.SSLWantReadError):
                data = speaker.recv(1 << 17)
                if not data:
                    selector.unregister(speaker)
                    speaker.close()
                    continue
                unread += data
            while (end := unread.find(b"\n")) >= 0:
                if answer := answered(bytes(unread[:end]), number):
                    speaker.sendall(answer)
                del unread[: end + 1]


if __name__ == "__main__":
    main()
