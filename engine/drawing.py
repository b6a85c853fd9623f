"""Draw a position as text, at most 80 columns wide unless a hand has many tactic cards.

Seat 1 is above the stones, seat 0 below; the newest card of a side is farthest from its stone. A claimed stone is moved
towards its owner, as on a table.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from engine.cards import CLAN_BACK, SEATS, TACTIC_BACK, Card, card_texts
from engine.phase import Phase
from engine.position import Position, StonePosition

_CELL: Final = 8
_MARGIN: Final = "      "
SHORT: Final = {"shield-bearer": "shield", "blind-mans-bluff": "blind", "mud-fight": "mud"}
_MOVED: Final = "*"
# What the player to move has to decide, in words.
_DECISIONS: Final = {
    Phase.CLAIM: "claim or be done",
    Phase.PLAY: "play",
    Phase.DRAW: "draw",
    Phase.RETURN: "return a card",
}
Names = tuple[str, str]  # by seat
# The cards that were just moved and get a star: by place (hand0, stone1.0 to stone9.1, mode1 to mode9, discard), which
# of its cards.
Moved = Mapping[str, Collection[int]]
NOTHING: Final[Moved] = {}


def drawing(position: Position) -> str:
    """The whole position as text."""
    names = "seat 0", "seat 1"
    return "\n".join([*board(position, names), *facts(position, names)])


def board(
    position: Position,
    labels: Names,
    moved: Moved = NOTHING,
    claimed: int | None = None,
    steady: bool = False,
) -> list[str]:
    """The hands, sides and stones as lines. Hands begin with the labels; the stone just claimed gets a star. `steady`
    keeps empty rows, so that nothing jumps from one position to the next."""
    below, above = SEATS
    rows = [_hand(labels, position, above, moved)]
    depths = [_depth(position, seat, steady) for seat in SEATS]
    rows += [_side_row(position, above, depth, moved) for depth in reversed(range(depths[above]))]
    rows += _stone_rows(position, moved, claimed, steady)
    rows += [_side_row(position, below, depth, moved) for depth in range(depths[below])]
    rows.append(_hand(labels, position, below, moved))
    return rows


def facts(position: Position, names: Names, moved: Moved = NOTHING) -> Iterator[str]:
    """What stands below the board: stones held, decks, the discard, tactic cards played."""
    stones = _by_name(names, [str(held) for held in position.stones_held])
    yield f"stones: {stones}   clan deck {len(position.clan_deck)}" + (
        f", tactic deck {len(position.tactic_deck)}" if position.rules.tactics else ""
    )
    if position.discard:
        yield f"discard: {' '.join(_marked(position.discard, 'discard', moved))}"
    if position.rules.tactics:
        played = [" ".join(map(short, card_texts(each))) for each in position.tactics_played]
        yield f"tactics played: {_by_name(names, played)}"


def _by_name(names: Names, values: Sequence[str]) -> str:
    return ", ".join(f"{name} {value or '-'}" for name, value in zip(names, values, strict=True))


def short(card: str) -> str:
    """The name of a card, short enough for a board."""
    return SHORT.get(card, card)


def _marked(cards: tuple[Card, ...], place: str, moved: Moved) -> list[str]:
    indices = moved.get(place, ())
    return [short(card) + (_MOVED if index in indices else "") for index, card in enumerate(card_texts(cards))]


def _hand(labels: Names, position: Position, seat: int, moved: Moved) -> str:
    """The row of a hand: its cards, or, if they lie face down, how many there are."""
    texts = card_texts(position.hands[seat])
    hand = [f"{texts.count(back)} {back}" for back in card_texts((CLAN_BACK, TACTIC_BACK)) if back in texts]
    hand = hand or _marked(position.hands[seat], f"hand{seat}", moved)
    turn = f"> {_DECISIONS[position.phase]}" if position.decides == seat else ""
    cards = " ".join(hand) or "no cards"
    return f"{labels[seat]} {cards}   {turn}".rstrip()


def _depth(position: Position, seat: int, steady: bool) -> int:
    most = max(len(stone.sides[seat]) for stone in position.stones)
    return max(3, most) if steady else most


def _side_row(position: Position, seat: int, depth: int, moved: Moved) -> str:
    cells = []
    for number, stone in enumerate(position.stones, 1):
        cards = _marked(stone.sides[seat], f"stone{number}.{seat}", moved)
        cells.append(cards[depth] if depth < len(cards) else "")
    return _row(cells)


def _stone_rows(position: Position, moved: Moved, claimed: int | None, steady: bool) -> list[str]:
    below, above = SEATS
    rows = []
    for owner, form in ((above, "({})"), (None, "[{}]"), (below, "({})")):
        cells = [
            form.format(number) + _first_complete(stone) + _MOVED * (number == claimed) if stone.owner == owner else ""
            for number, stone in enumerate(position.stones, 1)
        ]
        if steady or any(cells):
            rows.append(_row(cells, margin=""))
    modes = [_marked(stone.modes, f"mode{number}", moved) for number, stone in enumerate(position.stones, 1)]
    return rows + [
        _row([mode[depth] if depth < len(mode) else "" for mode in modes]) for depth in range(max(map(len, modes)))
    ]


def _first_complete(stone: StonePosition) -> str:
    """An arrow to the side that was complete first, as long as the stone is unclaimed."""
    if stone.owner is not None or stone.complete_first is None:
        return ""
    return "v" if stone.complete_first == SEATS[0] else "^"


def _row(cells: Sequence[str], margin: str = " ") -> str:
    return (_MARGIN + "".join(f"{margin + cell:<{_CELL}}" for cell in cells)).rstrip()
