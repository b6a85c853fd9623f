"""Protocol errors: the type says whose fault it is, the code says what."""

import enum


class Code(enum.StrEnum):
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
    def __init__(self, code: Code, message: str):
        super().__init__(message)
        self.code = code


class LocalProtocolError(ProtocolError):
    """We tried to say what may not be said now: our own bug."""


class RemoteProtocolError(ProtocolError):
    """The other side said what it may not: its fault."""
