"""The legal actions of a position, and for any other action the reason why it is illegal.

The two are implemented independently, and a test keeps them consistent: `reason_illegal` returns None for exactly the
actions that `legal_actions` lists.
"""

from bisect import bisect
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

from engine.actions import (
    BANSHEES,
    CLAIMS,
    DONE,
    DRAWS,
    MODES,
    PASS,
    PLACES,
    PLAY_RECRUITER,
    RETURNS,
    Action,
    Kind,
    strategists,
    traitors,
)
from engine.cards import (
    BANSHEE,
    CARD_TEXTS,
    CLAN_CARDS,
    COMBAT_MODES,
    JOKER,
    RECRUITER,
    STONES,
    STRATEGIST,
    TRAITOR,
    Card,
    Seat,
    Stone,
    is_clan,
    other,
    stone_number,
)
from engine.phase import Phase

if TYPE_CHECKING:
    from engine.game import Game


@cache
def stones_in(mask: int) -> tuple[Stone, ...]:
    """The stones in a bit mask, left to right."""
    return tuple(stone for stone in STONES if mask >> stone & 1)


@cache
def _placements(card: Card, stones: int) -> tuple[Action, ...]:
    return tuple(PLACES[card][stone] for stone in stones_in(stones))


def legal_actions(game: "Game") -> list[Action]:
    """All actions that the player to move may take; none once the round is over."""
    match game.phase:
        case Phase.PLAY:
            return _plays(game)
        case Phase.CLAIM:
            return [*(CLAIMS[stone] for stone in stones_in(game.claimable)), DONE]
        case Phase.DRAW:
            return list(DRAWS)
        case Phase.RETURN:
            return [RETURNS[card] for card in dict.fromkeys(game.hands[game.to_move])]
        case Phase.OVER:
            return []


def _plays(game: "Game") -> list[Action]:
    seat = game.to_move
    hand, room = game.hands[seat], game.room[seat]
    clan_cards = bisect(hand, CLAN_CARDS[-1])
    actions: list[Action] = []
    for card in hand[:clan_cards]:
        actions += _placements(card, room)
    if not actions:
        actions.append(PASS)
    if clan_cards < len(hand) and not _tactic_limit_reached(game, seat):
        for card in dict.fromkeys(hand[clan_cards:]):
            actions += _tactic_plays(game, seat, card)
    return actions


def _tactic_limit_reached(game: "Game", seat: Seat) -> bool:
    return len(game.tactics_played[seat]) > len(game.tactics_played[other(seat)])


def _tactic_plays(game: "Game", seat: Seat, card: Card) -> Iterable[Action]:
    if card in COMBAT_MODES:
        return (MODES[card][stone] for stone in stones_in(game.unclaimed))
    if card == RECRUITER:
        return (PLAY_RECRUITER,) if game.clan_deck or game.tactic_deck else ()
    if card == STRATEGIST:
        return _strategist_plays(game, seat)
    if card == BANSHEE:
        return (BANSHEES[taken][stone] for taken, stone in _cards_on_unclaimed_stones(game, other(seat)))
    if card == TRAITOR:
        return _traitor_plays(game, seat)
    if card == JOKER and JOKER in game.tactics_played[seat]:
        return ()
    return _placements(card, game.room[seat])


def _cards_on_unclaimed_stones(game: "Game", seat: Seat) -> list[tuple[Card, Stone]]:
    return [(card, stone) for stone in stones_in(game.unclaimed) for card in game.sides[seat][stone]]


def _strategist_plays(game: "Game", seat: Seat) -> list[Action]:
    actions: list[Action] = []
    for card, stone in _cards_on_unclaimed_stones(game, seat):
        row = strategists(card, stone)
        actions += [row[to] for to in stones_in(game.room[seat] & ~(1 << stone))]
        actions.append(row[-1])
    return actions


def _traitor_plays(game: "Game", seat: Seat) -> list[Action]:
    actions: list[Action] = []
    for card, stone in _cards_on_unclaimed_stones(game, other(seat)):
        if is_clan(card):
            row = traitors(card, stone)
            actions += [row[to] for to in stones_in(game.room[seat])]
    return actions


def reason_illegal(game: "Game", action: Action) -> str | None:
    """Why the action is illegal now, worded for the player; None if it is legal."""
    phase, reason = _RULES[action.kind]
    if game.phase is not phase:
        return _wrong_phase(game, action)
    return reason(game, action)


def _wrong_phase(game: "Game", action: Action) -> str:
    if action.kind in (Kind.CLAIM, Kind.DONE) and game.phase is not Phase.OVER:
        when = f"stones are claimed {game.rules.claims.words}, and only where one can be proven"
        return f"not now: {when}; {_PHASES[game.phase]}"
    return f"not now: {_PHASES[game.phase]}"


_PHASES = {
    Phase.PLAY: "it is time to play a card, or to pass where no clan card can be placed",
    Phase.CLAIM: "it is time to claim a stone or to say 'done'",
    Phase.DRAW: "it is time to draw, with 'draw clan' or 'draw tactic'",
    Phase.RETURN: "it is time to return a card to the bottom of its deck",
    Phase.OVER: "the round is over",
}


def _not_in_hand(game: "Game", card: Card) -> str | None:
    return None if card in game.hands[game.to_move] else f"{CARD_TEXTS[card]} is not in your hand"


