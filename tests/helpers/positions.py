"""Positions for tests and for the examples in SPEC.md, set up from a text (`engine.position_text`).

Besides, `dealt r1 g1 r2` alone is a round of base just dealt, from a deck with these cards on top.
"""

import pytest

from engine.actions import parse
from engine.cards import CLAN_CARDS, SEATS, Card, cards_from_texts
from engine.deal import Deal
from engine.errors import IllegalActionError
from engine.game import Game
from engine.ruleset import RuleSet
from engine.scoring import Outcome


def position(text: str) -> Game:
    return _dealt(text.split()[1:]) if text.startswith("dealt ") else Game.from_text(text)


def _dealt(top: list[str]) -> Game:
    first = cards_from_texts(top)
    deal = Deal((*first, *(card for card in CLAN_CARDS if card not in first)), ())
    return Game.new(RuleSet.named("base"), deal, SEATS[0])


def do(game: Game, *texts: str) -> Game:
    for text in texts:
        game.apply(parse(text))
    return game


def legal(game: Game) -> list[str]:
    return [action.text for action in game.legal_actions()]


def outcome(game: Game) -> Outcome:
    assert game.outcome is not None, "the round is not over"
    return game.outcome


def cards(words: list[str]) -> list[Card]:
    return list(cards_from_texts(words))


def refused(game: Game, text: str) -> str:
    """The reason for which the action is refused; the game stays as it was."""
    before = game.copy()
    with pytest.raises(IllegalActionError) as caught:
        game.apply(parse(text))
    assert game == before
    assert text not in legal(game)
    return str(caught.value)


def tactics(text: str) -> Game:
    return position("rules tactics\n" + text)
