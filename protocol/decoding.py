"""Decode a line strictly: either it is a message, or the error says precisely why not and what would be right."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from protocol.errors import Code, RemoteProtocolError
from protocol.names import NAME_RULE, name_problem


class LineDecoder:
    """Decodes lines that contain a message of `union`. `examples` has messages to quote to those who send bad ones."""

    def __init__(self, union: Any, examples: Mapping[type[Struct], str]):
        self._union = union
        self._examples = examples
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(union).decode

    def decode(self, line: bytes) -> Any:
        """The message that the line contains. Raises RemoteProtocolError, which quotes the example of the message that
        the line was meant to be, if there is one."""
        try:
            if not line.isascii():
                line.decode()  # the JSON decoder does not look into fields that it skips
            return self._decode(line)
        except UnicodeDecodeError as error:
            raise RemoteProtocolError(
                Code.BAD_UTF8, f"the line is not UTF-8: {error.reason} at byte {error.start}"
            ) from None
        except msgspec.ValidationError as error:
            raise _misfit(str(error), line, self._union, self._examples) from None
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
    """What can be read from a line that is not a message: the type that it was meant to have, and its name, if any."""

    type: str = ""
    name: Any = None


def _misfit(problem: str, line: bytes, union: Any, examples: Mapping[type[Struct], str]) -> RemoteProtocolError:
    """The error for a line that is JSON but not a message of `union`; `problem` is what msgspec says about it."""
    try:
        head = msgspec.json.decode(line, type=_Head)
    except (msgspec.DecodeError, RecursionError):
        head = _Head()
    tag = head.type
    known = {message.__struct_config__.tag: message for message in union.__args__}
    named = tag in known and "name" in known[tag].__struct_fields__ and isinstance(head.name, str)
    if named and (wrong := name_problem(head.name)):  # instead of the pattern, which is hard to read
        problem = f"A name is {NAME_RULE}, but {wrong} - at `$.name`"
    problem = _escaped(problem.removesuffix(" - at `$`"))[:200]  # it may quote a value, of any length
    if tag in known:
        example = examples.get(known[tag])
        return RemoteProtocolError(Code.BAD_MESSAGE, f"{problem}; {tag!r} looks like {example}" if example else problem)
    types = ", ".join(repr(name) for name in known)
    if tag:
        return RemoteProtocolError(
            Code.UNKNOWN_TYPE, f"the type {excerpt(tag.encode(), 40)} is unknown; the types are {types}"
        )
    return RemoteProtocolError(
        Code.BAD_MESSAGE,
        f"{problem}; a message is a JSON object whose 'type' is one of {types}; it was {excerpt(line)}",
    )


def excerpt(line: bytes, most: int = 80) -> str:
    """The beginning of a line, escaped for an error message, without its token."""
    text = _escaped(without_token(line[:most].decode(errors="backslashreplace")))
    return f"'{text}'" if max(len(line), len(text)) <= most else f"'{text[:most]}' … ({len(line)} bytes)"


_TOKEN: Final = re.compile(r'("token"\s*:\s*)"(?:[^"\\]|\\.)*"?')


def without_token(text: str) -> str:
    """A line, or its beginning, with its token replaced by stars: the token is a secret of the bot and its server."""
    return _TOKEN.sub(r'\1"***"', text)


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode()
