"""The bots that the arena does not start, as a tournament sees them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from arena.plan.bot_spec import AnySpec

if TYPE_CHECKING:
    from arena.bots.player import Player


class PlayerSource(Protocol):
    """The bots that come without being started."""

    def player(self, spec: AnySpec) -> "Player":
        """The player of one match. If the bot is away now, the player waits for it when the match begins."""


class Presence(Protocol):
    """Which of the bots that connect are here."""

    @property
    def grace(self) -> float:
        """Seconds that a bot may be absent before it forfeits matches."""

    def is_free(self, name: str) -> bool:
        """Whether the bot is connected and could begin a match now."""

    def away_until(self, name: str) -> float | None:
        """The trio time at which an absent bot begins to forfeit matches; None while it is connected."""

    def held_until(self, name: str) -> float | None:
        """The trio time until which bots that could play something else wait for an absent bot; None while it is
        connected, and while there are no such bots."""

    def is_awaited(self, name: str) -> bool:
        """Whether a match under way waits for the bot to connect again."""

    def give_up(self, name: str) -> None:
        """Let the matches under way that wait for the bot go on without it."""


class RemoteBots(PlayerSource, Presence, Protocol):
    """The bots that connect."""


class PersonSource(PlayerSource, Protocol):
    """A person at this machine."""

    def attended(self, stop: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        """The person can play during the block, and then looks at how the match ended. `stop` ends the tournament."""

    def leave(self) -> None:
        """Let the person leave at once."""


class NobodyConnects:
    """The presence of bots in a tournament to which none connects."""

    grace = 0.0

    def is_free(self, name: str) -> bool:
        raise AssertionError(f"{name} cannot connect: no server listens")

    def away_until(self, name: str) -> float | None:
        raise AssertionError(f"{name} cannot connect: no server listens")

    def held_until(self, name: str) -> float | None:
        raise AssertionError(f"{name} cannot connect: no server listens")

    def is_awaited(self, name: str) -> bool:
        raise AssertionError(f"{name} cannot connect: no server listens")

    def give_up(self, name: str) -> None:
        raise AssertionError(f"{name} cannot connect: no server listens")
