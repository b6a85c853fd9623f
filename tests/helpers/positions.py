"""Positions for tests and for the examples in SPEC.md, set up from a few lines of text.

    rules tactics            a rule set; base if left out
    phase claim              what the player to move ("you", seat 0) decides; play if left out
    hand r5 joker            your hand
    their-hand g1 g2
    stone 3 r1 r2 r3 | g9    your cards | theirs, in the order in which they were placed
    stone 3 r1 r2 r3 | g9 g8 g7 first:theirs mode:mud-fight owner:you
    discard banshee r9
    face-up y1 y2            clan cards that count as seen: they are put on the discard
    face-down o9             the opposite, alone: every other clan card counts as seen
    played joker | banshee   tactic cards played by you | by them
    deck r1 r2               the clan deck, top first; `deck` alone empties it
    tactic-deck spy          likewise
    idle 1                   turns without any effect just before this one

or, alone, `dealt r1 g1 r2`: a round of base just dealt, from a deck with these cards on top.

Cards that are not named are dealt to nobody: the clan deck holds all that are left unless `deck` is given.
"""

import pytest

from engine.actions import parse
from engine.cards import (
    CLAN_CARDS,
    MUD_FIGHT,
    SEATS,
    TACTIC_DECK,
    Card,
    Seat,
    Stone,
    cards_from_texts,
    is_clan,
)
from engine.deal import Deal
from engine.errors import IllegalAction
from engine.game import Game
from engine.phase import Phase
from engine.ruleset import RuleSet
from engine.scoring import Outcome

_SEAT_OF = {"you": SEATS[0], "yours": SEATS[0], "theirs": SEATS[1], "opponent": SEATS[1]}


def position(text: str) -> Game:
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if lines and lines[0][0] == "dealt":
        return _dealt(lines[0][1:])
    named = {words[0]: words[1:] for words in lines if words[0] != "stone"}
    rules = RuleSet.named(named.pop("rules", ["base"])[0])
    phase = Phase(named.pop("phase", ["play"])[0])
    game = Game(rules, [], [], SEATS[0])
    for words in lines:
        if words[0] == "stone":
            _set_stone(game, Stone(int(words[1]) - 1), words[2:])
    game.hands = [sorted(cards(named.pop("hand", []))), sorted(cards(named.pop("their-hand", [])))]
    game.discard = cards(named.pop("discard", [])) + cards(named.pop("face-up", []))
    mine, theirs = _halves(named.pop("played", ["|"]))
    game.tactics_played = [cards(mine), cards(theirs)]
    game.idle_turns = int(named.pop("idle", ["0"])[0])
    if "face-down" in named:
        down = cards(named.pop("face-down"))
        game.discard += [card for card in CLAN_CARDS if card not in down and not _lies(game, card)]
    for card in CLAN_CARDS:
        if _lies(game, card):
            game._show(card)
    _set_decks(game, named.pop("deck", None), named.pop("tactic-deck", None))
    assert not named, f"unknown lines in a position: {named}"
    game.phase = phase
    if phase is Phase.CLAIM:
        game._enter_claims()
    return game


def _dealt(top: list[str]) -> Game:
    """A round of `base` just dealt, from a deck with these cards on top."""
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


def _halves(words: list[str]) -> tuple[list[str], list[str]]:
    bar = words.index("|")
    return words[:bar], words[bar + 1 :]


def _set_stone(game: Game, stone: Stone, words: list[str]) -> None:
    tags = dict(word.split(":") for word in words if ":" in word and not word.startswith("mode:"))
    modes = cards([word.removeprefix("mode:") for word in words if word.startswith("mode:")])
    mine, theirs = _halves([word for word in words if ":" not in word])
    game.modes[stone] = tuple(modes)
    game.needs[stone] = 4 if MUD_FIGHT in modes else 3
    order: list[tuple[Seat, list[str]]] = [(SEATS[0], mine), (SEATS[1], theirs)]
    if tags.get("first") == "theirs":
        order.reverse()
    for seat, side in order:
        for card in cards(side):
            game._add(seat, card, stone)
    if "owner" in tags:
        game.owners[stone] = _SEAT_OF[tags["owner"]]
        game.unclaimed &= ~(1 << stone)
        for seat in SEATS:
            game.room[seat] &= ~(1 << stone)


def _lies(game: Game, card: Card) -> bool:
    return card in game.discard or any(card in side for sides in game.sides for side in sides)


def _set_decks(game: Game, clan: list[str] | None, tactic: list[str] | None) -> None:
    held = [*game.hands[0], *game.hands[1]]
    if clan is None:
        game.clan_deck = [card for card in CLAN_CARDS if card not in held and not _lies(game, card)]
    else:
        game.clan_deck = cards(clan)[::-1]
    if tactic is None:
        left = list(TACTIC_DECK) if game.rules.tactics else []
        placed = [c for sides in game.sides for side in sides for c in side if not is_clan(c)]
        modes = [c for modes in game.modes for c in modes]
        for card in [*held, *placed, *modes, *game.discard]:
            if card in left:
                left.remove(card)
        game.tactic_deck = left
    else:
        game.tactic_deck = cards(tactic)[::-1]


def refused(game: Game, text: str) -> str:
    """The reason for which the action is refused; the game stays as it was."""
    before = game.copy()
    with pytest.raises(IllegalAction) as caught:
        game.apply(parse(text))
    assert game == before
    assert text not in legal(game)
    return str(caught.value)