def _claimed(game: "Game", stone: Stone) -> str | None:
    return None if game.unclaimed >> stone & 1 else f"stone {stone_number(stone)} is already claimed"


def _no_room(game: "Game", stone: Stone) -> str | None:
    if game.room[game.to_move] >> stone & 1:
        return None
    return _claimed(game, stone) or f"stone {stone_number(stone)} is full on your side"


def _not_on_side(game: "Game", seat: Seat, card: Card, stone: Stone) -> str | None:
    if card in game.sides[seat][stone]:
        return None
    if card in COMBAT_MODES:
        return f"{CARD_TEXTS[card]} is a combat mode: it lies on the stone itself and cannot be moved or removed"
    side = "your side" if seat == game.to_move else "your opponent's side"
    return f"{CARD_TEXTS[card]} is not on {side} of stone {stone_number(stone)}"


def _tactic(game: "Game", card: Card) -> str | None:
    """Why `card` may not be played, as far as the reasons apply to every tactic card; None if they do not."""
    if absent := _not_in_hand(game, card):
        return absent
    if _tactic_limit_reached(game, game.to_move):
        return "you already played one tactic card more than your opponent"
    return None


def _place(game: "Game", action: Action) -> str | None:
    card = action.card
    if is_clan(card):
        return _not_in_hand(game, card) or _no_room(game, action.stone)
    if reason := _tactic(game, card):
        return reason
    if card == JOKER and JOKER in game.tactics_played[game.to_move]:
        return "you already played a joker this round, and each player may play only one"
    return _no_room(game, action.stone)


def _mode(game: "Game", action: Action) -> str | None:
    return _tactic(game, action.card) or _claimed(game, action.stone)


def _recruiter(game: "Game", action: Action) -> str | None:
    if reason := _tactic(game, action.card):
        return reason
    return None if game.clan_deck or game.tactic_deck else "both decks are empty: there is nothing to recruit"


def _strategist(game: "Game", action: Action) -> str | None:
    if (
        reason := _tactic(game, STRATEGIST)
        or _claimed(game, action.stone)
        or _not_on_side(game, game.to_move, action.card, action.stone)
    ):
        return reason
    if action.target is None:
        return None
    if action.target == action.stone:
        card, number = CARD_TEXTS[action.card], stone_number(action.stone)
        return f"{card} already lies on stone {number}: name another stone, or discard"
    return _no_room(game, action.target)


def _banshee(game: "Game", action: Action) -> str | None:
    return (
        _tactic(game, BANSHEE)
        or _claimed(game, action.stone)
        or _not_on_side(game, other(game.to_move), action.card, action.stone)
    )


def _traitor(game: "Game", action: Action) -> str | None:
    assert action.target is not None
    if (
        reason := _tactic(game, TRAITOR)
        or _claimed(game, action.stone)
        or _not_on_side(game, other(game.to_move), action.card, action.stone)
    ):
        return reason
    if not is_clan(action.card):
        return f"the traitor takes only clan cards, and {CARD_TEXTS[action.card]} is a tactic card"
    return _no_room(game, action.target)


def _pass(game: "Game", _: Action) -> str | None:
    if game.room[game.to_move]:
        for card in game.hands[game.to_move]:
            if is_clan(card):
                return f"you can still place a clan card ({CARD_TEXTS[card]}), so you may not pass"
    return None


def _claim(game: "Game", action: Action) -> str | None:
    stone = action.stone
    if game.claimable >> stone & 1:
        return None
    seat, number = game.to_move, stone_number(stone)
    if reason := _claimed(game, stone):
        return reason
    if not game.complete[seat] >> stone & 1:
        return (
            f"your side of stone {number} is not complete: {len(game.sides[seat][stone])} of {game.needs[stone]} cards"
        )
    if not game.complete[other(seat)] >> stone & 1:
        return f"you cannot prove stone {number}: unseen cards could still make your opponent's side stronger"
    if game.strengths[seat][stone] == game.strengths[other(seat)][stone]:
        return f"stone {number} is tied and your opponent's side was complete first"
    return f"your opponent's side of stone {number} is stronger"


def _return(game: "Game", action: Action) -> str | None:
    return _not_in_hand(game, action.card)


def _always(_game: "Game", _action: Action) -> str | None:
    return None


# For each kind of action: the phase in which it is allowed, and the function that says why it is illegal in that phase.
_RULES: dict[Kind, tuple[Phase, Callable[["Game", Action], str | None]]] = {
    Kind.PLACE: (Phase.PLAY, _place),
    Kind.MODE: (Phase.PLAY, _mode),
    Kind.RECRUITER: (Phase.PLAY, _recruiter),
    Kind.STRATEGIST: (Phase.PLAY, _strategist),
    Kind.BANSHEE: (Phase.PLAY, _banshee),
    Kind.TRAITOR: (Phase.PLAY, _traitor),
    Kind.PASS: (Phase.PLAY, _pass),
    Kind.CLAIM: (Phase.CLAIM, _claim),
    Kind.DONE: (Phase.CLAIM, _always),
    Kind.DRAW_CLAN: (Phase.DRAW, _always),
    Kind.DRAW_TACTIC: (Phase.DRAW, _always),
    Kind.RETURN: (Phase.RETURN, _return),
}
