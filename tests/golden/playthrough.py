"""Golden games: one round per preset with every view, legal action and move, as text.

`make playthroughs` writes them anew; a change of the rules shows up as a readable diff.
"""

import random
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from engine.actions import Action
from engine.cards import CARD_TEXTS, SEATS, Card
from engine.deal import Deal
from engine.game import Game
from engine.ruleset import PRESETS
from engine.view import View, view

FOLDER = Path(__file__).parent / "playthroughs"


def render(preset: str) -> str:
    return "\n".join(_lines(preset)) + "\n"


def _lines(preset: str) -> Iterator[str]:
    rules = PRESETS[preset]
    deal = Deal.from_seed(f"playthrough/{preset}", rules.tactics)
    game = Game.new(rules, deal, SEATS[0])
    rng = random.Random(preset)
    yield f"rules {preset}"
    yield f"deck {_cards(deal.clan)}"
    yield f"tactics {_cards(deal.tactics)}"
    number = 0
    while game.outcome is None:
        number += 1
        legal = game.legal_actions()
        action = legal[int(rng.random() * len(legal))]
        yield f"\n# {number}: seat {game.to_move}, {game.phase.value}"
        yield from _board(view(game, SEATS[0]))
        for seat in SEATS:
            yield _private(view(game, seat))
        yield f"legal ({len(legal)}): {_grouped(legal)}"
        yield f"> {action}"
        game.apply(action)
    yield "\n# the end"
    yield from _board(view(game, SEATS[0]))
    out = game.outcome
    yield f"winner {out.winner}, {out.ending.value}, points {out.points[0]} - {out.points[1]}"


def _cards(cards: Iterable[Card]) -> str:
    return " ".join(CARD_TEXTS[card] for card in cards) or "-"


def _board(seen: View) -> Iterator[str]:
    for number, stone in enumerate(seen.stones, 1):
        if not (stone.yours or stone.theirs or stone.modes):
            continue
        notes = [f"needs {stone.needs}"] if stone.needs != 3 else []
        notes += [CARD_TEXTS[mode] for mode in stone.modes]
        notes += [f"first {stone.complete_first}"] if stone.complete_first is not None else []
        notes += [f"owner {stone.owner}"] if stone.owner is not None else []
        yield f"stone {number}: {_cards(stone.yours)} | {_cards(stone.theirs)}{''.join(f', {note}' for note in notes)}"


def _private(seen: View) -> str:
    rival = seen.opponent_hand
    return (
        f"seat {seen.seat} sees: hand {_cards(seen.hand)}; opponent {rival.clan}+{rival.tactic}; "
        f"decks {seen.clan_deck}+{seen.tactic_deck}; discard {_cards(seen.discard)}; "
        f"played {_cards(seen.your_tactics)} / {_cards(seen.their_tactics)}"
    )


def _grouped(actions: list[Action]) -> str:
    """`play r5 1 2 3` for three actions that differ in the last word only."""
    texts = [action.text.rpartition(" ") for action in actions]
    groups = groupby(texts, key=lambda parts: parts[0])
    return ", ".join(" ".join([start, *(last for *_, last in group)]).strip() for start, group in groups)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for preset in PRESETS:
        (FOLDER / f"{preset}.txt").write_text(render(preset))
        print(f"wrote {preset}.txt")


if __name__ == "__main__":
    main()
