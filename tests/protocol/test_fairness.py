"""The hash that a bot in any language can check."""

import hashlib

from protocol.fairness import deal_hash, hash_of
from protocol.messages import RevealedDeal


def test_the_hash_is_of_three_lines_salt_clan_deck_and_tactic_deck() -> None:
    expected = hashlib.sha256(b"pepper\nr1 g2 b3\njoker banshee").hexdigest()
    assert deal_hash(["r1", "g2", "b3"], ["joker", "banshee"], "pepper") == expected
    assert hash_of(RevealedDeal(1, ("r1", "g2", "b3"), ("joker", "banshee"), "pepper")) == expected


def test_without_tactic_cards_the_third_line_is_empty() -> None:
    assert deal_hash(["r1"], [], "pepper") == hashlib.sha256(b"pepper\nr1\n").hexdigest()
