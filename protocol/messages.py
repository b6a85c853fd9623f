"""One struct for each message, and one strict decoder for each direction.

Unknown fields are ignored, so that either side can add new ones.
"""

from collections.abc import Callable
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Struct

from protocol.decoding import LineDecoder
from protocol.names import Name

PROTOCOL: Final = 1

Seat = Literal[0, 1]
Side = Literal["you", "opponent"]
Result = Literal["win", "loss", "draw"]
Phase = Literal["claim", "play", "draw", "return"]
# The largest integer up to which a double is exact: in many languages all numbers are doubles.
_MOST: Final = 2**53 - 1
Id = Annotated[int, Meta(ge=0, le=_MOST)]
Count = Annotated[int, Meta(ge=0, le=_MOST)]
# What a bot may seed its own random generator with: too large to be found by trying all of them during a round.
BotSeed = Annotated[int, Meta(ge=0, le=_MOST)]


class _Message(Struct, frozen=True, tag_field="type"):
    """The base class of all messages. The tag of a class is the `type` of its messages on the wire."""


class Points(Struct, frozen=True, gc=False):
    """The points of a match, as one side sees them."""

    yours: Count
    theirs: Count


# From the server to the bot


class ServerHello(_Message, frozen=True, tag="hello"):
    """The first message of a connection: the server's protocol number and what it is."""

    protocol: Count
    server: str


class Welcome(_Message, frozen=True, tag="welcome", omit_defaults=True):
    """The bot is accepted: the name under which it plays, and what lets it come back after a lost connection."""

    name: Name
    session: str | None = None  # of this connection; the bot sends it when it reconnects after losing the connection
    seed: BotSeed | None = None  # of the round for which the arena started the bot


class MatchClock(Struct, frozen=True):
    """The time that a bot has in each round of a match; None is no limit."""

    move_ms: Count | None
    bank_ms: Count | None
    increment_ms: Count


class MatchStart(_Message, frozen=True, tag="match_start"):
    """A match begins."""

    match: str
    opponent: Name
    rounds: Count
    rules: str
    clock: MatchClock


class RoundStart(_Message, frozen=True, tag="round_start", omit_defaults=True):
    """A round begins, and the cards are dealt."""

    round: Count
    seat: Seat
    first: Side
    hand: tuple[str, ...]
    points: Points
    deal_hash: str
    attempt: Count = 1  # above 1 if an earlier attempt at the round may have been played; it has a new deal then
    seed: BotSeed | None = None  # for the bot's own randomness in this round; no other bot knows it


class StoneState(Struct, frozen=True, gc=False):
    """One stone, as one side sees it. `needs` is the number of cards that completes a side."""

    yours: tuple[str, ...]
    theirs: tuple[str, ...]
    owner: Side | None
    needs: Count
    modes: tuple[str, ...]
    complete_first: Side | None


class CardCounts(Struct, frozen=True, gc=False):
    """How many clan and how many tactic cards there are, where their faces are hidden."""

    clan: Count
    tactic: Count


class TacticsPlayed(Struct, frozen=True, gc=False):
    """The tactic cards that each side has played, the oldest first."""

    yours: tuple[str, ...]
    theirs: tuple[str, ...]


class Recruiter(Struct, frozen=True, gc=False):
    """What is left to do of a recruiter that is being played."""

    draws_left: Count
    returns_left: Count


class GameState(Struct, frozen=True, gc=False):
    """All that one side may see of a round. The stones are listed from left to right."""

    hand: tuple[str, ...]
    stones: tuple[StoneState, ...]
    decks: CardCounts
    opponent_hand: CardCounts
    discard: tuple[str, ...]
    tactics_played: TacticsPlayed
    recruiter: Recruiter | None  # while one is being played
    points: Points


class MoveEvent(Struct, frozen=True, gc=False):
    """An action, as the side that gets the message may know it."""

    by: Side
    move: str


class Clock(Struct, frozen=True, gc=False):
    """The time that is left for the answer, and in the bank; None is no limit."""

    move_ms: Count | None
    bank_ms: Count | None


class Request(_Message, frozen=True, tag="request", kw_only=True, omit_defaults=True, gc=False):
    """A question for a move, with everything that is needed to decide."""

    id: Id
    phase: Phase
    legal: tuple[str, ...] = ()  # never empty; left out for a bot that asked for requests without it
    state: GameState
    events: tuple[MoveEvent, ...]
    clock: Clock


class EncodedRequest(Struct, frozen=True, gc=False):
    """A request as the arena makes it: encoded already, because most of it is as in the one before."""

    id: Id
    line: bytes

    def with_id(self, number: int) -> "EncodedRequest":
        """The same request with another id, which is the first one in the line."""
        return EncodedRequest(number, self.line.replace(b'"id":%d,' % self.id, b'"id":%d,' % number, 1))

    def decoded(self) -> Request:
        """The request as a message, for peers that do not read lines."""
        request: Request = msgspec.json.decode(self.line, type=Request)
        return request


