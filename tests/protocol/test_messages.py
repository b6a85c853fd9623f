"""Messages to lines and back, and everything that is no message."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from protocol.errors import Code, RemoteProtocolError
from protocol.messages import (
    BotAction,
    BotHello,
    BotMessage,
    Message,
    Request,
    decode_from_bot,
    decode_from_server,
    encode,
)
from protocol.schema import schema
from tests.helpers.wire import CLASSES, EXAMPLES, messages, request

ACTION = b'{"type":"action","id":17,"move":"play r5 1"}'
SCHEMA = schema()
VALIDATORS = {
    side: Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{side}"})
    for side in ("from_server", "from_bot")
}


def decoded(message: Message, line: bytes) -> Message:
    return decode_from_bot(line) if isinstance(message, BotMessage) else decode_from_server(line)


def refused(line: bytes, decode: Callable[[bytes], Message] = decode_from_bot) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(line)
    return checked(caught.value)


def checked(error: RemoteProtocolError) -> RemoteProtocolError:
    """An error's text is one short line of printable characters."""
    assert len(str(error)) < 400
    assert str(error).isprintable()
    return error


def hello(name: str) -> bytes:
    return json.dumps({"type": "hello", "protocol": 1, "name": name}).encode()


# What is a message


@pytest.mark.parametrize("kind", CLASSES)
def test_a_message_is_one_line_and_comes_back(kind: type[Message]) -> None:
    message = EXAMPLES[kind]
    line = encode(message)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decoded(message, line[:-1]) == message


@pytest.mark.fuzz
@given(messages)
def test_every_message_comes_back_and_fits_the_schema(message: Message) -> None:
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decoded(message, line[:-1]) == message
    side = "from_bot" if isinstance(message, BotMessage) else "from_server"
    VALIDATORS[side].validate(json.loads(line))


def test_the_examples_of_the_contract_are_messages() -> None:
    line = b'{"type":"action","id":17,"move":"play r5 1","note":"optional, kept in the log"}'
    assert decode_from_bot(line) == BotAction(17, "play r5 1", "optional, kept in the log")
    assert decode_from_bot(b'{"type":"hello","protocol":1,"name":"mybot"}') == BotHello(1, "mybot")


def test_what_is_optional_is_left_out_of_the_line() -> None:
    assert encode(BotAction(17, "play r5 1")) == ACTION + b"\n"
    assert json.loads(encode(BotHello(1, "mybot"))) == {"type": "hello", "protocol": 1, "name": "mybot"}
    assert "legal" not in json.loads(encode(request(1, legal=())))


@pytest.mark.parametrize("kind", CLASSES)
def test_unknown_fields_are_ignored(kind: type[Message]) -> None:
    message = EXAMPLES[kind]
    more = {"new": [1, {"a": None}], **json.loads(encode(message)), "Type": "x", "": 1e300, "note2": "ü"}
    assert decoded(message, json.dumps(more).encode()) == message


def test_unknown_fields_are_ignored_inside_a_message_too() -> None:
    fields = json.loads(encode(request(17)))
    for inner in (fields["state"], fields["state"]["stones"][0], fields["events"][0], fields["clock"]):
        inner["new"] = 1
    message = decode_from_server(json.dumps(fields).encode())
    assert isinstance(message, Request)
    assert message == request(17)


@pytest.mark.parametrize("line", [b" " + ACTION + b" \t", ACTION + b"\r", ACTION.replace(b",", b" ,\n ")])
def test_white_space_between_tokens_does_not_matter(line: bytes) -> None:
    assert decode_from_bot(line) == BotAction(17, "play r5 1")


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    assert decode_from_bot(b'{"type":"action","id":1,"id":17,"move":"play r5 1"}') == BotAction(17, "play r5 1")


def test_numbers_beyond_64_bits_do_not_matter_where_they_are_ignored() -> None:
    for number in (str(2**64), "-" + "9" * 5000, "1e999"):
        assert decode_from_bot(ACTION[:-1] + f',"x":{number}}}'.encode()) == BotAction(17, "play r5 1")


@pytest.mark.parametrize("name", ["x", "Zoe-2.0+dev_1", "0", "-", "x" * 32])
def test_a_name_is_at_most_32_plain_characters(name: str) -> None:
    assert decode_from_bot(hello(name)) == BotHello(1, name)


# What is none


