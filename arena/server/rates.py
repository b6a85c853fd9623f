"""Rates and places that strangers share by address and by network. No I/O; the caller passes the time."""

import functools
import ipaddress
import math
import random
from collections import OrderedDict
from collections.abc import Container
from typing import Final, Generic, TypeVar

import attrs

_KEPT: Final = 10_000  # addresses, networks or names whose rate is remembered; the least recently used are forgotten
_CACHED: Final = 4096  # addresses whose networks are cached; a flood usually comes from a few

T = TypeVar("T")


@attrs.frozen
class Place:
    """Where a peer connects from. A whole IPv6 /64 counts as one address, because every host can use all of its /64."""

    address: str
    network: str  # IPv4 /24 or IPv6 /48, which often belongs to one owner


@functools.lru_cache(_CACHED)
def place_of(host: str) -> Place:
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return Place(*(str(ipaddress.ip_network((int(address), size), strict=False)) for size in (64, 48)))
        address = address.ipv4_mapped
    return Place(str(address), str(ipaddress.ip_network((int(address), 24), strict=False)))


class Bucket:
    """A rate limit: `rate` per second on average, and up to `burst` at once."""

    __slots__ = ("_even", "_gap", "_slack")

    def __init__(self, rate: float, burst: float):
        self._gap = 1 / rate
        self._slack = (burst - 1) / rate + 1e-9  # so that a rounding error does not cost one
        self._even = -math.inf  # when the next one would be due if all were evenly spaced

    def ready_at(self, now: float) -> float:
        """When `take` will succeed: now, or later."""
        return max(now, self._even - self._slack)

    def take(self, now: float) -> bool:
        """Take one if the rate allows it now; returns whether it does."""
        if self._even - self._slack > now:
            return False
        self._even = max(self._even, now) + self._gap
        return True

    def reserve(self, now: float) -> float:
        """Take one even if none is left, and return the seconds to wait until it is due."""
        wait = self.ready_at(now) - now
        self._even = max(self._even, now) + self._gap
        return wait


class Buckets:
    """One bucket per key, in bounded memory."""

    def __init__(self, rate: float, burst: float):
        self._rate, self._burst = rate, burst
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def of(self, key: str) -> Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(self._rate, self._burst)
            if len(self._buckets) > _KEPT:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket


class Shares:
    """A rate limit per address, and one per network that is `network` times as large."""

    def __init__(self, rate: float, burst: float, network: float):
        self._addresses = Buckets(rate, burst)
        self._networks = Buckets(rate * network, burst * network)

    def take(self, place: Place, now: float) -> bool:
        return self._addresses.of(place.address).take(now) and self._networks.of(place.network).take(now)


