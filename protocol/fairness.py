"""The proof of fair deals: a hash of deal and salt before the round, both of them after it."""

import hashlib
from collections.abc import Iterable

from protocol.messages import RevealedDeal


def deal_hash(deck: Iterable[str], tactics: Iterable[str], salt: str) -> str:
    """SHA-256, in hexadecimal, of three lines: the salt, the clan deck, the tactic deck, cards separated by spaces."""
    text = "\n".join((salt, " ".join(deck), " ".join(tactics)))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_of(deal: RevealedDeal) -> str:
    return deal_hash(deal.deck, deal.tactics, deal.salt)
