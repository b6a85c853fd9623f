"""Bytes to lines."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import Code, RemoteProtocolError
from protocol.framing import MAX_LINE, LineBuffer


def fed(buffer: LineBuffer, data: bytes, size: int) -> list[bytes]:
    """The lines that come of the data in chunks of that size."""
    return [line for start in range(0, len(data), size) for line in buffer.feed(data[start : start + size])]


def test_whole_lines_come_out_without_their_newline() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b"one\ntwo\n") == [b"one", b"two"]
    assert buffer.feed(b"three\n") == [b"three"]
    buffer.end()


def test_an_empty_line_is_a_line() -> None:
    assert LineBuffer().feed(b"\n\na\n\n") == [b"", b"", b"a", b""]


def test_only_a_newline_ends_a_line() -> None:
    assert LineBuffer().feed(b"a\rb\x0bc\x0cd\x85e\r\nf\xe2\x80\xa8g\n") == [
        b"a\rb\x0bc\x0cd\x85e\r",
        b"f\xe2\x80\xa8g",
    ]


def test_a_line_comes_out_only_with_its_newline() -> None:
    buffer = LineBuffer()
    assert [buffer.feed(bytes([byte])) for byte in b"ab\nc"] == [[], [], [b"ab"], []]
    assert buffer.feed(b"") == []
    assert buffer.feed(b"d\ne") == [b"cd"]


@pytest.mark.fuzz
@given(st.lists(st.sampled_from([b"\n", b"a", b"bc"]) | st.binary()).map(b"".join), st.lists(st.integers(0)))
def test_any_chunking_gives_the_same_lines(data: bytes, cuts: list[int]) -> None:
    places = sorted(cut % (len(data) + 1) for cut in cuts)
    pieces = [data[start:end] for start, end in pairwise([0, *places, len(data)])]
    buffer = LineBuffer()
    assert [line for piece in pieces for line in buffer.feed(piece)] == data.split(b"\n")[:-1]


@pytest.mark.parametrize("size", [1, 4096, MAX_LINE])
def test_a_line_may_be_as_long_as_the_limit_with_its_newline(size: int) -> None:
    longest = b"x" * (MAX_LINE - 1)
    assert fed(LineBuffer(), longest + b"\n" + longest + b"\n", size) == [longest, longest]


@pytest.mark.parametrize("size", [1, 7, 2 * MAX_LINE])
@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_one_byte_more_than_the_limit_is_too_long(size: int, newline: bytes) -> None:
    limit = 100
    data = b"x" * limit + newline
    buffer = LineBuffer(limit)
    with pytest.raises(RemoteProtocolError, match="longer than 100 bytes; each message is one line") as caught:
        fed(buffer, data, size)
    assert caught.value.code is Code.LINE_TOO_LONG


def test_too_long_a_line_between_others_is_told_too() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        LineBuffer(10).feed(b"short\n" + b"x" * 10 + b"\nshort\n")
    assert caught.value.code is Code.LINE_TOO_LONG


def test_many_lines_at_once_may_be_longer_than_the_limit() -> None:
    assert LineBuffer(10).feed(b"123456789\n" * 100) == [b"123456789"] * 100


def test_a_line_of_5_megabytes_never_keeps_more_than_the_limit_and_a_chunk() -> None:
    chunk = b"x" * 4096
    buffer = LineBuffer()
    errors = 0
    tracemalloc.start()
    try:
        for _ in range(5 * 1024 * 1024 // len(chunk)):
            try:
                assert buffer.feed(chunk) == []
            except RemoteProtocolError:
                errors += 1
            assert len(buffer.pending) <= MAX_LINE
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert errors == 5 * 1024 * 1024 // MAX_LINE
    # A growing buffer is given an eighth more than it needs, and may be moved: twice that, and a little for errors.
    assert peak < 2.25 * (MAX_LINE + len(chunk)) + 16 * 1024


def test_an_input_that_ends_in_the_middle_of_a_line_is_torn() -> None:
    buffer = LineBuffer()
    assert buffer.feed(b'{"type":"action"}\n{"type":') == [b'{"type":"action"}']
    with pytest.raises(
        RemoteProtocolError, match=r"ended in the middle of a line \(8 bytes without a newline\)"
    ) as caught:
        buffer.end()
    assert caught.value.code is Code.TORN_LINE


@pytest.mark.parametrize("data", [b"", b"\n", b"a\n"])
def test_an_input_that_ends_after_a_line_is_whole(data: bytes) -> None:
    buffer = LineBuffer()
    buffer.feed(data)
    buffer.end()