class Room(Generic[T]):
    """A limited number of places, shared between networks and addresses.

    An item that enters when all places are taken replaces the oldest item of the greediest address: the one with the
    most items in the network with the most items. An item whose address already has `per_address` places replaces
    another of the same address: the oldest, or with `at_random` any, so that each of them has a chance to stay.
    """

    def __init__(self, most: int, per_address: int, *, at_random: bool = False):
        self._most, self._per_address, self._at_random = most, per_address, at_random
        self._places: dict[T, Place] = {}  # the oldest first
        self._networks: OrderedDict[str, OrderedDict[str, dict[T, None]]] = OrderedDict()
        self._sizes: dict[str, int] = {}  # of networks

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, item: T) -> bool:
        return item in self._places

    def items(self) -> list[T]:
        return list(self._places)

    def oldest(self) -> T | None:
        return next(iter(self._places), None)

    def count(self, place: Place) -> int:
        addresses = self._networks.get(place.network)
        return len(addresses.get(place.address, ())) if addresses else 0

    def greediest(self) -> T:
        """The oldest item of the address with the most items, in the network with the most."""
        network = max(self._sizes, key=self._sizes.__getitem__)
        mine = max(self._networks[network].values(), key=len)
        return next(iter(mine))

    def has_more_than(self, place: Place) -> bool:
        """Whether the greediest network or address would still have at least as many items as the one of `place` if it
        gave up an item for it."""
        network = max(self._sizes, key=self._sizes.__getitem__)
        if network != place.network:
            return self._sizes[network] > self._sizes.get(place.network, 0) + 1
        return max(map(len, self._networks[network].values())) > self.count(place) + 1

    def enter(self, item: T, place: Place) -> T | None:
        """Add an item. Returns the item that it replaces, which is then no longer in the room, or None."""
        pushed: T | None = None
        if self.count(place) >= self._per_address:
            mine = self._networks[place.network][place.address]
            pushed = random.choice(list(mine)) if self._at_random else next(iter(mine))
        elif len(self._places) >= self._most:
            pushed = self.greediest()
        if pushed is not None:
            self.leave(pushed)
        self._places[item] = place
        self._networks.setdefault(place.network, OrderedDict()).setdefault(place.address, {})[item] = None
        self._sizes[place.network] = self._sizes.get(place.network, 0) + 1
        return pushed

    def leave(self, item: T) -> None:
        place = self._places.pop(item)
        addresses = self._networks[place.network]
        del addresses[place.address][item]
        if not addresses[place.address]:
            del addresses[place.address]
        self._sizes[place.network] -= 1
        if not addresses:
            del self._networks[place.network], self._sizes[place.network]

    def next(self, *, newest: bool = False) -> T:
        """Remove and return an item: networks take turns, then the addresses of each network, and of the address it is
        the oldest or the newest item."""
        network, addresses = next(iter(self._networks.items()))
        self._networks.move_to_end(network)
        address, mine = next(iter(addresses.items()))
        addresses.move_to_end(address)
        item = next(reversed(mine) if newest else iter(mine))
        self.leave(item)
        return item


class Floods:
    """Finds addresses and networks that connect so often that even accepting them would cost too much. Connections are
    counted over short periods, in bounded memory."""

    SECONDS: Final = 0.5  # the length of a period
    SAMPLE: Final = 16  # one connection in this many of a flood is let through, so that its end is noticed
    _COUNTED: Final = 4_000  # addresses and networks counted in one period; further ones are ignored
    _MOST: Final = 32  # reported at once

    def __init__(self, most: int):
        self._most = most  # connections of one address in a period; a network may have four times as many
        self._seen: dict[str, int] = {}
        self._since = -math.inf  # when the period began
        self._over: set[str] = set()  # addresses and networks over the limit in this period
        self._flooding: frozenset[str] = frozenset()
        self._is_new = False  # an address or network that was not reported yet is over the limit

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def look_again_at(self) -> float:
        """When to call `changed` even if no peer connects, so that the end of a flood is noticed."""
        return self._since + self.SECONDS if self._flooding else math.inf

    def add(self, place: Place) -> None:
        """Count a connection."""
        for key, most in ((place.address, self._most), (place.network, 4 * self._most)):
            if key in self._seen or len(self._seen) < self._COUNTED:
                seen = self._seen[key] = self._seen.get(key, 0) + (self.SAMPLE if key in self._flooding else 1)
                if seen > most and key not in self._over:
                    self._over.add(key)
                    self._is_new = True

    def changed(self, now: float, trusted: Container[str]) -> frozenset[str] | None:
        """The addresses and networks that are flooding now, without trusted ones; None if that has not changed. A flood
        is reported as soon as it is over the limit, its end at the end of a period."""
        is_over = now - self._since >= self.SECONDS
        if not is_over and not self._is_new:
            return None
        before = frozenset() if is_over else self._flooding
        found = [key for key in sorted(self._over, key=self._seen.__getitem__, reverse=True) if key not in trusted]
        flooding = before.union(found[: self._MOST - len(before)])
        self._is_new = False
        if is_over:
            self._seen, self._over, self._since = {}, set(), now
        if flooding == self._flooding:
            return None
        self._flooding = flooding
        return flooding
