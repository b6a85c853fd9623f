"""A deal: the order of the two decks, derived from a seed.

The shuffle computes one SHA-512 per deck and reads it as a number that selects one of the deck's permutations (54! is
about 2^237, so the bias is below 2^-270). Unlike a library's generator, it is the same in every version and language.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs

from engine.arguments import Given, checked, unexpected
from engine.cards import CARD_TEXTS, CLAN_CARDS, TACTIC_DECK, Card
from engine.errors import DealError

_WITH_TACTICS: Final = "a bool: whether there are tactic cards, as rules.tactics says"


@attrs.frozen
class Deal:
    """Both decks, top card first. Without tactic cards the second one is empty."""

    clan: tuple[Card, ...]
    tactics: tuple[Card, ...]

    @staticmethod
    def from_seed(seed: Given[str], tactics: Given[bool]) -> "Deal":
        """The deal that belongs to a seed; `tactics` says whether the round is played with tactic cards."""
        seed = checked(seed, str, "a seed, which is a str such as '7'")
        tactics = checked(tactics, bool, _WITH_TACTICS)
        return Deal(_shuffled(CLAN_CARDS, f"{seed}/clan"), _shuffled(TACTIC_DECK, f"{seed}/tactics") if tactics else ())

    def check(self, tactics: Given[bool]) -> None:
        """Raise DealError unless the decks consist of exactly the cards of the game."""
        tactics = checked(tactics, bool, _WITH_TACTICS)
        for name in ("clan", "tactics"):  # by name: compiled code refuses another type in words of its own
            checked(getattr(self, name), tuple, "a tuple of cards as a deck")
        _check_deck("clan deck", self.clan, CLAN_CARDS)
        if tactics:
            _check_deck("tactic deck", self.tactics, TACTIC_DECK)
        elif self.tactics:
            raise DealError(f"these rules have no tactic cards, but the deal has {len(self.tactics)}")


def _shuffled(cards: Sequence[Card], label: str) -> tuple[Card, ...]:
    number = int.from_bytes(hashlib.sha512(label.encode()).digest(), "big")
    left, order = list(cards), []
    for size in range(len(left), 0, -1):
        number, place = divmod(number, size)
        order.append(left.pop(place))
    return tuple(order)


def _check_numbers(name: str, deck: Sequence[object]) -> None:
    for card in deck:
        if not isinstance(card, int):
            raise unexpected(card, f"cards in the {name}, which are numbers such as CARD_TEXTS.index('r5')")


def _check_deck(name: str, deck: Sequence[Card], expected: Sequence[Card]) -> None:
    try:
        in_order = sorted(deck)
    except TypeError:  # as of numbers and texts; the first that is not a number is named
        in_order = []
    if in_order == list(expected):
        return
    _check_numbers(name, deck)
    if strange := [card for card in deck if not 0 <= card < len(CARD_TEXTS)]:
        raise DealError(f"the {name} has a card numbered {strange[0]}; cards are numbered 0 to {len(CARD_TEXTS) - 1}")
    missing, surplus = Counter(expected) - Counter(deck), Counter(deck) - Counter(expected)
    wrong = [f"{CARD_TEXTS[card]} is missing" for card in missing.elements()]
    wrong += [f"{CARD_TEXTS[card]} appears too often" for card in surplus.elements()]
    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    raise DealError(f"the {name} is not the game's {len(expected)} cards: {', '.join(wrong[:3])}{more}")
