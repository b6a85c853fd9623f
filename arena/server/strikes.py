"""Slow down guessing: answers to wrong tokens are delayed, those to right tokens never are. No I/O, but reads trio's
clock."""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import trio

_SECONDS: Final = 60.0  # how long a wrong token is remembered
_ADDRESSES: Final = 10_000  # remembered; the oldest are forgotten
_FIRST, _LONGEST = 0.5, 8.0  # seconds that an answer is delayed; the delay doubles with each guess
_HELD, _HELD_OF_ONE = 64, 8  # answers delayed at once, in all and for one address


class Strikes:
    """Counts wrong tokens by address, in bounded memory. The first `free` ones of an address in a minute count as
    mistakes and are answered at once; the answer to each further one is delayed longer. If too many answers are delayed
    at once, further guesses get none."""

    def __init__(self, free: int):
        self._free = free
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._held: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._times)

    def add(self, address: str) -> float:
        """Count another wrong token of `address`. Returns the seconds by which to delay the answer."""
        now = trio.current_time()
        times = self._times.setdefault(address, deque(maxlen=self._free + 8))
        times.append(now)
        self._times.move_to_end(address)
        if len(self._times) > _ADDRESSES:
            self._times.popitem(last=False)
        recent = sum(time > now - _SECONDS for time in times)
        return 0.0 if recent <= self._free else min(_FIRST * 2.0 ** (recent - self._free - 1), _LONGEST)

    @contextmanager
    def held(self, address: str) -> Iterator[bool]:
        """Count one answer as delayed while the block runs; yields False if there are too many already."""
        if self._held.total() >= _HELD or self._held[address] >= _HELD_OF_ONE:
            yield False
            return
        self._held[address] += 1
        try:
            yield True
        finally:
            self._held -= Counter([address])  # removes the address at zero
