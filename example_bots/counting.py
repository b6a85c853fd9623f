"""A bot that counts cards: it estimates the chance to win each stone, and makes the move that raises them the most.

`valuation.py` has the estimate; here a decision is made of it.
"""

from example_bots.reading import cards
from example_bots.valuation import Valuation, wants_tactic_card
from protocol.bot_runner import Request, run


def choose(request: Request) -> str:
    state = request.state
    match request.phase:
        case "claim":
            return next(move for move in request.legal if move != "done")
        case "play":
            return max(request.legal, key=Valuation.of(state).value_of_play)
        case "draw":
            played = state.tactics_played
            wanted = wants_tactic_card(cards(state.hand), len(played.yours), len(played.theirs))
            return "draw tactic" if wanted else "draw clan"
        case "return":
            return max(request.legal, key=Valuation.of(state).value_of_return)


if __name__ == "__main__":
    run(choose, name="counting")
