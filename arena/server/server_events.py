"""The events of a server, besides those of its tournaments: one class for each."""

from datetime import datetime
from typing import Any, Protocol

from arena.tournament.tournament_events import Event, TournamentEvent


class Listening(Event, frozen=True):
    kind = "listening"
    address: str
    tls: bool


class TokensUnprotected(Event, frozen=True):
    """The server listens beyond this machine, without TLS."""

    kind = "warning"


class FewDescriptors(Event, frozen=True):
    """The process may not open as many files as the connections need."""

    kind = "warning"
    limit: int
    connections: int


class NamesForgotten(Event, frozen=True):
    """The file of name claims does not contain the names of these bots, which play in the tournament."""

    kind = "warning"
    file: str
    bots: list[str]


class LobbyWaits(Event, frozen=True):
    """The tournament cannot begin yet."""

    kind = "lobby"
    here: list[str]
    missing: list[str]
    begin: str | datetime  # "all", "key" or a moment
    forever: bool
    has_begin_key: bool

    def facts(self) -> dict[str, Any]:
        return {"here": self.here, "missing": self.missing}


class BotCame(Event, frozen=True):
    kind = "came"
    bot: str
    connections: int  # of this bot, including the new one
    address: str


class BotLeft(Event, frozen=True):
    kind = "left"
    bot: str
    connections: int  # of this bot that are still open
    address: str


class CycleBegins(Event, frozen=True):
    kind = "begins"
    bots: list[str]
    cycle: int
    forever: bool

    def facts(self) -> dict[str, Any]:
        return {"bots": self.bots, "cycle": self.cycle}


class Stopping(Event, frozen=True):
    """The first signal arrived: no more matches begin."""

    kind = "stopping"


class PeerRefused(Event, frozen=True):
    kind = "refused"
    address: str
    code: str
    reason: str  # as sent to the peer
    unreported: int = 0  # incidents since the last one that was reported


class PeerBrokeProtocol(Event, frozen=True):
    """The peer broke the protocol. What it sent is left out, because it may contain a token."""

    kind = "refused"
    address: str
    code: str
    unreported: int = 0


class AcceptFailed(Event, frozen=True):
    """The system had no resources for another connection."""

    kind = "refused"
    reason: str
    unreported: int = 0


class FloodDropped(Event, frozen=True):
    """From now on the kernel drops most connection attempts from these addresses and networks."""

    kind = "refused"
    sources: list[str]
    unreported: int = 0


class FloodNotDropped(Event, frozen=True):
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
