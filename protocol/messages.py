"""One struct for each message, and one strict decoder for each direction.

Unknown fields are ignored, so that either side may learn new ones.
"""

import re
from functools import cache
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from protocol.errors import Code, RemoteProtocolError
from protocol.names import NAME_RULE, Name, is_recorded_name, name_problem
from protocol.names import is_name as is_name

PROTOCOL: Final = 1

Seat = Literal[0, 1]
Side = Literal["you", "opponent"]
Result = Literal["win", "loss", "draw"]
Phase = Literal["claim", "play", "draw", "return"]
# What fits exactly in a double, because that is what numbers are in many languages.
_MOST: Final = 2**53 - 1
Id = Annotated[int, Meta(ge=0, le=_MOST)]
Count = Annotated[int, Meta(ge=0, le=_MOST)]


class _Message(Struct, frozen=True, tag_field="type"):
    """What crosses the wire; its `type` is the tag of the class."""


class Points(Struct, frozen=True, gc=False):
    yours: Count
    theirs: Count


# From the server to the bot


class ServerHello(_Message, frozen=True, tag="hello"):
    protocol: Count
    server: str


class Welcome(_Message, frozen=True, tag="welcome", omit_defaults=True):
    name: Name
    session: str | None = None  # of this connection; whoever lost it says so when it comes back


class MatchClock(Struct, frozen=True):
    move_ms: Count | None
    bank_ms: Count | None
    increment_ms: Count


class MatchStart(_Message, frozen=True, tag="match_start"):
    match: str
    opponent: Name
    rounds: Count
    rules: str
    clock: MatchClock


class RoundStart(_Message, frozen=True, tag="round_start", omit_defaults=True):
    round: Count
    seat: Seat
    first: Side
    hand: tuple[str, ...]
    points: Points
    deal_hash: str
    attempt: Count = 1  # more if the round was played before, or may have been, and is dealt anew


class StoneState(Struct, frozen=True, gc=False):
    yours: tuple[str, ...]
    theirs: tuple[str, ...]
    owner: Side | None
    needs: Count
    modes: tuple[str, ...]
    complete_first: Side | None


class CardCounts(Struct, frozen=True, gc=False):
    clan: Count
    tactic: Count


class TacticsPlayed(Struct, frozen=True, gc=False):
    yours: tuple[str, ...]
    theirs: tuple[str, ...]


class Recruiter(Struct, frozen=True, gc=False):
    draws_left: Count
    returns_left: Count


class GameState(Struct, frozen=True, gc=False):
    hand: tuple[str, ...]
    stones: tuple[StoneState, ...]
    decks: CardCounts
    opponent_hand: CardCounts
    discard: tuple[str, ...]
    tactics_played: TacticsPlayed
    recruiter: Recruiter | None  # while one is being played
    points: Points


class Event(Struct, frozen=True, gc=False):
    by: Side
    move: str


class Clock(Struct, frozen=True, gc=False):
    move_ms: Count | None
    bank_ms: Count | None


class Request(_Message, frozen=True, tag="request", kw_only=True, omit_defaults=True, gc=False):
    id: Id
    phase: Phase
    legal: tuple[str, ...] = ()  # never empty; left out for a bot that asked for requests without it
    state: GameState
    events: tuple[Event, ...]
    clock: Clock


class RevealedDeal(Struct, frozen=True, omit_defaults=True):
    round: Count
    deck: tuple[str, ...]
    tactics: tuple[str, ...]
    salt: str
    attempt: Count = 1


class RoundEnd(_Message, frozen=True, tag="round_end"):
    round: Count
    result: Result
    ending: str
    points: Points
    stones: tuple[Side | None, ...]
    deals: tuple[RevealedDeal, ...]


class MatchEnd(_Message, frozen=True, tag="match_end"):
    match: str
    result: Result
    points: Points


class Error(_Message, frozen=True, tag="error"):
    code: str
    message: str
    fatal: bool


class Bye(_Message, frozen=True, tag="bye", omit_defaults=True):
    reason: str
    again: bool = False  # a bot that connected may connect again: its place is kept


# From the server to whoever watches

BothSides = tuple[tuple[str, ...], tuple[str, ...]]  # by seat
Both = tuple[Count, Count]  # by seat


class Watching(_Message, frozen=True, tag="watching"):
    event: str
    delay_ms: Count
    hands: bool


class WatchedStone(Struct, frozen=True):
    sides: BothSides
    owner: Seat | None
    needs: Count
    modes: tuple[str, ...]
    complete_first: Seat | None


class WatchedPosition(_Message, frozen=True, tag="position", kw_only=True):
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
    match: str
    round: Count
    bots: tuple[Name, Name]
    winner: Seat | None
    ending: str
    points: Both


# From the bot to the server


