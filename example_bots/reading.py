"""Shared by the Python bots: the cards of a request as cards of the engine, and the stones after a move."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache

import attrs

from engine.actions import Kind, parse
from engine.cards import ALL_CLAN_MASK, BLIND_MANS_BLUFF, CARD_BY_TEXT, Card, is_clan
from engine.formations import Formation, Strength, side_strength, strength
from engine.proof import can_still_beat
from protocol.messages import GameState, Side

_ABOVE_ALL_STRENGTHS = strength(Formation.COLOUR_RUN, 64)


@attrs.frozen(cache_hash=True)  # bots cache what they compute for a stone
class Stone:
    mine: tuple[Card, ...]  # sorted, so that the same side is the same tuple
    theirs: tuple[Card, ...]
    owner: Side | None
    needs: int
    blind: bool
    they_win_ties: bool


def stones_of(state: GameState) -> list[Stone]:
    return [
        Stone(
            mine=cards(stone.yours),
            theirs=cards(stone.theirs),
            owner=stone.owner,
            needs=stone.needs,
            blind="blind-mans-bluff" in stone.modes,
            they_win_ties=stone.complete_first == "opponent",
        )
        for stone in state.stones
    ]


def cards(texts: Iterable[str]) -> tuple[Card, ...]:
    return tuple(sorted(CARD_BY_TEXT[text] for text in texts))


def clan_mask(some: Iterable[Card]) -> int:
    """The clan cards among `some` as a bit mask, which is how the engine represents a set of cards."""
    return sum(1 << card for card in some if is_clan(card))


def face_down(state: GameState) -> int:
    """The clan cards that do not lie face up: those in my hand, in the opponent's hand and in the deck."""
    face_up = [text for stone in state.stones for text in stone.yours + stone.theirs]
    return ALL_CLAN_MASK & ~clan_mask(cards(face_up)) & ~clan_mask(cards(state.discard))


def after(stones: Sequence[Stone], move: str) -> list[Stone]:
    """The stones after a move of the play phase."""
    action, result = parse(move), list(stones)
    stone, card = result[action.stone], action.card
    match action.kind:
        case Kind.PLACE:
            stone = attrs.evolve(stone, mine=_with(stone.mine, card))
        case Kind.MODE if card == BLIND_MANS_BLUFF:
            stone = attrs.evolve(stone, blind=True)
        case Kind.MODE:
            stone = attrs.evolve(stone, needs=4, they_win_ties=False)
        case Kind.STRATEGIST:
            they_are_complete = len(stone.theirs) == stone.needs
            stone = attrs.evolve(stone, mine=_without(stone.mine, card), they_win_ties=they_are_complete)
        case Kind.BANSHEE | Kind.TRAITOR:
            stone = attrs.evolve(stone, theirs=_without(stone.theirs, card), they_win_ties=False)
    result[action.stone] = stone
    if action.target is not None:
        goal = result[action.target]
        result[action.target] = attrs.evolve(goal, mine=_with(goal.mine, card))
    return result


def _with(side: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    return tuple(sorted((*side, card)))


def _without(side: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    place = side.index(card)
    return side[:place] + side[place + 1 :]


@lru_cache(maxsize=1 << 12)  # most moves leave most sides unchanged
def best_reachable(side: tuple[Card, ...], needs: int, blind: bool, available: int) -> int:
    """The strength of a complete side, else of its best completion; 0 if it cannot be completed."""
    if len(side) == needs:
        return side_strength(side, blind)
    # Bisection: a side that cannot beat some strength cannot beat a higher one either.
    return bisect_left(
        range(_ABOVE_ALL_STRENGTHS),
        True,
        key=lambda target: not can_still_beat(side, needs, blind, available, Strength(target)),
    )
