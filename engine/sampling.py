"""Whole games for what a seat sees of a game: the cards that lie face down are dealt anew."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, Protocol

import attrs

from engine.arguments import A_POSITION, Given, checked, unexpected
from engine.cards import CLAN_BACK, CLAN_CARDS, TACTIC_BACK, TACTIC_DECK, Card
from engine.errors import PositionError
from engine.game import Game, standing_at
from engine.position import Position
from engine.position_check import check


class Shuffler(Protocol):
    """A source of randomness, such as a random.Random."""

    def shuffle(self, x: Any, /) -> object:
        """Put the list in a random order, each with the same probability."""


_MOST_KEPT: Final = 16  # positions of which further samples take little time


def sample(position: Given[Position], rng: Shuffler) -> Game:
    """A whole game for what `seen_by` left of a position: the cards that lie face down are those not seen anywhere,
    and every order of these is equally likely, the two jokers counted as different cards.

    So all games are possible that agree with what lies face up, the sizes of the decks, the hands by kind of card, the
    seat's own hand and the cards that it returned. What the opponent's choices reveal is not considered. `rng` is a
    random.Random, or anything else that can `shuffle` a list. Raises PositionError for a position that cannot come up.
    Many samples of one position are faster than samples of many.
    """
    position = checked(position, Position, A_POSITION)
    if not callable(getattr(rng, "shuffle", None)):
        raise unexpected(rng, "a source of randomness, such as random.Random()")
    known = _known(position)
    game = known.game.copy()
    clan, tactics = list(known.clan), list(known.tactics)
    rng.shuffle(clan)
    rng.shuffle(tactics)
    unseen_clan, unseen_tactics = iter(clan), iter(tactics)
    game.hands = [sorted(_face_up(hand, unseen_clan, unseen_tactics)) for hand in game.hands]
    game.clan_deck = _face_up(game.clan_deck, unseen_clan, unseen_tactics)
    game.tactic_deck = _face_up(game.tactic_deck, unseen_clan, unseen_tactics)
    return game


def _face_up(cards: Sequence[Card], clan: Iterator[Card], tactics: Iterator[Card]) -> list[Card]:
    return [card if card < CLAN_BACK else next(clan) if card == CLAN_BACK else next(tactics) for card in cards]


@attrs.frozen(eq=False)
class _Known:
    """What all samples of a position have in common."""

    game: Game  # with backs in the hands and decks
    clan: tuple[Card, ...]  # the cards that the position does not show
    tactics: tuple[Card, ...]


@lru_cache(_MOST_KEPT)
def _known(position: Position) -> _Known:
    check(position)
    held = Counter([*position.hands[0], *position.hands[1], *position.clan_deck, *position.tactic_deck])
    stones = [card for stone in position.stones for card in (*stone.sides[0], *stone.sides[1], *stone.modes)]
    played = Counter([*position.tactics_played[0], *position.tactics_played[1]])
    seen = held + (Counter([*stones, *position.discard]) | played)
    unseen = [tuple((Counter(every) - seen).elements()) for every in (CLAN_CARDS, TACTIC_DECK)]
    for where, back, cards in zip(("deck", "tactic-deck"), (CLAN_BACK, TACTIC_BACK), unseen, strict=True):
        if len(cards) < held[back]:
            raise PositionError(
                f"{held[back]} cards lie face down, but only {len(cards)} are not seen elsewhere", where
            )
    return _Known(standing_at(position), *unseen)
