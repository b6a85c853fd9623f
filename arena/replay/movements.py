"""Find what a step moves and changes by comparing two positions, so that a viewer can step forwards and backwards
without knowing the rules. Pure.

Every place is a list of cards as they look there. In a deck, and in a hand that the viewer may not see, each card looks
like its back, `clan` or `tactic`. A movement takes the card at an index of one place and puts it at an index of
another; `before` and `after` differ if the card is turned over on the way. To step backwards, undo the movements in
reverse order.
"""

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from engine.cards import CARD_BY_TEXT, CLAN_BACK, SEATS, TACTIC_BACK, card_texts, is_clan
from engine.position import Position

CLAN, TACTIC = card_texts((CLAN_BACK, TACTIC_BACK))
HAND_ORDER: Final = {CLAN: -2, TACTIC: -1} | CARD_BY_TEXT
DECKS: Final = {CLAN: "deck", TACTIC: "tactics"}
_STONE_PLACES: Final = tuple((f"mode{number}", f"stone{number}.0", f"stone{number}.1") for number in range(1, 10))

Places = dict[str, list[str]]  # deck, tactics, hand0, hand1, stone1.0 to stone9.1, mode1 to mode9, discard


@attrs.frozen
class Movement:
    """One card that moves from one place to another."""

    before: str  # how the card looks where it comes from
    source: str
    source_index: int
    after: str  # how it looks where it goes
    target: str
    target_index: int


@attrs.frozen
class Change:
    """A field that a step changes."""

    field: str  # of a position, such as phase, or of a stone, such as owner3
    before: Any
    after: Any


def back_of(card: str) -> str:
    """The back of a card, which is all that a player may know who cannot see its face. A back is returned as it is."""
    return card if card in DECKS else CLAN if is_clan(CARD_BY_TEXT[card]) else TACTIC


def places_of(position: Position) -> Places:
    """Every place with the cards in it, as they look there."""
    places = {
        "deck": [CLAN] * len(position.clan_deck),
        "tactics": [TACTIC] * len(position.tactic_deck),
        "discard": list(card_texts(position.discard)),
        **{f"hand{seat}": list(card_texts(position.hands[seat])) for seat in SEATS},
    }
    for (mode, first, second), stone in zip(_STONE_PLACES, position.stones, strict=True):
        places[mode] = list(card_texts(stone.modes))
        places[first], places[second] = (list(card_texts(side)) for side in stone.sides)
    return places


def moved_cards(before: Places, after: Places) -> Iterator[tuple[str, str, str]]:
    """Yield (card, source, target) for each card that has changed places. `before` and `after` must show all faces,
    also in the decks."""
    gone: dict[str, list[str]] = {}
    come: list[tuple[str, str]] = []
    for place, cards in after.items():
        if cards != before[place]:
            for card in (Counter(before[place]) - Counter(cards)).elements():
                gone.setdefault(card, []).append(place)
            come += [(card, place) for card in _newest(cards, before[place])]
    for card, place in sorted(come, key=lambda each: each[1] != "discard"):  # a ruse before the card that it moves
        yield card, gone[card].pop(), place


def _newest(cards: Sequence[str], before: Sequence[str]) -> list[str]:
    """The cards that were not there before. Of two jokers, the one further back in the list is the newer one."""
    new = Counter(cards) - Counter(before)
    found = []
    for card in reversed(cards):
        if new[card]:
            new[card] -= 1
            found.append(card)
    return found[::-1]


def movements(shown: Places, face_down: Collection[str], carry: Iterable[tuple[str, str, str]]) -> Iterator[Movement]:
    """The movements of the cards in `carry`, one after the other, as they look to a viewer who sees `shown` before the
    step, and only the backs of cards in the places of `face_down`."""
    places = {name: list(cards) for name, cards in shown.items()}
    for card, source, target in carry:
        before = back_of(card) if source in face_down else card
        after = back_of(card) if target in face_down else card
        source_index = places[source].index(before)
        del places[source][source_index]
        yield Movement(before, source, source_index, after, target, _put(after, target, places[target]))


def _put(card: str, name: str, cards: list[str]) -> int:
    """Insert a card and return its index. Hands are sorted; elsewhere the newest card is last. In a deck the index does
    not matter, because all cards look alike."""
    if name in DECKS.values():
        cards.insert(0, card)
        return 0
    if name.startswith("hand"):
        insort(cards, card, key=HAND_ORDER.__getitem__)
        return cards.index(card)
    cards.append(card)
    return len(cards) - 1
