"""What a step moves and changes, found by comparing two positions, so that whoever shows a round can step forwards and
backwards without knowing any rules. Pure.

Every place is a list of cards as they look there. A deck is a list of cards that all look alike, `clan` or `tactic`,
and so is a hand that one may not see. A movement takes the card at an index of one place and puts it at an index of
another; `before` and `after` differ where a card is turned over on its way. Going back is the same the other way
round, in reverse order.
"""

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from engine.cards import CARD_BY_TEXT, SEATS, card_texts, is_clan
from engine.position import Position

CLAN, TACTIC = "clan", "tactic"  # how a card looks from behind
HAND_ORDER: Final = {CLAN: -2, TACTIC: -1} | CARD_BY_TEXT
DECKS: Final = {CLAN: "deck", TACTIC: "tactics"}
_STONE_PLACES: Final = tuple((f"mode{number}", f"stone{number}.0", f"stone{number}.1") for number in range(1, 10))

Places = dict[str, list[str]]  # deck, tactics, hand0, hand1, stone1.0 to stone9.1, mode1 to mode9, discard


@attrs.frozen
class Movement:
    before: str  # how the card looks where it comes from
    source: str
    source_index: int
    after: str  # how it looks where it goes
    target: str
    target_index: int


@attrs.frozen
class Change:
    field: str  # of a position, such as phase, or of a stone, such as owner3
    before: Any
    after: Any


def back_of(card: str) -> str:
    """All that those may know of it who cannot see its face. Works on backs as well."""
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


def carried(before: Places, after: Places) -> Iterator[tuple[str, str, str]]:
    """(card, source, target) of each card that lies elsewhere now. Both show all faces, those of decks too."""
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
    """Those that were not there before. Of two jokers, the one that lies later came later."""
    new = Counter(cards) - Counter(before)
    found = []
    for card in reversed(cards):
        if new[card]:
            new[card] -= 1
            found.append(card)
    return found[::-1]


def movements(shown: Places, face_down: Collection[str], carry: Iterable[tuple[str, str, str]]) -> Iterator[Movement]:
    """The cards that are carried, one after the other, as they look to somebody who sees `shown` before the step, and
    only the backs of the cards in places that are face down."""
    places = {name: list(cards) for name, cards in shown.items()}
    for card, source, target in carry:
        before = back_of(card) if source in face_down else card
        after = back_of(card) if target in face_down else card
        source_index = places[source].index(before)
        del places[source][source_index]
        yield Movement(before, source, source_index, after, target, _put(after, target, places[target]))


def _put(card: str, name: str, cards: list[str]) -> int:
    """Hands are kept in order; elsewhere the newest card lies last. A deck is only a number of cards."""
    if name in DECKS.values():
        cards.insert(0, card)
        return 0
    if name.startswith("hand"):
        insort(cards, card, key=HAND_ORDER.__getitem__)
        return cards.index(card)
    cards.append(card)
    return len(cards) - 1