class RevealedDeal(Struct, frozen=True, omit_defaults=True):
    """A deal that was played, with the salt of its hash."""

    round: Count
    deck: tuple[str, ...]
    tactics: tuple[str, ...]
    salt: str
    attempt: Count = 1


class LastNews(Struct, frozen=True, gc=False):
    """What a bot learns of the position when a round is over."""

    state: GameState
    events: tuple[MoveEvent, ...]


class EncodedNews(Struct, frozen=True, gc=False):
    """The same as the arena makes it, which is JSON already."""

    state: str
    events: str

    def decoded(self) -> LastNews:
        """The position and the events as messages."""
        text = f'{{"state":{self.state},"events":{self.events}}}'
        news: LastNews = msgspec.json.decode(text.encode(), type=LastNews)
        return news


class RoundEnd(_Message, frozen=True, tag="round_end"):
    """A round is over: how it ended, the last position, and the deals that are revealed."""

    round: Count
    result: Result
    ending: str
    points: Points
    stones: tuple[Side | None, ...]
    deals: tuple[RevealedDeal, ...]
    state: GameState | None = None  # None from a server that is older than this field
    events: tuple[MoveEvent, ...] = ()  # since the bot's last request


class MatchEnd(_Message, frozen=True, tag="match_end"):
    """A match is over."""

    match: str
    result: Result
    points: Points


class Error(_Message, frozen=True, tag="error"):
    """What the peer did wrong. After a fatal one the server closes the connection."""

    code: str
    message: str
    fatal: bool


class Bye(_Message, frozen=True, tag="bye", omit_defaults=True):
    """The server closes the connection, for this reason."""

    reason: str
    again: bool = False  # whether the bot may connect again, because its place is kept


# From the server to spectators

BothSides = tuple[tuple[str, ...], tuple[str, ...]]  # by seat
Both = tuple[Count, Count]  # by seat


class Watching(_Message, frozen=True, tag="watching"):
    """The spectator is accepted."""

    event: str
    delay_ms: Count
    hands: bool


class WatchedStone(Struct, frozen=True):
    """One stone, as a spectator sees it; sides are listed by seat."""

    sides: BothSides
    owner: Seat | None
    needs: Count
    modes: tuple[str, ...]
    complete_first: Seat | None


class WatchedPosition(_Message, frozen=True, tag="position", kw_only=True):
    """A position of a round that a spectator watches, and the move that led to it."""

    match: str
    round: Count
    rules: str
    bots: tuple[Name, Name]
    first: Seat
    points: Both
    number: Count
    seat: Seat | None
    move: str | None
    ms: Count | None
    stones: tuple[WatchedStone, ...]
    hands: BothSides
    decks: CardCounts
    discard: tuple[str, ...]
    tactics_played: BothSides
    phase: str
    to_move: Seat | None


class WatchedResult(_Message, frozen=True, tag="result"):
    """How a round that a spectator watches ended."""

    match: str
    round: Count
    bots: tuple[Name, Name]
    winner: Seat | None
    ending: str
    points: Both


# From the bot to the server


class BotHello(_Message, frozen=True, tag="hello", omit_defaults=True):
    """The bot's answer to the server's hello: its name and what it asks for."""

    protocol: Count
    name: Name
    version: str | None = None
    author: str | None = None
    token: str | None = None
    legal: bool = True
    session: str | None = None  # of the lost connection that this one replaces
    watch: str | None = None  # the peer is a spectator of this match, or of any match if it is empty


class BotAction(_Message, frozen=True, tag="action", omit_defaults=True, gc=False):
    """The bot's answer to a request."""

    id: Id
    move: str
    note: str | None = None


WatcherMessage = Watching | WatchedPosition | WatchedResult
ServerMessage = (
    ServerHello
    | Welcome
    | MatchStart
    | RoundStart
    | Request
    | RoundEnd
    | MatchEnd
    | Error
    | Bye
    | Watching
    | WatchedPosition
    | WatchedResult
)
BotMessage = BotHello | BotAction
Message = ServerMessage | BotMessage

_encoder = msgspec.json.Encoder()


def encode(message: Message) -> bytes:
    """The message as one line, with its newline."""
    return _encoder.encode(message) + b"\n"


# Quoted to the author of a bot that sends a malformed message of this type.
_EXAMPLES: Final[dict[type[Struct], str]] = {
    BotHello: '{"type":"hello","protocol":1,"name":"mybot"}',
    BotAction: '{"type":"action","id":17,"move":"play r5 1"}',
}

# The message that a bot or a server sent. Both raise RemoteProtocolError, which says what is wrong with the line.
decode_from_bot: Final[Callable[[bytes], BotMessage]] = LineDecoder(BotMessage, _EXAMPLES).decode
decode_from_server: Final[Callable[[bytes], ServerMessage]] = LineDecoder(ServerMessage, {}).decode