@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        # not JSON
        (b"", Code.NOT_JSON, "the line is empty; each line is a message"),
        (
            b"play r5 1",
            Code.NOT_JSON,
            "not JSON: invalid character (byte 0); every line has to be a message",
        ),
        (ACTION[:-1], Code.NOT_JSON, "truncated"),
        (ACTION + ACTION, Code.NOT_JSON, "trailing characters"),
        (b"\xef\xbb\xbf" + ACTION, Code.NOT_JSON, r"""it was '\ufeff{"type":"action","id":17"""),
        (b"{'type':'action'}", Code.NOT_JSON, "it was '{'type':'action'}'"),
        (ACTION[:-1] + b',"x":NaN}', Code.NOT_JSON, "invalid character"),
        (b"\0", Code.NOT_JSON, r"it was '\x00'"),
        (ACTION.replace(b" r5", b"\0r5"), Code.NOT_JSON, "invalid character (byte 37)"),
        (ACTION + b"\0", Code.NOT_JSON, "trailing characters"),
        (b'{"type":"action","id":17,"move":"\\ud800"}', Code.NOT_JSON, r'"move":"\\ud800"'),
        (b'{"type":"action","id":17,"move":"\\udc00 and more"}', Code.NOT_JSON, "surrogate"),
        (ACTION[:-1] + b',"x":"\\ud800\\ud800"}', Code.NOT_JSON, "surrogate"),
        # not UTF-8
        (b"\xff", Code.BAD_UTF8, "not UTF-8: invalid start byte at byte 0"),
        (ACTION.replace(b"r5", b"r\xe9"), Code.BAD_UTF8, "invalid continuation byte at byte 39"),
        (ACTION[:-1] + b',"ignored":"\xff"}', Code.BAD_UTF8, "invalid start byte at byte 55"),
        (ACTION[:-1] + b',"ignored":"\xed\xa0\x80"}', Code.BAD_UTF8, "at byte 55"),
        (ACTION[:-1] + b',"ignored":"\xc0\x80"}', Code.BAD_UTF8, "at byte 55"),
        # JSON, but no message
        (b"null", Code.BAD_MESSAGE, "Expected `object`, got `null`; a message is a JSON object whose 'type' is one of"),
        (b'"action"', Code.BAD_MESSAGE, "Expected `object`, got `str`"),
        (b"17", Code.BAD_MESSAGE, "Expected `object`, got `int`"),
        (b"[" + ACTION + b"]", Code.BAD_MESSAGE, "Expected `object`, got `array`"),
        (b"{}", Code.BAD_MESSAGE, "missing required field `type`; a message is a JSON object whose 'type' is one of"),
        (b'{"type":5}', Code.BAD_MESSAGE, "Expected `str` - at `$.type`"),
        (b'{"type":null}', Code.BAD_MESSAGE, "Expected `str`"),
        (b'{"type":"action","type":5,"id":1,"move":"x"}', Code.BAD_MESSAGE, "at `$.type`"),
        (b'{"type":"' + b"\\n" * 900 + b'","type":5}', Code.BAD_MESSAGE, "Invalid value"),
        (b'"' + b"\x7f" * 90 + b'"', Code.BAD_MESSAGE, "… (92 bytes)"),
        # an unknown type
        (b'{"type":"moo"}', Code.UNKNOWN_TYPE, "the type 'moo' is unknown; the types are 'hello', 'action'"),
        (b'{"type":"Action"}', Code.UNKNOWN_TYPE, "'Action'"),
        (b'{"type":"welcome","name":"x"}', Code.UNKNOWN_TYPE, "'welcome' is unknown"),
        (b'{"type":"' + b"x" * 900 + b'"}', Code.UNKNOWN_TYPE, "'" + "x" * 40 + "' … (900 bytes) is unknown"),
        ('{"type":"' + "😀" * 900 + '"}', Code.UNKNOWN_TYPE, r"\U0001f600"),
        (b'{"type":"a\\nb\\u0000"}', Code.UNKNOWN_TYPE, r"'a\nb\x00'"),
        # a field that is missing or wrong
        (b'{"type":"action","id":17}', Code.BAD_MESSAGE, "missing required field `move`; 'action' looks like"),
        (b'{"type":"action","move":"x"}', Code.BAD_MESSAGE, "missing required field `id`"),
        (b'{"type":"hello","name":"x"}', Code.BAD_MESSAGE, 'looks like {"type":"hello","protocol":1,"name":"mybot"}'),
        (b'{"type":"action","id":"17","move":"x"}', Code.BAD_MESSAGE, "Expected `int`, got `str` - at `$.id`"),
        (b'{"type":"action","id":17.0,"move":"x"}', Code.BAD_MESSAGE, "got `float` - at `$.id`"),
        (b'{"type":"action","id":true,"move":"x"}', Code.BAD_MESSAGE, "got `bool` - at `$.id`"),
        (b'{"type":"action","id":-1,"move":"x"}', Code.BAD_MESSAGE, "Expected `int` >= 0 - at `$.id`"),
        (b'{"type":"action","id":17,"move":null}', Code.BAD_MESSAGE, "got `null` - at `$.move`"),
        (ACTION[:-1] + b',"note":5}', Code.BAD_MESSAGE, "`$.note`"),
        (b'{"type":"hello","protocol":1,"name":"x","legal":0}', Code.BAD_MESSAGE, "Expected `bool`"),
    ],
)
def test_what_is_no_message_is_refused_with_what_would_be_right(line: bytes | str, code: Code, text: str) -> None:
    error = refused(line if isinstance(line, bytes) else line.encode())
    assert error.code is code
    assert text in str(error)


@pytest.mark.parametrize("number", [2**53, 2**63, 2**64, 10**100, int("9" * 4000)])
def test_numbers_that_do_not_fit_are_refused(number: int) -> None:
    for line in (b'{"type":"action","id":%d,"move":"x"}', b'{"type":"hello","protocol":%d,"name":"x"}'):
        error = refused(line % number)
        assert error.code is Code.BAD_MESSAGE
        assert "Expected `int` <= 9007199254740991 - at `$." in str(error)


