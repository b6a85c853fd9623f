"""Golden games: one round per preset with every view, legal action and move, as text.

`make playthroughs` writes them anew; a change of the rules shows up as a readable diff.
"""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.actions import grouped
from engine.cards import CARD_TEXTS, CLAN_BACK, SEATS, TACTIC_BACK, Card, Seat, other
from engine.deal import Deal
from engine.game import Game
from engine.position import Position
from engine.ruleset import PRESETS

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
        yield from _board(game.position())
        for seat in SEATS:
            yield _private(game.position().seen_by(seat), seat)
        yield f"legal ({len(legal)}): {', '.join(grouped(legal))}"
        yield f"> {action}"
        game.apply(action)
    yield "\n# the end"
    yield from _board(game.position())
    out = game.outcome
    yield f"winner {out.winner}, {out.ending.value}, points {out.points[0]} - {out.points[1]}"


def _cards(cards: Iterable[Card]) -> str:
    return " ".join(CARD_TEXTS[card] for card in cards) or "-"


def _board(seen: Position) -> Iterator[str]:
    for number, stone in enumerate(seen.stones, 1):
        if not (any(stone.sides) or stone.modes):
            continue
        notes = [f"needs {stone.needs}"] if stone.needs != 3 else []
        notes += [CARD_TEXTS[mode] for mode in stone.modes]
        notes += [f"first {stone.complete_first}"] if stone.complete_first is not None else []
        notes += [f"owner {stone.owner}"] if stone.owner is not None else []
        yours, theirs = map(_cards, stone.sides)
        yield f"stone {number}: {yours} | {theirs}{''.join(f', {note}' for note in notes)}"


def _private(seen: Position, seat: Seat) -> str:
    rival, played = seen.hands[other(seat)], seen.tactics_played
    return (
        f"seat {seat} sees: hand {_cards(seen.hands[seat])}; "
        f"opponent {rival.count(CLAN_BACK)}+{rival.count(TACTIC_BACK)}; "
        f"decks {len(seen.clan_deck)}+{len(seen.tactic_deck)}; discard {_cards(seen.discard)}; "
        f"played {_cards(played[seat])} / {_cards(played[other(seat)])}"
    )


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for preset in PRESETS:
        (FOLDER / f"{preset}.txt").write_text(render(preset))
        print(f"wrote {preset}.txt")


if __name__ == "__main__":
    main()
