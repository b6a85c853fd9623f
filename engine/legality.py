"""The legal actions of a position, and for any other action the reason why it is illegal.

The two are implemented independently, and a test keeps them consistent: `reason_illegal` returns None for exactly the
actions that `legal_rows` lists.
"""

from bisect import bisect
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import attrs

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
    strategist_actions,
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


@attrs.frozen(eq=False)
class ActionRow:
    """Legal actions that differ only in the last word. Most rows recur and are made once, so they are compared by
    identity. `quoted` is here because whoever lists the actions would otherwise have to look it up for each row."""

    actions: tuple[Action, ...]
    quoted: str  # their texts in quotation marks, with commas between them

    @staticmethod
    def of(actions: Sequence[Action]) -> "ActionRow":
        """The row of these actions."""
        return ActionRow(tuple(actions), ",".join([f'"{action.text}"' for action in actions]))


class _Placements(dict[Card, ActionRow]):
    """The row of each card that can be placed on these stones; a dict that makes what it lacks."""

    def __init__(self, stones: int):
        super().__init__()
        self._stones = stones_in(stones)

    def __missing__(self, card: Card) -> ActionRow:
        row = self[card] = ActionRow.of([PLACES[card][stone] for stone in self._stones])
        return row


_LEFT: Final = 0b1111  # the left half of the stones


@cache
def _half(stones: int) -> _Placements:
    return _Placements(stones)


# By the stones with room: the rows of the left half, then those of the right one, if there is room. Rows that reach
# from left to right would be ten times as many, too many for the processor's cache.
_PLACEMENTS: Final = tuple(
    [tuple([_half(half) for half in (room & _LEFT, room & ~_LEFT) if half]) for room in range(1 << len(STONES))]
)


@cache
def _modes(card: Card, stones: int) -> ActionRow:
    return ActionRow.of([MODES[card][stone] for stone in stones_in(stones)])


@cache
def _claims(stones: int) -> ActionRow:
    return ActionRow.of([*[CLAIMS[stone] for stone in stones_in(stones)], DONE])


@cache
def _banshees(card: Card, stone: Stone) -> ActionRow:
    return ActionRow.of([BANSHEES[card][stone]])


@lru_cache(1 << 12)  # there are too many to keep them all
def _strategist_row(card: Card, stone: Stone, targets: int) -> ActionRow:
    row = strategist_actions(card, stone)
    return ActionRow.of([*[row[to] for to in stones_in(targets)], row[-1]])


@lru_cache(1 << 12)
def _traitors(card: Card, stone: Stone, targets: int) -> ActionRow:
    row = traitors(card, stone)
    return ActionRow.of([row[to] for to in stones_in(targets)])


_PASS: Final = ActionRow.of([PASS])
_RECRUITER: Final = ActionRow.of([PLAY_RECRUITER])
_DRAWS: Final = ActionRow.of(DRAWS)


def legal_rows(game: "Game") -> list[ActionRow]:
    """All actions that the player to move may take, in rows that are not empty; none once the round is over."""
    return _LISTS[game.phase](game)


def _plays(game: "Game") -> list[ActionRow]:
    seat = game.to_move
    hand, room = game.hands[seat], game.room[seat]
    placements = _PLACEMENTS[room]
    if room and hand and is_clan(hand[-1]):
        # As always without tactic cards, until the hand is empty.
        return [half[card] for card in hand for half in placements]
    clan_cards = bisect(hand, CLAN_CARDS[-1])
    rows = [half[card] for card in hand[:clan_cards] for half in placements] if room and clan_cards else [_PASS]
    if clan_cards < len(hand) and not _tactic_limit_reached(game, seat):
        for card in dict.fromkeys(hand[clan_cards:]):
            rows += _tactic_plays(game, seat, card)
    return rows


def _returns(game: "Game") -> ActionRow:
    return ActionRow.of([RETURNS[card] for card in dict.fromkeys(game.hands[game.to_move])])


_LISTS: Final[dict[Phase, Callable[["Game"], list[ActionRow]]]] = {
    Phase.PLAY: _plays,
    Phase.CLAIM: lambda game: [_claims(game.claimable)],
    Phase.DRAW: lambda _: [_DRAWS],
    Phase.RETURN: lambda game: [_returns(game)],
    Phase.OVER: lambda _: [],
}


def _tactic_limit_reached(game: "Game", seat: Seat) -> bool:
    return len(game.tactics_played[seat]) > len(game.tactics_played[other(seat)])


def _tactic_plays(game: "Game", seat: Seat, card: Card) -> list[ActionRow]:
    room = game.room[seat]
    if card in COMBAT_MODES:
        return [_modes(card, game.unclaimed)]
    if card == RECRUITER:
        return [_RECRUITER] if game.clan_deck or game.tactic_deck else []
    if card == STRATEGIST:
        own = _cards_on_unclaimed_stones(game, seat)
        return [_strategist_row(moved, stone, room & ~(1 << stone)) for moved, stone in own]
    if card == BANSHEE:
        return [_banshees(taken, stone) for taken, stone in _cards_on_unclaimed_stones(game, other(seat))]
    if card == TRAITOR:
        theirs = _cards_on_unclaimed_stones(game, other(seat))
        return [_traitors(taken, stone, room) for taken, stone in theirs if room and is_clan(taken)]
    if not room or (card == JOKER and JOKER in game.tactics_played[seat]):
        return []
    return [half[card] for half in _PLACEMENTS[room]]


def _cards_on_unclaimed_stones(game: "Game", seat: Seat) -> list[tuple[Card, Stone]]:
    return [(card, stone) for stone in stones_in(game.unclaimed) for card in game.sides[seat][stone]]


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
    card, seat = action.card, game.to_move
    if is_clan(card):
        if card in game.hands[seat] and game.room[seat] >> action.stone & 1:
            return None
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
