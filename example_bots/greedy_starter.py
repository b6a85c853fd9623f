"""A bot for Schotten Totten with a simple strategy: claim what can be proven, and build strong formations.

It counts a side of a stone as its number of cards times the best formation that the cards can still become, and plays
the card that adds most. It looks neither at the opponent's sides nor at the cards that are gone, and it draws no tactic
cards as long as there are others: each of these is a way to improve it.
"""

from collections.abc import Sequence

from protocol.bot_runner import Request, run

WILD = {"joker", "spy", "shield-bearer"}  # they can take part in any formation, so they spoil no hope


def choose(request: Request) -> str:
    """Return one of request.legal. The cards are in request.state; `arena spec` explains everything."""
    match request.phase:
        case "claim":
            return next(move for move in request.legal if move != "done")
        case "play":
            return max(request.legal, key=lambda move: gain(request, move))
        case "draw":
            return "draw clan"
        case "return":
            return min(request.legal, key=lambda move: value(move.removeprefix("return ")))


def gain(request: Request, move: str) -> float:
    """How much better a move of the play phase makes my sides."""
    match move.split():
        case ["play", card, stone] if is_clan(card) or card in WILD:
            side = request.state.stones[int(stone) - 1].yours
            return worth((*side, card)) - worth(side)
        case _:
            return 0.0  # a pass, a combat mode or a ruse: only if every card would make a side worse


def worth(side: Sequence[str]) -> float:
    """The number of cards times the hope that they allow."""
    return len(side) * hope([card for card in side if is_clan(card)])


def hope(cards: Sequence[str]) -> float:
    """The best formation that these clan cards of one side can still become: 5 is a colour-run, 1 only a sum. Among
    equal formations, higher cards are better."""
    values = [value(card) for card in cards]
    one_colour = len({card[0] for card in cards}) <= 1
    one_value = len(set(values)) <= 1
    in_a_row = len(set(values)) == len(values) and max(values, default=0) - min(values, default=0) <= 2
    tie_break = sum(values) / 100
    if one_colour and in_a_row:
        return 5 + tie_break
    if one_value:
        return 4 + tie_break
    if one_colour:
        return 3 + tie_break
    if in_a_row:
        return 2 + tie_break
    return 1 + tie_break


def is_clan(card: str) -> bool:
    return card[1:].isdigit()


def value(card: str) -> int:
    """The number on a clan card; tactic cards count more than any of them."""
    return int(card[1:]) if is_clan(card) else 10


if __name__ == "__main__":
    run(choose, name="greedy-starter")
