"""What one seat may see: everything public, its own hand, and never a secret."""

from bisect import bisect

import attrs

from engine.actions import Action, Kind
from engine.cards import CLAN_CARDS, Card, Seat, is_clan, other
from engine.game import Game
from engine.phase import Phase


@attrs.frozen
class StoneView:
    yours: tuple[Card, ...]
    theirs: tuple[Card, ...]
    owner: Seat | None
    needs: int
    modes: tuple[Card, ...]
    complete_first: Seat | None  # whose side has been complete the longer


@attrs.frozen
class HandSize:
    clan: int
    tactic: int


@attrs.frozen
class View:
    seat: Seat
    to_move: Seat
    phase: Phase
    hand: tuple[Card, ...]
    stones: tuple[StoneView, ...]
    clan_deck: int
    tactic_deck: int
    opponent_hand: HandSize
    discard: tuple[Card, ...]
    your_tactics: tuple[Card, ...]
    their_tactics: tuple[Card, ...]
    draws_left: int  # of a recruiter that is being played
    returns_left: int


def view(game: Game, seat: Seat) -> View:
    rival = other(seat)
    clan = bisect(game.hands[rival], CLAN_CARDS[-1])
    stones = map(
        StoneView, game.sides[seat], game.sides[rival], game.owners, game.needs, game.modes, game.complete_first
    )
    return View(
        seat=seat,
        to_move=game.to_move,
        phase=game.phase,
        hand=tuple(game.hands[seat]),
        stones=tuple(stones),
        clan_deck=len(game.clan_deck),
        tactic_deck=len(game.tactic_deck),
        opponent_hand=HandSize(clan, len(game.hands[rival]) - clan),
        discard=tuple(game.discard),
        your_tactics=tuple(game.tactics_played[seat]),
        their_tactics=tuple(game.tactics_played[rival]),
        draws_left=game.draws_left,
        returns_left=game.returns_left,
    )


def text_for_opponent(action: Action) -> str:
    """The action as the other seat hears of it. All is public but the card that is returned: only its deck is."""
    if action.kind is Kind.RETURN:
        return "return clan" if is_clan(action.card) else "return tactic"
    return action.text
