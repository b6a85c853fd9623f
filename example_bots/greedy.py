"""A greedy bot: claims what it can prove, and otherwise makes its formations as strong as it can.

It counts every side of a stone as the best formation that its cards can still become, times the number of cards that
are there already: a red 8 next to a red 9 is a step towards the best formation of all, a green 4 there spoils it. It
never asks how likely a formation is, and that is its weakness; `counting.py` does.
"""

from collections.abc import Sequence

from engine.cards import CARD_BY_TEXT, is_clan, value_of
from example_bots.reading import Stone, after, best_reachable, cards, clan_mask, face_down, stones_of
from protocol.bot import Request, run


def choose(request: Request) -> str:
    match request.phase:
        case "claim":
            return request.legal[0] if request.legal[0] != "done" else request.legal[-1]
        case "play":
            return best_play(request)
        case "draw":
            return best_draw(request)
        case "return":
            return min(request.legal, key=worth_keeping)


def best_play(request: Request) -> str:
    stones, hidden = stones_of(request.state), face_down(request.state)
    theirs = hidden & ~clan_mask(cards(request.state.hand))
    # The first of equals: max() keeps it, and the legal moves come in a fixed order.
    return max(request.legal, key=lambda move: position_value(after(stones, move), hidden, theirs))


def position_value(stones: Sequence[Stone], for_me: int, for_them: int) -> int:
    """How much stronger my sides are than theirs. `for_me` and `for_them` are the clan cards each might still place."""
    return sum(
        len(stone.mine) * best_reachable(stone.mine, stone.needs, stone.blind, for_me)
        - len(stone.theirs) * best_reachable(stone.theirs, stone.needs, stone.blind, for_them)
        for stone in stones
        if stone.mine_to_keep is None
    )


def best_draw(request: Request) -> str:
    """A tactic card if there is none in the hand: more than one at a time can seldom be played."""
    wanted = "draw clan" if any(not is_clan(card) for card in cards(request.state.hand)) else "draw tactic"
    return wanted if wanted in request.legal else request.legal[0]


def worth_keeping(move: str) -> int:
    """For the recruiter's `return r5`: tactic cards before high cards before low ones."""
    card = CARD_BY_TEXT[move.removeprefix("return ")]
    return value_of(card) if is_clan(card) else 10


if __name__ == "__main__":
    run(choose, name="greedy")
