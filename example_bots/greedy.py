"""A greedy bot: claims every stone it can prove, and otherwise makes its formations as strong as it can.

It counts each side of a stone as the best formation its cards can still become, times the number of cards that lie
there already. So a red 8 beside a red 9 is a step towards the best formation there is, and a green 4 beside it spoils
that hope. Its weakness is that it never asks how likely a hope is; `counting.py` does.
"""

from collections.abc import Sequence

from engine.cards import CARD_BY_TEXT, is_clan, value_of
from example_bots.reading import Stone, after, best_reachable, cards, clan_mask, face_down, stones_of
from protocol.bot_runner import Request, run


def choose(request: Request) -> str:
    match request.phase:
        case "claim":
            return next(move for move in request.legal if move != "done")
        case "play":
            return best_play(request)
        case "draw":
            # A second tactic card can seldom be played while the first is still in the hand.
            holds_tactic = not all(map(is_clan, cards(request.state.hand)))
            return "draw clan" if holds_tactic else "draw tactic"
        case "return":
            return min(request.legal, key=worth_keeping)


def best_play(request: Request) -> str:
    stones, for_me = stones_of(request.state), face_down(request.state)
    for_them = for_me & ~clan_mask(cards(request.state.hand))
    return max(request.legal, key=lambda move: position_value(after(stones, move), for_me, for_them))


def position_value(stones: Sequence[Stone], for_me: int, for_them: int) -> int:
    """How far my sides are ahead of theirs, given the clan cards that each of us might still place."""
    value = 0
    for stone in stones:
        if stone.owner is None:
            value += len(stone.mine) * best_reachable(stone.mine, stone.needs, stone.blind, for_me)
            value -= len(stone.theirs) * best_reachable(stone.theirs, stone.needs, stone.blind, for_them)
    return value


def worth_keeping(move: str) -> int:
    """How much the card of a `return r5` is worth: tactic cards more than any clan card, high values more than low."""
    card = CARD_BY_TEXT[move.removeprefix("return ")]
    return value_of(card) if is_clan(card) else 10


if __name__ == "__main__":
    run(choose, name="greedy")
