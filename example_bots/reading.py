"""What the Python bots share: the cards of a request as the engine's cards, and the stones as a move would leave them."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache

import attrs

from engine.actions import Kind, parse
from engine.cards import ALL_CLAN_MASK, BLIND_MANS_BLUFF, CARD_BY_TEXT, Card, is_clan
from engine.formations import Formation, Strength, side_strength, strength
from engine.proof import can_still_beat
from protocol.messages import GameState

STRENGTHS = strength(Formation.COLOUR_RUN, 64)  # as ints they are all below


@attrs.frozen
class Stone:
    mine: tuple[Card, ...]
    theirs: tuple[Card, ...]
    mine_to_keep: bool | None  # whether I claimed it; None while nobody has
    needs: int
    blind: bool
    they_lead_ties: bool


def stones_of(state: GameState) -> list[Stone]:
    return [
        Stone(
            mine=cards(stone.yours),
            theirs=cards(stone.theirs),
            mine_to_keep=None if stone.owner is None else stone.owner == "you",
            needs=stone.needs,
            blind="blind-mans-bluff" in stone.modes,
            they_lead_ties=stone.complete_first == "opponent",
        )
        for stone in state.stones
    ]


def cards(texts: Iterable[str]) -> tuple[Card, ...]:
    return tuple(sorted(CARD_BY_TEXT[text] for text in texts))


def clan_mask(some: Iterable[Card]) -> int:
    """The clan cards among them as a bit mask, the way the engine writes a set of cards."""
    return sum(1 << card for card in some if is_clan(card))


def face_down(state: GameState) -> int:
    """The clan cards that lie face up nowhere: my hand, the opponent's and the deck."""
    mask = ALL_CLAN_MASK & ~clan_mask(cards(state.discard))
    for stone in state.stones:
        mask &= ~clan_mask(cards(stone.yours + stone.theirs))
    return mask


def after(stones: Sequence[Stone], move: str) -> list[Stone]:
    """The stones as they will lie after a move of the play phase."""
    action, result = parse(move), list(stones)

    def put(number: int, card: Card) -> None:
        result[number] = attrs.evolve(result[number], mine=tuple(sorted((*result[number].mine, card))))

    def take(number: int, card: Card, whose: str) -> None:
        side = list(getattr(result[number], whose))
        side.remove(card)
        # A side that loses a card is complete later than the other, if ever.
        result[number] = attrs.evolve(result[number], they_lead_ties=whose == "mine", **{whose: tuple(side)})

    match action.kind:
        case Kind.PLACE:
            put(action.stone, action.card)
        case Kind.MODE if action.card == BLIND_MANS_BLUFF:
            result[action.stone] = attrs.evolve(result[action.stone], blind=True)
        case Kind.MODE:
            result[action.stone] = attrs.evolve(result[action.stone], needs=4)
        case Kind.STRATEGIST:
            take(action.stone, action.card, "mine")
        case Kind.BANSHEE | Kind.TRAITOR:
            take(action.stone, action.card, "theirs")
    if action.target is not None:
        put(action.target, action.card)
    return result


@lru_cache(maxsize=1 << 12)  # the same sides come again with every move that leaves them alone
def best_reachable(side: tuple[Card, ...], needs: int, blind: bool, available: int) -> int:
    """The strength of the side if it is complete, else of its best completion; 0 if it cannot be completed."""
    if len(side) == needs:
        return side_strength(side, blind)
    # Bisection: what it cannot beat, it cannot beat if that is stronger still.
    return bisect_left(
        range(STRENGTHS),
        True,
        key=lambda strength: not can_still_beat(side, needs, blind, available, Strength(strength)),
    )
