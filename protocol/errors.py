"""Protocol errors: the type says whose fault it is, the code says what is wrong."""

import enum


class Code(enum.StrEnum):
    """What is wrong, as it appears in the `code` of an `error` message."""

    BAD_UTF8 = "bad-utf8"
    NOT_JSON = "not-json"
    TOO_DEEP = "too-deep"
    BAD_MESSAGE = "bad-message"
    UNKNOWN_TYPE = "unknown-type"
    LINE_TOO_LONG = "line-too-long"
    TORN_LINE = "torn-line"
    OUT_OF_TURN = "out-of-turn"
    UNKNOWN_ID = "unknown-id"
    SECOND_ANSWER = "second-answer"
    WRONG_PROTOCOL = "wrong-protocol"
    TOO_MANY = "too-many"


class ProtocolError(Exception):
    """The base class of protocol errors. The text is worded for the author of the bot."""

    def __init__(self, code: Code, message: str):
        super().__init__(message)
        self.code = code


class LocalProtocolError(ProtocolError):
    """This side tried to send a message that it may not send now: a bug of ours."""


class RemoteProtocolError(ProtocolError):
    """The peer sent something that the protocol does not allow: the peer's fault."""
