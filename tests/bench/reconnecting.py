"""A bot that loses its connection all the time: `python -m tests.bench.reconnecting ADDRESS CA NAME TOKEN SECONDS`
prints how long each return took. It imports nothing heavy, because it shares a core with the server that is
measured."""

import contextlib
import json
import random
import socket
import ssl
import sys
import time

from protocol.backoff import Backoff

_PATIENCE = 15.0  # seconds for one return
_PAUSE = 0.2


def returns(address: str, ca: str, name: str, token: str, seconds: float) -> list[float]:
    """A bot that is not let in tries again as the library for bots does."""
    context = ssl.create_default_context(cafile=ca) if ca else None
    waits, session, end = [], "", time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        backoff = Backoff(_PATIENCE, began)
        wait: float | None = 0.0
        while wait is not None:
            time.sleep(wait)
            with contextlib.suppress(OSError):
                if found := _welcomed(address, context, name, token, session):
                    session = found
                    break
            wait = backoff.next_wait(time.monotonic(), random.random())
        waits.append(time.monotonic() - began)
        time.sleep(_PAUSE)
    return waits


def _welcomed(address: str, context: ssl.SSLContext | None, name: str, token: str, session: str) -> str | None:
    """The session of the welcome, if there is one."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), _PATIENCE) as plain, contextlib.ExitStack() as stack:
        connection = stack.enter_context(context.wrap_socket(plain, server_hostname=host)) if context else plain
        lines = stack.enter_context(connection.makefile("rb"))
        if not lines.readline():
            return None
        hello = {"type": "hello", "protocol": 1, "name": name, "token": token, "session": session}
        connection.sendall(json.dumps(hello).encode() + b"\n")
        answer = json.loads(lines.readline() or b"{}")
        return str(answer["session"]) if answer.get("type") == "welcome" else None


if __name__ == "__main__":
    where, trusting, called, secret, lasting = sys.argv[1:]
    print(json.dumps(returns(where, trusting, called, secret, float(lasting))))
