"""The events of a server, besides those of its tournaments: one class for each."""

from datetime import datetime
from typing import Any, Protocol

import attrs

from arena.tournament.events import Event, TournamentEvent


@attrs.frozen
class Listening(Event):
    kind = "listening"
    address: str
    tls: bool


@attrs.frozen
class TokensUnprotected(Event):
    """The server listens beyond this machine, without TLS."""

    kind = "warning"


@attrs.frozen
class FewDescriptors(Event):
    """The process may not open as many files as the connections need."""

    kind = "warning"
    limit: int
    connections: int


@attrs.frozen
class NamesForgotten(Event):
    """The file of name claims does not contain the names of these bots, which play in the tournament."""

    kind = "warning"
    file: str
    bots: list[str]


@attrs.frozen
class LobbyWaits(Event):
    """The tournament cannot begin yet."""

    kind = "lobby"
    here: list[str]
    missing: list[str]
    begin: str | datetime  # "all", "key" or a moment
    forever: bool
    has_begin_key: bool

    def facts(self) -> dict[str, Any]:
        return {"here": self.here, "missing": self.missing}


@attrs.frozen
class BotCame(Event):
    kind = "came"
    bot: str
    connections: int  # of this bot, including the new one
    address: str


@attrs.frozen
class BotLeft(Event):
    kind = "left"
    bot: str
    connections: int  # of this bot that are still open
    address: str


@attrs.frozen
class CycleBegins(Event):
    kind = "begins"
    bots: list[str]
    cycle: int
    forever: bool

    def facts(self) -> dict[str, Any]:
        return {"bots": self.bots, "cycle": self.cycle}


@attrs.frozen
class Stopping(Event):
    """The first signal arrived: no more matches begin."""

    kind = "stopping"


@attrs.frozen
class PeerRefused(Event):
    kind = "refused"
    address: str
    code: str
    reason: str  # as sent to the peer
    unreported: int = 0  # incidents since the last one that was reported


@attrs.frozen
class PeerBrokeProtocol(Event):
    """The peer broke the protocol. What it sent is left out, because it may contain a token."""

    kind = "refused"
    address: str
    code: str
    unreported: int = 0


@attrs.frozen
class AcceptFailed(Event):
    """The system had no resources for another connection."""

    kind = "refused"
    reason: str
    unreported: int = 0


@attrs.frozen
class FloodDropped(Event):
    """From now on the kernel drops most connection attempts from these addresses and networks."""

    kind = "refused"
    sources: list[str]
    unreported: int = 0


@attrs.frozen
class FloodNotDropped(Event):
    """The kernel cannot drop connection attempts."""

    kind = "refused"
    reason: str
    unreported: int = 0


Incident = PeerRefused | PeerBrokeProtocol | AcceptFailed | FloodDropped | FloodNotDropped
ServerEvent = (
    Listening
    | TokensUnprotected
    | FewDescriptors
    | NamesForgotten
    | LobbyWaits
    | BotCame
    | BotLeft
    | CycleBegins
    | Stopping
    | Incident
)


class ServerListener(Protocol):
    def heard(self, event: ServerEvent | TournamentEvent, /) -> None: ...