@pytest.mark.parametrize("number", [b"1e999", b"9" * 5000, b"-1e5"])
def test_numbers_of_any_length_are_refused(number: bytes) -> None:
    error = refused(b'{"type":"action","id":' + number + b',"move":"x"}')
    assert error.code is Code.BAD_MESSAGE
    assert "at `$.id`" in str(error)


@pytest.mark.parametrize(("start", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting_is_refused(start: bytes, end: bytes, closed: bool) -> None:
    depth = 64 * 1024 // 6
    deep = start * depth + (b"1" + end * depth) * closed
    for line in (ACTION[:-1] + b',"x":' + deep + b"}", b'{"x":' + deep + b',"type":"moo"}', b'{"type":' + deep + b"}"):
        assert refused(line).code is Code.TOO_DEEP
        assert refused(line, decode_from_server).code in (Code.TOO_DEEP, Code.BAD_MESSAGE)
    for line in (deep, b'{"type":"action","id":1,"move":' + deep + b"}"):
        assert refused(line).code in (Code.TOO_DEEP, Code.BAD_MESSAGE)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", "it has 0 characters"),
        ("x" * 33, "it has 33 characters"),
        ("a b", "it has ' ' at position 2"),
        ("Zo\u00eb", "it has '\\xeb' at position 3"),
        *((f"a{char}", "at position 2") for char in "\0\n\x1b\x7f\x85\u2028\u202e\u2800/\\\"',:=@#*"),
    ],
)
def test_a_name_with_other_characters_is_refused_with_the_rule(name: str, text: str) -> None:
    error = refused(hello(name))
    assert error.code is Code.BAD_MESSAGE
    assert "A name is 1 to 32 ASCII letters, digits and . _ - +, but it has" in str(error)
    assert text in str(error)


def test_a_wrong_word_from_the_server_is_quoted_in_short() -> None:
    line = encode(request(1)).replace(b'"phase":"play"', b'"phase":"' + b"x\\n" * 9000 + b'"')
    assert "Invalid enum value 'x" in str(refused(line, decode_from_server))


# Fuzz: a line is decoded or refused, whatever it is


def is_decoded_or_refused(line: bytes) -> None:
    for decode in (decode_from_bot, decode_from_server):
        try:
            message = decode(line)
        except RemoteProtocolError as error:
            checked(error)
        else:
            assert decode(encode(message)) == message


@pytest.mark.fuzz
@given(st.binary())
def test_any_bytes_are_decoded_or_refused(line: bytes) -> None:
    is_decoded_or_refused(line)


@pytest.mark.fuzz
@given(messages, st.lists(st.tuples(st.integers(0), st.integers(0, 3), st.binary(max_size=3)), min_size=1, max_size=4))
def test_messages_with_bytes_exchanged_are_decoded_or_refused(
    message: Message, changes: list[tuple[int, int, bytes]]
) -> None:
    line = encode(message)[:-1]
    for where, gone, new in changes:
        place = where % (len(line) + 1)
        line = line[:place] + new + line[place + gone :]
    is_decoded_or_refused(line)


words = st.sampled_from(
    ["type", "hello", "action", "request", "bye", "id", "move", "name", "protocol", "state", "clock"]
)
numbers = st.integers() | st.integers(2**62, 2**70) | st.floats()
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | st.text() | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | st.text(max_size=4), inner, max_size=6),
)


@pytest.mark.fuzz
@given(values)
@example({"type": "action", "id": 1, "move": "\ud800"})
def test_any_json_is_decoded_or_refused(value: Any) -> None:
    is_decoded_or_refused(json.dumps(value).encode())


tokens = st.sampled_from([*'{}[]:,"\\', "null", "-", "0", "1e9", "NaN", "\\u", "d800", "\0", "é", "\ufeff", " "])


@pytest.mark.fuzz
@given(st.lists(tokens | words.map(json.dumps)).map("".join))
def test_broken_json_is_decoded_or_refused(text: str) -> None:
    is_decoded_or_refused(text.encode())


@pytest.mark.fuzz
@given(messages, st.data())
def test_what_is_decoded_fits_the_schema(message: Message, data: st.DataObject) -> None:
    fields = json.loads(encode(message))
    fields[data.draw(st.sampled_from([*fields, "more"]))] = data.draw(values)
    line = json.dumps(fields).encode()
    for side, decode in (("from_bot", decode_from_bot), ("from_server", decode_from_server)):
        try:
            decode(line)
        except RemoteProtocolError as error:
            checked(error)
        else:
            VALIDATORS[side].validate(fields)


def test_the_schema_is_one_and_refuses_what_is_no_message() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    whole = Draft202012Validator(SCHEMA)
    assert all(whole.is_valid(json.loads(encode(message))) for message in EXAMPLES.values())
    for line in (b"{}", b"[]", b'{"type":"moo"}', b'{"type":"action","id":17}', hello("a\n"), hello("")):
        assert not whole.is_valid(json.loads(line))
