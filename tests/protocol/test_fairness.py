"""The hash that a bot in any language can check, and what the library reports of it."""

import hashlib

import msgspec
import pytest

from protocol.bot import hello_of
from protocol.fairness import DealCheck, deal_hash, hash_of
from protocol.messages import RevealedDeal, RoundStart
from tests.helpers.wire import EXAMPLES


def test_the_hash_is_of_three_lines_salt_clan_deck_and_tactic_deck() -> None:
    expected = hashlib.sha256(b"pepper\nr1 g2 b3\njoker banshee").hexdigest()
    assert deal_hash(["r1", "g2", "b3"], ["joker", "banshee"], "pepper") == expected
    assert hash_of(RevealedDeal(1, ("r1", "g2", "b3"), ("joker", "banshee"), "pepper")) == expected


def test_without_tactic_cards_the_third_line_is_empty() -> None:
    assert deal_hash(["r1"], [], "pepper") == hashlib.sha256(b"pepper\nr1\n").hexdigest()


def test_a_hash_that_changes_when_a_round_is_announced_again_is_reported() -> None:
    check = DealCheck()
    announced = msgspec.structs.replace(EXAMPLES[RoundStart], deal_hash="0" * 64)
    assert check.observe(announced) is None
    assert check.observe(announced) is None  # the bot was away, and hears the same again
    changed = check.observe(msgspec.structs.replace(announced, deal_hash="1" * 64))
    assert changed is not None
    assert "is NOT the one that was announced first" in changed
    assert check.summary() == "1 deal was NOT as promised, 0 as promised"


def test_a_bot_cannot_say_hello_by_what_is_not_a_name() -> None:
    with pytest.raises(ValueError, match="it has 65 characters; expected "):
        hello_of("x" * 65, None, None, None, True)
