"""Orders and reports survive their way as bytes, however the bytes arrive."""

import random

import pytest

from arena.plan.bot_spec import BotSpec
from arena.worker.channel import Unpacker, packed

VALUES = [1, "text", BotSpec("x", ("caf\udce9",)), b"\0" * 70_000, (), {"a": [None]}]


@pytest.mark.parametrize("most", [1, 3, 1000, 10**6])
def test_values_come_out_whole_and_in_order_however_they_are_cut(most: int) -> None:
    data, rng, unpacker = b"".join(map(packed, VALUES)), random.Random(most), Unpacker()
    found: list[object] = []
    while data:
        cut = rng.randint(1, most)
        found += unpacker.feed(data[:cut])
        data = data[cut:]
    assert found == VALUES


def test_a_value_that_is_cut_off_is_not_returned() -> None:
    assert list(Unpacker().feed(packed("text")[:-1])) == []
