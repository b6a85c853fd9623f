"""The board as plain text, at most 80 columns wide."""

from collections.abc import Iterator, Sequence

from engine.cards import (
    BLIND_MANS_BLUFF,
    CARD_TEXTS,
    MUD_FIGHT,
    SEATS,
    SHIELD_BEARER,
    STONES,
    Card,
    Seat,
    written,
)
from engine.game import Game

_SHORT = {SHIELD_BEARER: "shield", BLIND_MANS_BLUFF: "blind", MUD_FIGHT: "mud"}
_CELL = 7
_LABEL = 10


def short_text(card: Card) -> str:
    """A card's text where space is scarce."""
    return _SHORT.get(card, CARD_TEXTS[card])


def render_board(game: Game, names: tuple[str, str]) -> str:
    """Seat 1 above the stones, seat 0 below; the newest card lies farthest from its stone."""
    return "\n".join(_lines(game, names))


def _lines(game: Game, names: tuple[str, str]) -> Iterator[str]:
    below, above = SEATS
    yield f"{names[above]}: {_hand(game, above)}"
    for depth in reversed(range(_depth(game, above))):
        yield _row("", [_card_at(game, above, stone, depth) for stone in STONES])
    yield _row("claimed", ["****" if game.owners[stone] == above else "" for stone in STONES])
    yield _row("stone", [f"[{written(stone)}]" for stone in STONES])
    for mode in (MUD_FIGHT, BLIND_MANS_BLUFF):
        if any(mode in modes for modes in game.modes):
            yield _row("mode", [short_text(mode) if mode in game.modes[stone] else "" for stone in STONES])
    yield _row("claimed", ["****" if game.owners[stone] == below else "" for stone in STONES])
    for depth in range(_depth(game, below)):
        yield _row("", [_card_at(game, below, stone, depth) for stone in STONES])
    yield f"{names[below]}: {_hand(game, below)}"
    if game.discard:
        yield f"discard: {' '.join(map(short_text, game.discard))}"


def _hand(game: Game, seat: Seat) -> str:
    return " ".join(map(short_text, game.hands[seat])) or "(no cards)"


def _depth(game: Game, seat: Seat) -> int:
    return max(3, *map(len, game.sides[seat]))


def _card_at(game: Game, seat: Seat, stone: int, depth: int) -> str:
    side = game.sides[seat][stone]
    return short_text(side[depth]) if depth < len(side) else ""


def _row(label: str, cells: Sequence[str]) -> str:
    return (f"{label:<{_LABEL}}" + "".join(f"{cell:^{_CELL}}" for cell in cells)).rstrip()
