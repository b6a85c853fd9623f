"""Wait until a tournament can begin: all bots are connected, a moment has come, or the organiser says so."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import trio

from arena.plan.bot_spec import AnySpec
from arena.server.lobby import Lobby
from arena.server.server_events import LobbyWaits, ServerListener
from arena.server.wall_clock import Clock, wait_until

# A task that calls its argument each time the organiser wants the tournament to begin now.
BeginKey = Callable[[Callable[[], None]], Awaitable[None]]


def may_begin(
    begin: str | datetime, forever: bool, *, players: int, nobody_came: bool, missing: int, is_time: bool
) -> bool:
    """Whether a tournament can begin. `players` bots would take part now, and `missing` bots are expected and not
    connected. With `forever` no bot is missing, but local bots do not play cycle after cycle with each other while
    others may connect and `nobody_came`."""
    if players < 2 or (forever and nobody_came):
        return False
    return is_time or (begin == "all" and (forever or not missing))


class Gathering:
    """Waits until the next tournament can begin. `begin_key` runs while it waits. With `expects_others` bots may
    connect."""

    def __init__(
        self,
        begin: str | datetime,
        forever: bool,
        lobby: Lobby,
        listener: ServerListener,
        begin_key: BeginKey | None,
        wall_clock: Clock,
        *,
        expects_others: bool,
    ):
        self._begin = begin
        self._forever = forever
        self._expects_others = expects_others
        self._lobby = lobby
        self._listener = listener
        self._begin_key = begin_key
        self._wall_clock = wall_clock
        self._is_time = False  # the organiser said so, or the moment has come
        self._change = trio.Event()

    async def wait(self, expected: Sequence[AnySpec], players: Callable[[], Sequence[AnySpec]]) -> None:
        """Wait until the tournament can begin. `players` returns the bots that would take part now; the tournament has
        to begin with them before anything else runs."""
        self._is_time = False
        while not self._is_ready(expected, players()):  # again: a bot may leave while the tasks below end
            async with trio.open_nursery() as nursery:
                if self._begin_key is not None:
                    nursery.start_soon(self._begin_key, self._time_has_come)
                if isinstance(self._begin, datetime):
                    nursery.start_soon(self._wait_for_moment, self._begin)
                self._report(expected)
                while not self._is_ready(expected, players()):
                    self._change = trio.Event()
                    await self._change.wait()
                nursery.cancel_scope.cancel()
        self._begin = "all"  # how the first tournament began says nothing about the next ones

    def bots_changed(self) -> None:
        """Check again whether the tournament can begin, because a bot connected or left."""
        self._change.set()

    def _is_ready(self, expected: Sequence[AnySpec], players: Sequence[AnySpec]) -> bool:
        return may_begin(
            self._begin,
            self._forever,
            players=len(players),
            nobody_came=self._expects_others and not self._lobby.names(),
            missing=len(self._missing(expected)),
            is_time=self._is_time,
        )

    def _missing(self, expected: Sequence[AnySpec]) -> list[str]:
        return [bot.name for bot in expected if bot.may_be_away and not self._lobby.is_here(bot.name)]

    def _report(self, expected: Sequence[AnySpec]) -> None:
        here, missing = self._lobby.names(), self._missing(expected)
        self._listener.heard(LobbyWaits(here, missing, self._begin, self._forever, self._begin_key is not None))

    async def _wait_for_moment(self, moment: datetime) -> None:
        await wait_until(moment, self._wall_clock)
        self._time_has_come()

    def _time_has_come(self) -> None:
        self._is_time = True
        self._change.set()
