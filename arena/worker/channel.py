"""Orders and reports as bytes: each is pickled, behind its length.

Both ends are the same program on a socket that nobody else has, or on machines of a cluster that the organiser trusts
(docs/cluster.md), so pickle is safe here. It carries values as they are, including texts from paths that are not UTF-8,
which msgspec refuses.
"""

import pickle
from collections.abc import Iterator
from typing import Any, Final

_LENGTH: Final = 4  # bytes


def packed(value: Any) -> bytes:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_LENGTH, "big") + data


class Unpacker:
    """Takes bytes as they arrive, and returns the values that are complete."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        self._data += data
        while len(self._data) >= _LENGTH:
            end = _LENGTH + int.from_bytes(self._data[:_LENGTH], "big")
            if len(self._data) < end:
                return
            value = pickle.loads(self._data[_LENGTH:end])
            del self._data[:end]
            yield value