class BotHello(_Message, frozen=True, tag="hello", omit_defaults=True):
    protocol: Count
    name: Name
    version: str | None = None
    author: str | None = None
    token: str | None = None
    legal: bool = True
    session: str | None = None  # of the connection that this one takes the place of
    watch: str | None = None  # whoever says this wants to watch a match, or any ("")

    def __post_init__(self) -> None:
        if problem := name_problem(self.name):
            raise ValueError(f"A name is {NAME_RULE}, but {problem} - at `$.name`")


class Action(_Message, frozen=True, tag="action", omit_defaults=True, gc=False):
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
BotMessage = BotHello | Action
Message = ServerMessage | BotMessage

_encoder = msgspec.json.Encoder()


def encode(message: Message) -> bytes:
    """The message as one line."""
    return _encoder.encode(message) + b"\n"


@cache
def decoder_of(union: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(union)


def decode_from_bot(line: bytes) -> BotMessage:
    message: BotMessage = _decode(line, BotMessage)
    return message


def decode_from_server(line: bytes) -> ServerMessage:
    message: ServerMessage = _decode(line, ServerMessage)
    return message


def _decode(line: bytes, union: Any) -> Any:
    """The message in the line. Whatever is wrong with it is a RemoteProtocolError."""
    try:
        if not line.isascii():
            line.decode()  # the JSON decoder does not look into fields that it skips
        return decoder_of(union).decode(line)
    except UnicodeDecodeError as error:
        raise RemoteProtocolError(
            Code.BAD_UTF8, f"the line is not UTF-8: {error.reason} at byte {error.start}"
        ) from None
    except msgspec.ValidationError as error:
        raise _misfit(str(error), line, union) from None
    except msgspec.DecodeError as error:
        if not line.strip():
            raise RemoteProtocolError(Code.NOT_JSON, "the line is empty; each line is a message") from None
        reason = str(error).removeprefix("JSON is malformed: ")
        raise RemoteProtocolError(
            Code.NOT_JSON, f"the line is not JSON: {reason}; every line has to be a message; it was {excerpt(line)}"
        ) from None
    except RecursionError:
        raise RemoteProtocolError(Code.TOO_DEEP, "the line is nested too deeply") from None


class _Head(Struct):
    """What can be said of a line that is no message: which one it was meant to be, and its name, if it has one."""

    type: str = ""
    name: Any = None


def _misfit(problem: str, line: bytes, union: Any) -> RemoteProtocolError:
    """The line is JSON, but no message: says what would have been one."""
    try:
        head = msgspec.json.decode(line, type=_Head)
    except (msgspec.DecodeError, RecursionError):
        head = _Head()
    tag = head.type
    known = {message.__struct_config__.tag: message for message in union.__args__}
    if tag in known and "name" in known[tag].__struct_fields__ and _breaks_pattern(head.name):
        problem = f"A name is {NAME_RULE} - at `$.name`"  # instead of the pattern, which is long and hard to read
    problem = _escaped(problem.removesuffix(" - at `$`"))[:200]  # it may quote a value, of any length
    if tag in known:
        example = _EXAMPLES.get(known[tag])
        return RemoteProtocolError(Code.BAD_MESSAGE, f"{problem}; {tag!r} looks like {example}" if example else problem)
    types = ", ".join(repr(name) for name in known)
    if tag:
        return RemoteProtocolError(
            Code.UNKNOWN_TYPE, f"the type {excerpt(tag.encode(), 40)} is unknown; there are {types}"
        )
    return RemoteProtocolError(
        Code.BAD_MESSAGE,
        f"{problem}; a message is a JSON object whose 'type' is one of {types}; it was {excerpt(line)}",
    )


def _breaks_pattern(name: Any) -> bool:
    """Whether the name is a text of the right length, but of characters that no name has."""
    return isinstance(name, str) and 1 <= len(name) <= 64 and not is_recorded_name(name)


def excerpt(line: bytes, most: int = 80) -> str:
    """The beginning of a line, fit for an error message."""
    text = _escaped(without_token(line[:most].decode(errors="backslashreplace")))
    return f"'{text}'" if max(len(line), len(text)) <= most else f"'{text[:most]}' … ({len(line)} bytes)"


_TOKEN: Final = re.compile(r'("token"\s*:\s*)"(?:[^"\\]|\\.)*"?')


def without_token(text: str) -> str:
    """A line, or its beginning, as it may be written down: the token is a secret between the bot and its server."""
    return _TOKEN.sub(r'\1"***"', text)


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode()


_EXAMPLES: Final[dict[type[Struct], str]] = {
    BotHello: '{"type":"hello","protocol":1,"name":"mybot"}',
    Action: '{"type":"action","id":17,"move":"play r5 1"}',
}
