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
    BotAction,
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
    (State.THINKING, BotAction): State.ROUND,
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


def _tag(kind: type[Message]) -> str:
    return str(kind.__struct_config__.tag)


_THINKING: Final = State.THINKING  # until Python 3.12, reading it from its class takes ten times as long
_ROUND: Final = TRANSITIONS[_THINKING, BotAction]
_HELLOS: Final = frozenset((ServerHello, BotHello))
_SENT_BY_BOTS: Final = frozenset(BotMessage.__args__)


class Session:
    """One end of a connection: checks every message against the table and keeps the state."""

    def __init__(self, role: Role):
        self.role = role
        self._is_bot = role is Role.BOT
        self.state = State.NEW
        self.last_id = 0  # of the latest request
        self.id_step = 1  # from one request to the next; a bot must not rely on it
        self._answered = False  # whether the bot has answered the latest request

    @property
    def next_id(self) -> int:
        """The id for the next request."""
        return self.last_id + self.id_step

    def send(self, message: Message) -> bytes:
        """Encode a message as a line, and update the state. Raises LocalProtocolError if it may not be sent now."""
        line = encode(message)
        if isinstance(message, Request):
            return self.send_request(message.id, line)
        state = self._state_after_sending(type(message), line)
        if isinstance(message, BotAction):
            if message.id != self.last_id:
                raise LocalProtocolError(Code.UNKNOWN_ID, f"request {self.last_id} is open, not {message.id}")
            self._answered = True
        self.state = state
        return line

    def send_request(self, number: int, line: bytes) -> bytes:
        """Like `send`, for a request that is encoded already: its id, and its line, which is returned."""
        if self.state is _ROUND and not self._is_bot and len(line) <= MAX_LINE:  # the usual case
            state = _THINKING
        else:
            state = self._state_after_sending(Request, line)
        if number <= self.last_id:
            raise LocalProtocolError(Code.UNKNOWN_ID, f"request {number} does not come after {self.last_id}")
        self.state, self.last_id, self._answered = state, number, False
        return line

    def _state_after_sending(self, kind: type[Message], line: bytes) -> State:
        """Raises LocalProtocolError if a message of this kind may not be sent now as this line."""
        if (kind in _SENT_BY_BOTS) is not self._is_bot:
            raise LocalProtocolError(Code.OUT_OF_TURN, f"a {self.role.value} does not send {_tag(kind)!r}")
        state = TRANSITIONS.get((self.state, kind))
        if state is None:
            raise LocalProtocolError(Code.OUT_OF_TURN, f"{_tag(kind)!r} may not be sent now: {_WORDS[self.state]}")
        if len(line) > MAX_LINE:
            raise LocalProtocolError(Code.LINE_TOO_LONG, f"a {_tag(kind)!r} of {len(line)} bytes is too long")
        return state

    def receive(self, line: bytes) -> Message | None:
        """Decode a line from the peer, and update the state. Returns None for a line to ignore: a late answer, or, for
        a bot, a type of message that it does not know. Raises RemoteProtocolError if the line is malformed or the
        message is out of turn."""
        message = self._receive_as_bot(line) if self._is_bot else decode_from_bot(line)
        if message is None:
            return None
        if isinstance(message, BotAction):
            if message.id != self.last_id or self.state is not _THINKING:
                self._check_late(message)
                return None
            self._answered = True
            self.state = _ROUND
            return message
        kind = type(message)
        state = TRANSITIONS.get((self.state, kind))
        if state is None:
            raise RemoteProtocolError(Code.OUT_OF_TURN, f"{_tag(kind)!r} may not be sent now: {_WORDS[self.state]}")
        if kind in _HELLOS and message.protocol != PROTOCOL:  # type: ignore[union-attr]
            raise RemoteProtocolError(
                Code.WRONG_PROTOCOL,
                f"protocol {message.protocol} is not supported; it has to be {PROTOCOL}",  # type: ignore[union-attr]
            )
        if isinstance(message, Request):
            self.last_id = message.id
            self._answered = False
        self.state = state
        return message

    def _receive_as_bot(self, line: bytes) -> ServerMessage | None:
        try:
            return decode_from_server(line)
        except RemoteProtocolError as error:
            if error.code is Code.UNKNOWN_TYPE:
                return None
            raise

    def _check_late(self, action: BotAction) -> None:
        """Raise RemoteProtocolError unless the answer is to a request that was open once."""
        if action.id > self.last_id or not self.last_id:
            latest = f"the latest request was {self.last_id}" if self.last_id else "there was no request yet"
            raise RemoteProtocolError(Code.UNKNOWN_ID, f"an answer to request {action.id}, but {latest}")
        if action.id == self.last_id and self._answered:
            raise RemoteProtocolError(Code.SECOND_ANSWER, f"a second answer to request {action.id}")
