"""Wrong tokens: a guess is answered late, a right token never is. Pure, but for the time."""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import trio

_SECONDS: Final = 60.0  # how long a wrong token is remembered
_ADDRESSES: Final = 10_000  # remembered at most; the oldest are forgotten
_FIRST, _LONGEST = 0.5, 8.0  # seconds that an answer is held back, doubled for each guess
_HELD, _HELD_OF_ONE = 64, 8  # answers held back at once, in all and for one address


class Strikes:
    """Wrong tokens by address, in bounded memory. The first `free` of an address in a minute are mistakes, and answered
    at once; each further answer is held back for longer. More than some at once get none."""

    def __init__(self, free: int):
        self._free = free
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._held: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._times)

    def add(self, address: str) -> float:
        """Another one. Returns for how many seconds its answer is held back."""
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
        """While the block runs an answer is held back; false if there are too many already."""
        if self._held.total() >= _HELD or self._held[address] >= _HELD_OF_ONE:
            yield False
            return
        self._held[address] += 1
        try:
            yield True
        finally:
            self._held -= Counter([address])  # forgets it at zero
