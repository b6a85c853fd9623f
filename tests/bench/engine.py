"""`make bench`: how fast, each figure next to a baseline of the same run, because machines differ and are noisy."""

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from typing import Any

from tabulate import tabulate

from arena.match.referee import Referee
from arena.support import compilation
from engine.cards import BLIND_MANS_BLUFF, CLAN_CARDS, SEATS, Card, other
from engine.deal import Deal
from engine.formations import Strength, side_strength
from engine.game import Game
from engine.legality import stones_in
from engine.proof import can_still_beat
from engine.ruleset import PRESETS, RuleSet
from engine.sampling import sample
from protocol.messages import Clock, Points, decode_from_bot

SECONDS = 2.0  # for each figure


def per_second(once: Callable[[int], Any], seconds: float = SECONDS) -> float:
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        once(count)
        count += 1
    return count / spent


def plain_python(_: int) -> int:
    """The baseline: ten thousand steps of an ordinary loop over a list and a dict."""
    numbers = list(range(100))
    seen: dict[int, int] = {}
    for step in range(10_000):
        seen[numbers[step % 100]] = step
    return len(seen)


def positions(rules: RuleSet, number: int) -> Iterator[Game]:
    """A random round: the same game before each of its decisions."""
    rng = random.Random(number)
    game = Game.new(rules, Deal.from_seed(str(number), rules.tactics), SEATS[number % 2])
    while actions := game.legal_actions():
        yield game
        game.apply(actions[int(rng.random() * len(actions))])


def playout(rules: RuleSet, number: int) -> None:
    for _ in positions(rules, number):
        pass


def playouts() -> Iterator[list[str]]:
    for name, rules in PRESETS.items():
        for number in range(50):
            playout(rules, number)
        base = per_second(plain_python, SECONDS / 2)
        rate = per_second(lambda number, rules=rules: playout(rules, number))  # type: ignore[misc]
        yield [name, f"{rate:,.0f}", f"{rate / base:.2f}"]


def samples() -> Iterator[list[str]]:
    """Whole games for what a seat sees in the middle of a round: all of one position, or each of another one."""
    rng = random.Random(1)
    for name in ("base", "tactics"):
        games = [game.position() for number in range(40) for game in islice(positions(PRESETS[name], number), 20, 60)]
        views = [position.seen_by(position.to_move) for position in games]
        assert len(views) > 1000
        base = per_second(plain_python, SECONDS / 2)
        for of, distinct in (("one position", views[:1]), ("distinct positions", views)):
            rate = per_second(lambda number, some=distinct: sample(some[number % len(some)], rng))  # type: ignore[misc]
            yield [name, of, f"{rate:,.0f}", f"{rate / base:.1f}"]


Proof = tuple[tuple[Card, ...], int, bool, int, Strength]


def proofs_in_play() -> list[tuple[Proof, float]]:
    """The proofs that come up in 400 rounds, half of them with tactic cards, and how many microseconds each took."""
    asked: list[tuple[Proof, float]] = []
    for number in range(200):
        for name in ("base", "tactics"):
            for proof in proofs_of_round(PRESETS[name], number):
                start = time.perf_counter_ns()
                can_still_beat(*proof)
                asked.append((proof, (time.perf_counter_ns() - start) / 1000))
    return asked


def proofs_of_round(rules: RuleSet, number: int) -> Iterator[Proof]:
    """For each decision, the proofs of the player to move against incomplete sides."""
    for game in positions(rules, number):
        seat, rival = game.to_move, other(game.to_move)
        for stone in stones_in(game.complete[seat] & game.unclaimed & ~game.complete[rival]):
            blind = BLIND_MANS_BLUFF in game.modes[stone]
            yield game.sides[rival][stone], game.needs[stone], blind, game.unseen, game.strengths[seat][stone]


def enumerated(side: tuple[Card, ...], needs: int, blind: bool, unseen: int, target: Strength) -> bool:
    """The baseline: one completion after the other, until one is stronger."""
    cards = [card for card in CLAN_CARDS if unseen >> card & 1]
    missing = combinations(cards, needs - len(side))
    return any(side_strength((*side, *more), blind) > target for more in missing)


