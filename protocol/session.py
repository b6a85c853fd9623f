"""Which message may be sent when: one connection between a server and a bot, seen from either end.

Theory of operation. Both ends use the same table, `TRANSITIONS`: which message may be sent in which state, and the
state that follows. A message's class determines its sender, so one table serves both roles. `Session.send` turns a
message into bytes and `Session.receive` turns a line into a message; both check the table first. A message out of turn
is never silently accepted: it is either a bug of ours (LocalProtocolError) or the peer's fault (RemoteProtocolError).

An answer may be on its way while the server moves on (after a timeout, or because the opponent forfeits the round), so
an answer to a request that is no longer open is not a fault: `receive` returns None for it. An answer to a request that
was never made is a fault, and so is a second answer to the latest request.

This module knows nothing about streams, clocks or the rules of the game.
"""

import enum
from typing import Final

from protocol.errors import Code, LocalProtocolError, RemoteProtocolError
from protocol.framing import MAX_LINE
from protocol.messages import (
    PROTOCOL,
    Action,
    BotHello,
    BotMessage,
    Bye,
    Error,
    MatchEnd,
    MatchStart,
    Message,
    Request,
    RoundEnd,
    RoundStart,
    ServerHello,
    ServerMessage,
    WatchedPosition,
    WatchedResult,
    Watching,
    Welcome,
    decode_from_bot,
    decode_from_server,
    encode,
)


class Role(enum.Enum):
    """Which end of the connection a session is."""

    SERVER = "server"
    BOT = "bot"


class State(enum.Enum):
    """The state of a connection, which both ends keep."""

    NEW = "new"
    GREETED = "greeted"  # the server has said hello
    NAMED = "named"  # the bot has said hello
    IDLE = "idle"
    MATCH = "match"  # between rounds
    ROUND = "round"  # in a round, without an open request
    THINKING = "thinking"  # a request is open
    WATCHING = "watching"  # the peer is a spectator, not a bot
    CLOSED = "closed"

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is written in Python and slow


TRANSITIONS: Final[dict[tuple[State, type[Message]], State]] = {
    (State.NEW, ServerHello): State.GREETED,
    (State.GREETED, BotHello): State.NAMED,
    (State.NAMED, Welcome): State.IDLE,
    (State.IDLE, MatchStart): State.MATCH,
    (State.MATCH, RoundStart): State.ROUND,
    (State.MATCH, MatchEnd): State.IDLE,
    (State.ROUND, Request): State.THINKING,
    (State.ROUND, RoundEnd): State.MATCH,
    (State.THINKING, Action): State.ROUND,
    (State.THINKING, RoundEnd): State.MATCH,
    (State.NAMED, Watching): State.WATCHING,
    (State.WATCHING, WatchedPosition): State.WATCHING,
    (State.WATCHING, WatchedResult): State.WATCHING,
    **{(state, Bye): State.CLOSED for state in State if state is not State.CLOSED},
    **{(state, Error): state for state in State if state is not State.CLOSED},
}

_WORDS: Final = {
    State.NEW: "the server has not said hello yet",
    State.GREETED: "the bot has to say hello",
    State.NAMED: "the server has to welcome or refuse the bot",
    State.IDLE: "no match is being played",
    State.MATCH: "no round is being played",
    State.ROUND: "the bot has not been asked for a move",
    State.THINKING: "the bot has been asked for a move",
    State.WATCHING: "spectators may not send messages",
    State.CLOSED: "the server has said bye",
}


def _tag(message: Message) -> str:
    return str(message.__struct_config__.tag)


_HELLOS: Final = frozenset((ServerHello, BotHello))
_SENT_BY_BOTS: Final = frozenset(BotMessage.__args__)


class Session:
    """One end of a connection: checks every message against the table and keeps the state."""

    def __init__(self, role: Role):
        self.role = role
        self.state = State.NEW
        self.last_id = 0  # of the latest request
        self._answered = False  # whether the bot has answered the latest request

    def send(self, message: Message) -> bytes:
        """Encode a message as a line, and update the state. Raises LocalProtocolError if it may not be sent now."""
        kind = type(message)
        if (kind in _SENT_BY_BOTS) is not (self.role is Role.BOT):
            raise LocalProtocolError(Code.OUT_OF_TURN, f"a {self.role.value} does not send {_tag(message)!r}")
        state = TRANSITIONS.get((self.state, kind))
        if state is None:
            raise LocalProtocolError(Code.OUT_OF_TURN, f"{_tag(message)!r} may not be sent now: {_WORDS[self.state]}")
        if isinstance(message, Request) and message.id <= self.last_id:
            raise LocalProtocolError(Code.UNKNOWN_ID, f"request {message.id} does not come after {self.last_id}")
        if isinstance(message, Action) and message.id != self.last_id:
            raise LocalProtocolError(Code.UNKNOWN_ID, f"request {self.last_id} is open, not {message.id}")
        line = encode(message)
        if len(line) > MAX_LINE:
            raise LocalProtocolError(Code.LINE_TOO_LONG, f"a {_tag(message)!r} of {len(line)} bytes is too long")
        self._update(message, state)
        return line

    def receive(self, line: bytes) -> Message | None:
        """Decode a line from the peer, and update the state. Returns None for a line to ignore: a late answer, or, for
        a bot, a type of message that it does not know. Raises RemoteProtocolError if the line is malformed or the
        message is out of turn."""
        message = self._receive_as_bot(line) if self.role is Role.BOT else decode_from_bot(line)
        if message is None or (isinstance(message, Action) and self._is_late(message)):
            return None
        kind = type(message)
        state = TRANSITIONS.get((self.state, kind))
        if state is None:
            raise RemoteProtocolError(Code.OUT_OF_TURN, f"{_tag(message)!r} may not be sent now: {_WORDS[self.state]}")
        if kind in _HELLOS and message.protocol != PROTOCOL:  # type: ignore[union-attr]
            raise RemoteProtocolError(
                Code.WRONG_PROTOCOL,
                f"protocol {message.protocol} is not supported; it has to be {PROTOCOL}",  # type: ignore[union-attr]
            )
        self._update(message, state)
        return message

    def _update(self, message: Message, state: State) -> None:
        self.state = state
        if isinstance(message, Request):
            self.last_id = message.id
            self._answered = False
        elif isinstance(message, Action):
            self._answered = True

    def _receive_as_bot(self, line: bytes) -> ServerMessage | None:
        try:
            return decode_from_server(line)
        except RemoteProtocolError as error:
            if error.code is Code.UNKNOWN_TYPE:
                return None
            raise

    def _is_late(self, action: Action) -> bool:
        """Whether the request is no longer open. Raises RemoteProtocolError for an answer that is a fault."""
        if action.id > self.last_id or not self.last_id:
            latest = f"the latest request was {self.last_id}" if self.last_id else "there was no request yet"
            raise RemoteProtocolError(Code.UNKNOWN_ID, f"an answer to request {action.id}, but {latest}")
        if action.id == self.last_id and self._answered:
            raise RemoteProtocolError(Code.SECOND_ANSWER, f"a second answer to request {action.id}")
        return action.id < self.last_id or self.state is not State.THINKING
