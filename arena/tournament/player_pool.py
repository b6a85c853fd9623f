"""Provide the players of a match: processes, which are kept between matches, and connections from outside."""

from typing import Final, Protocol

from arena.bots.player import LocalPlayer, Player, Processes
from arena.bots.stderr import StderrKeeper
from arena.bots.wants import Logic
from arena.plan.bot_spec import AnySpec, RemoteSpec

_IDLE_BOTS: Final = 8  # idle processes kept, for each match that may be played at once


class RemoteBots(Protocol):
    """The bots that connect from outside."""

    @property
    def grace(self) -> float:
        """Seconds that a bot may be absent before it forfeits matches."""

    def is_free(self, name: str) -> bool:
        """Whether the bot is connected and could begin a match now."""

    def away_until(self, name: str) -> float | None:
        """The trio time at which an absent bot begins to forfeit matches; None while it is connected."""

    def player(self, spec: RemoteSpec) -> Player:
        """The player of one match; if the bot is not free, a player that is not connected."""

    def let_go(self, player: Player) -> None:
        """Free the player of a match that is over."""


class NoRemoteBots:
    """For a tournament without bots that connect."""

    grace = 0.0

    def is_free(self, name: str) -> bool:
        raise AssertionError(f"{name} cannot connect: no server listens")

    def away_until(self, name: str) -> float | None:
        raise AssertionError(f"{name} cannot connect: no server listens")

    def player(self, spec: RemoteSpec) -> Player:
        raise AssertionError(f"{spec.name} cannot connect: no server listens")

    def let_go(self, player: Player) -> None:
        raise AssertionError(f"{player.spec.name} cannot connect: no server listens")


class Seats:
    """Gives players to matches and takes them back. The processes of local bots belong to `processes`."""

    def __init__(
        self,
        bots: tuple[AnySpec, ...],
        remote_bots: RemoteBots,
        processes: Processes,
        concurrency: int,
        keeper: "StderrKeeper",
    ):
        self._bots = bots
        self._remote_bots = remote_bots
        self._processes = processes
        self._idle_limit = _IDLE_BOTS * concurrency
        self._keeper = keeper
        self._idle: list[tuple[int, LocalPlayer]] = []  # the most recently used last

    def take(self, number: int) -> Player:
        spec = self._bots[number]
        if isinstance(spec, RemoteSpec):
            return self._remote_bots.player(spec)
        for place in reversed(range(len(self._idle))):
            if self._idle[place][0] == number:
                return self._idle.pop(place)[1]
        return LocalPlayer(spec, self._processes, self._keeper.of(number, spec))

    def give_back(self, number: int, player: Player) -> Logic[None]:
        if not isinstance(player, LocalPlayer):
            self._remote_bots.let_go(player)
            return
        self._idle.append((number, player))
        while len(self._idle) > self._idle_limit:
            yield from self._idle.pop(0)[1].leave()

    def clear(self) -> Logic[None]:
        """End all idle processes."""
        while self._idle:
            yield from self._idle.pop()[1].leave()