def enumeration_microseconds(proof: Proof) -> float:
    start = time.perf_counter_ns()
    enumerated(*proof)
    return (time.perf_counter_ns() - start) / 1000


def proofs() -> Iterator[list[str]]:
    asked = proofs_in_play()
    for name, needs, there in (
        ("2 opposing cards", (3,), (2,)),
        ("1 opposing card", (3,), (1,)),
        ("0 opposing cards", (3,), (0,)),
        ("four-card stones", (4,), range(4)),
        ("all together", (3, 4), range(4)),
    ):
        some = [(p, took) for p, took in asked if p[1] in needs and len(p[0]) in there]
        ours = sorted(took for _, took in some)
        plain = statistics.median(enumeration_microseconds(proof) for proof, _ in some[:100])
        middle = statistics.median(ours)
        numbers = [
            f"{middle:.2f}",
            f"{percentile(ours, 99):.2f}",
            f"{ours[-1]:.1f}",
            f"{plain:.1f}",
            f"{plain / middle:.0f}",
        ]
        yield [name, str(len(some)), *numbers]


def percentile(ordered: list[float], percent: int) -> float:
    return ordered[len(ordered) * percent // 100]


def requests(rules: RuleSet) -> Iterator[tuple[float, bytes]]:
    """Every request of fifty random rounds, and the microseconds from the game to its bytes."""
    for number in range(50):
        rng = random.Random(number)
        referee = Referee(rules, Deal.from_seed(str(number), rules.tactics), SEATS[0])
        while ask := referee.ask():
            start = time.perf_counter_ns()
            line = ask.request(17, Points(5, 2), Clock(1000, None)).line
            yield (time.perf_counter_ns() - start) / 1000, line
            referee.answer(ask.legal[int(rng.random() * len(ask.legal))].text, 5)


def wire() -> Iterator[list[str]]:
    action = b'{"type":"action","id":17,"move":"play r5 1"}'
    decoded = 1e6 / per_second(lambda _: decode_from_bot(action), SECONDS / 4)
    for name in ("base", "tactics"):
        asked = list(requests(PRESETS[name]))
        sizes = sorted(len(line) for _, line in asked)
        took = statistics.median(took for took, _ in asked)
        plain = [json.loads(line) for _, line in asked]
        start = time.perf_counter()
        for message in plain:
            json.dumps(message)
        baseline = (time.perf_counter() - start) / len(plain) * 1e6
        numbers = [f"{took:.1f}", f"{baseline:.1f}", f"{took / baseline:.2f}", f"{decoded:.2f}"]
        yield [name, *numbers, f"{statistics.median(sizes):.0f}", str(sizes[-1])]


def import_milliseconds(module: str) -> float:
    """The best of five, without the start of Python itself."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs) * 1000


def main() -> None:
    print(f"The arena runs {compilation.kind()}.\n")
    print("Random rounds on one core (deal, legal actions, choose, apply, to the end)")
    print(tabulate(list(playouts()), ["rules", "rounds/s", "ratio to a plain Python loop"], disable_numparse=True))
    print("\nWhole games for what a seat knows")
    print(tabulate(list(samples()), ["rules", "of", "samples/s", "ratio to the loop"], disable_numparse=True))
    print(
        "\nOne claim proof, as they come up in play (microseconds; the baseline tries one completion after the other)"
    )
    head = ["against", "proofs", "median", "p99", "worst", "baseline median", "times faster"]
    print(tabulate(list(proofs()), head, disable_numparse=True))
    print("\nThe wire (microseconds and bytes; a request is timed from the game to its line, view included)")
    head = ["rules", "encode request", "json.dumps alone", "ratio", "decode action", "median bytes", "largest"]
    print(tabulate(list(wire()), head, disable_numparse=True))
    print("\nImport (milliseconds)")
    rows = [[name, f"{import_milliseconds(name):.0f}"] for name in ("attrs", "engine")]
    print(tabulate(rows, ["module", "ms"], disable_numparse=True))


if __name__ == "__main__":
    main()
