"""What `arena connect` reports while its bot plays: one class for each event."""

import attrs

from protocol.messages import Points, Result


@attrs.frozen
class Record:
    """How many matches or rounds a bot has won, lost and drawn."""

    won: int = 0
    lost: int = 0
    drawn: int = 0

    @property
    def total(self) -> int:
        return self.won + self.lost + self.drawn

    def with_result(self, result: Result) -> "Record":
        match result:
            case "win":
                return attrs.evolve(self, won=self.won + 1)
            case "loss":
                return attrs.evolve(self, lost=self.lost + 1)
            case "draw":
                return attrs.evolve(self, drawn=self.drawn + 1)


@attrs.frozen
class Welcomed:
    """The server accepted the bot."""

    address: str
    name: str
    again: bool  # an earlier connection was lost


@attrs.frozen
class MatchBegan:
    match: str
    opponent: str
    rounds: int


@attrs.frozen
class MatchEnded:
    match: str
    opponent: str
    result: Result
    points: Points
    matches: Record  # so far, including this one


@attrs.frozen
class Reconnecting:
    """The connection failed or was lost, and other attempts follow, for this many seconds at most."""

    problem: str
    seconds: float


@attrs.frozen
class ServerComplained:
    """The server sent an error to the bot."""

    code: str
    message: str


@attrs.frozen
class DealNotAsPromised:
    """A revealed deal does not match the hash that the server gave before the round."""

    problem: str


@attrs.frozen
class TokenUnprotected:
    """The token is sent to another machine without TLS."""


@attrs.frozen
class ServerSaidBye:
    reason: str
    deals: str  # says whether they matched their hashes


@attrs.frozen
class PlayEnded:
    """All connections have ended."""

    matches: Record
    rounds: Record
    points: Points


@attrs.frozen
class RoundNotKept:
    """A round could not be written to the bot's own journal."""

    problem: str


ClientEvent = (
    Welcomed
    | MatchBegan
    | MatchEnded
    | Reconnecting
    | ServerComplained
    | DealNotAsPromised
    | TokenUnprotected
    | ServerSaidBye
    | PlayEnded
    | RoundNotKept
)
