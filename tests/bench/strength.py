"""`make strength`: how the example bots written in Python fare against each other, inside one process.

Each pair plays every deal twice, with the seats exchanged: these bots have no memory. The table is in
example_bots/README.md.
"""

import math
import statistics
import sys
from collections.abc import Callable, Iterator
from itertools import combinations

from tabulate import tabulate

from arena.match.referee import Referee
from engine.cards import SEATS, Seat
from engine.deal import Deal
from engine.ruleset import PRESETS, RuleSet
from engine.scoring import Outcome
from example_bots import counting, greedy, random_bot
from protocol.messages import Clock, Points, Request

Choose = Callable[[Request], str]
ROUNDS = 400


def random_choice(request: Request) -> str:
    return random_bot.choose({"legal": request.legal})


BOTS: dict[str, Choose] = {"counting": counting.choose, "greedy": greedy.choose, "random": random_choice}


def play_round(rules: RuleSet, deal: Deal, choosers: tuple[Choose, Choose], first: Seat) -> Outcome:
    referee = Referee(rules, deal, first)
    while ask := referee.ask():
        request = ask.request(len(referee.moves) + 1, Points(0, 0), Clock(None, None))
        referee.answer(choosers[ask.seat](request.decoded()), 0)
    assert referee.fault is None
    assert referee.outcome is not None
    return referee.outcome


def pair_scores(rules: RuleSet, ours: Choose, theirs: Choose, pairs: int) -> Iterator[float]:
    """Our score (0 to 1) in the two rounds of each deal."""
    for number in range(pairs):
        deal = Deal.from_seed(f"strength/{number}", rules.tactics)
        winners = [
            play_round(rules, deal, (ours, theirs), SEATS[number % 2]).winner,
            play_round(rules, deal, (theirs, ours), SEATS[number % 2]).winner,
        ]
        yield sum(0.5 if winner is None else float(winner == seat) for seat, winner in enumerate(winners)) / 2


def elo(score: float) -> str:
    if score <= 0 or score >= 1:
        return "all lost" if score <= 0 else "all won"
    return f"{400 * math.log10(score / (1 - score)):+.0f}"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    rows = []
    for rules in ("base", "tactics"):
        for ours, theirs in combinations(BOTS, 2):
            scores = list(pair_scores(PRESETS[rules], BOTS[ours], BOTS[theirs], rounds // 2))
            mean = statistics.mean(scores)
            error = 1.96 * statistics.stdev(scores) / math.sqrt(len(scores))
            interval = f"{elo(mean - error)} to {elo(mean + error)}" if error else ""
            rows.append([rules, f"{ours} - {theirs}", rounds, f"{mean:.3f}", elo(mean), interval])
    print(tabulate(rows, ["rules", "bots", "rounds", "score", "Elo", "95 %"], tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
