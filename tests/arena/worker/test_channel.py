"""Orders and reports survive their way as bytes, however the bytes arrive."""

import random

import pytest

from arena.match.audience import Scene, Sight
from arena.plan.bot_spec import BotSpec
from arena.worker.channel import Unpacker, packed
from arena.worker.job import PositionSeen
from engine.cards import SEATS
from engine.deal import Deal
from engine.game import Game
from engine.ruleset import PRESETS

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


def test_what_spectators_see_comes_out_as_it_was() -> None:
    rules = PRESETS["tactics"]
    game = Game.new(rules, Deal.from_seed("7", rules.tactics), SEATS[0])
    game.apply(action := game.legal_actions()[0])
    scene = Scene("1.1-2", 1, "tactics", ("anna", "ben"), 0, (0, 0))
    looked = PositionSeen(scene, Sight(game, [(SEATS[0], action.text, 12)], None))
    assert list(Unpacker().feed(packed(looked))) == [looked]
