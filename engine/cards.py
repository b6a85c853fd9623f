"""What a card is, how it is written, and the two decks.

A card is a small int, so that a set of clan cards is one int used as a bit mask. Clan cards are 0 to 53,
colour by colour; the tactic cards follow. The two jokers are the same card, twice in the deck, because no rule tells
them apart.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NewType

from engine.errors import NotationError

Card = NewType("Card", int)
Seat = NewType("Seat", int)
Stone = NewType("Stone", int)  # 0 to 8, left to right; written 1 to 9

COLOURS: Final = "roygbp"
VALUES: Final = range(1, 10)
CLAN_CARDS: Final = tuple(Card(n) for n in range(54))

JOKER, SPY, SHIELD_BEARER = Card(54), Card(55), Card(56)
BLIND_MANS_BLUFF, MUD_FIGHT = Card(57), Card(58)
RECRUITER, STRATEGIST, BANSHEE, TRAITOR = Card(59), Card(60), Card(61), Card(62)

ELITE_TROOPS: Final = (JOKER, SPY, SHIELD_BEARER)
COMBAT_MODES: Final = (BLIND_MANS_BLUFF, MUD_FIGHT)
RUSES: Final = (RECRUITER, STRATEGIST, BANSHEE, TRAITOR)
TACTIC_CARDS: Final = (*ELITE_TROOPS, *COMBAT_MODES, *RUSES)
TACTIC_DECK: Final = (JOKER, *TACTIC_CARDS)

ALL_CLAN_MASK: Final = (1 << 54) - 1

_TACTIC_TEXTS = (
    "joker", "spy", "shield-bearer", "blind-mans-bluff", "mud-fight",
    "recruiter", "strategist", "banshee", "traitor",
)  # fmt: skip
CARD_TEXTS: Final = (*(f"{colour}{value}" for colour in COLOURS for value in VALUES), *_TACTIC_TEXTS)
CARD_BY_TEXT: Final = {text: Card(n) for n, text in enumerate(CARD_TEXTS)}

# A card that lies face down: only its deck is known. Backs occur in positions that hide cards, never in a game.
CLAN_BACK, TACTIC_BACK = Card(63), Card(64)
BACK_BY_TEXT: Final = {"clan": CLAN_BACK, "tactic": TACTIC_BACK}
_TEXTS: Final = (*CARD_TEXTS, *BACK_BY_TEXT)

SEATS: Final = (Seat(0), Seat(1))
STONES: Final = tuple(Stone(n) for n in range(9))


def is_clan(card: Card) -> bool:
    """Whether this is a clan card. The back of one is not."""
    return card < 54


def back_of(card: Card) -> Card:
    """The card face down. The back of a back is the same back."""
    return card if card >= CLAN_BACK else CLAN_BACK if is_clan(card) else TACTIC_BACK


def colour_of(card: Card) -> int:
    """Index into COLOURS; only clan cards have one."""
    return card // 9


def value_of(card: Card) -> int:
    """1 to 9; only clan cards have one."""
    return card % 9 + 1


def other(seat: Seat) -> Seat:
    """The opponent of a seat."""
    return SEATS[1 - seat]


def stone_number(stone: Stone) -> int:
    """The number that players see: 1 to 9."""
    return stone + 1


def cards_from_texts(texts: Iterable[str]) -> tuple[Card, ...]:
    """The cards with these texts. Raises NotationError for a text that is not a card."""
    try:
        return tuple(CARD_BY_TEXT[text] for text in texts)
    except KeyError as unknown:
        raise NotationError(
            f"{unknown.args[0]!r} is not a card; clan cards look like r5, tactic cards like joker"
        ) from None


@lru_cache(maxsize=1 << 14)  # the same sides and hands recur; about 3 MB when full
def card_texts(cards: tuple[Card, ...]) -> tuple[str, ...]:
    """The text of each card; a card that lies face down is `clan` or `tactic`."""
    return tuple([_TEXTS[card] for card in cards])
