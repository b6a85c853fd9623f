"""Requests as JSON, as one seat may see the game. Pure.

A match consists of requests, and most of a request is as in the one before. So the parts that recur are encoded once
and joined here as text, instead of making a `messages.Request` for each decision. A test compares every request of
random rounds with what `Position.seen_by` shows, and with how protocol/messages.py would encode it.
"""

from bisect import bisect
from collections.abc import Callable, Hashable, Sequence
from typing import Final, TypeVar

import msgspec

from engine.actions import parse
from engine.cards import CARD_TEXTS, CLAN_CARDS, SEATS, Card, Seat, other
from engine.game import Game
from engine.legality import Row
from engine.phase import Phase
from protocol.messages import Clock, Points

K = TypeVar("K", bound=Hashable)
_MOST_KEPT: Final = 1 << 15  # texts of each kind

_PHASES: Final = {phase: phase.value for phase in Phase}
_CARD: Final = tuple([f'"{text}"' for text in CARD_TEXTS])
# By seat: how a message to it names a seat, or nobody.
_WHO: Final = tuple([{None: "null", seat: '"you"', other(seat): '"opponent"'} for seat in SEATS])
_NO_TACTICS: Final = '"discard":[],"tactics_played":{"yours":[],"theirs":[]},"recruiter":null'
_NO_MODES: Final = '"needs":3,"modes":[],"complete_first":'
_EMPTY_STONE: Final = '{"yours":[],"theirs":[],"owner":null,"needs":3,"modes":[],"complete_first":null}'


class _Texts(dict[K, str]):
    """The texts of what was shown before: a dict that makes what it lacks. That takes a third of the time of a cached
    function."""

    def __init__(self, make: Callable[[K], str]):
        super().__init__()
        self._make = make

    def __missing__(self, key: K) -> str:
        if len(self) >= _MOST_KEPT:
            self.clear()
        text = self[key] = self._make(key)
        return text


def _show(row: Row) -> str:
    row.shown = ",".join([f'"{action.text}"' for action in row.actions])
    return row.shown


def _event(by: str, move: str) -> str:
    return f'{{"by":"{by}","move":"{move}"}}'


_CARDS: Final = _Texts[Sequence[Card]](lambda cards: ",".join([_CARD[card] for card in cards]))
_OWN_EVENTS: Final = _Texts[str](lambda move: _event("you", move))
_RIVAL_EVENTS: Final = _Texts[str](lambda move: _event("opponent", parse(move).public_text))
_COUNTS: Final = _Texts[tuple[int, int, int, int]](
    lambda n: f'"decks":{{"clan":{n[0]},"tactic":{n[1]}}},"opponent_hand":{{"clan":{n[2]},"tactic":{n[3]}}}'
)
_PARTS: Final = _Texts[Clock | Points](lambda part: msgspec.json.encode(part).decode())


class RequestFields:
    """Makes all requests about one game."""

    def __init__(self, game: Game):
        self._game = game
        self._stones = [[_EMPTY_STONE] * len(game.owners) for _ in SEATS]  # as each seat sees them
        self._changes_shown = 0  # of game.changes: `_stones` shows the stones as they were then

    def request(
        self,
        number: int,
        seat: Seat,
        legal: Sequence[Row],
        points: Points,
        news: Sequence[tuple[Seat, str, object]],
        clock: Clock,
    ) -> bytes:
        """The line of a request to this seat. `legal` are rows of actions, none to leave them out; `news` are the moves
        since the seat's last request."""
        actions = f'"legal":[{",".join([row.shown or _show(row) for row in legal])}],' if legal else ""
        phase, state, events = _PHASES[self._game.phase], self.state(seat, points), self.events(seat, news)
        return (
            f'{{"type":"request","id":{number},"phase":"{phase}",{actions}"state":{state},"events":{events},'
            f'"clock":{_PARTS[clock]}}}\n'
        ).encode()

    def events(self, seat: Seat, news: Sequence[tuple[Seat, str, object]]) -> str:
        """The moves since the seat's last request, as it may know them."""
        told = [_OWN_EVENTS[move] if by == seat else _RIVAL_EVENTS[move] for by, move, _ in news]
        return f"[{','.join(told)}]"

    def state(self, seat: Seat, points: Points) -> str:
        game = self._game
        if len(game.changes) != self._changes_shown:
            self._show_changes()
        hand = ",".join([_CARD[card] for card in game.hands[seat]])
        theirs = game.hands[1 - seat]
        clan = bisect(theirs, CLAN_CARDS[-1])
        counts = _COUNTS[len(game.clan_deck), len(game.tactic_deck), clan, len(theirs) - clan]
        tactics = self._tactics(seat) if game.rules.tactics else _NO_TACTICS
        stones = ",".join(self._stones[seat])
        return f'{{"hand":[{hand}],"stones":[{stones}],{counts},{tactics},"points":{_PARTS[points]}}}'

    def _tactics(self, seat: Seat) -> str:
        game, played = self._game, self._game.tactics_played
        recruiter = "null"
        if game.returns_left:
            recruiter = f'{{"draws_left":{game.draws_left},"returns_left":{game.returns_left}}}'
        yours, theirs = _CARDS[tuple(played[seat])], _CARDS[tuple(played[other(seat)])]
        return (
            f'"discard":[{_CARDS[tuple(game.discard)]}],"tactics_played":{{"yours":[{yours}],"theirs":[{theirs}]}},'
            f'"recruiter":{recruiter}'
        )

    def _show_changes(self) -> None:
        game, (first, second) = self._game, self._stones
        for stone in game.changes[self._changes_shown :]:
            one, two = _CARDS[game.sides[0][stone]], _CARDS[game.sides[1][stone]]
            modes = game.modes[stone]
            rest = _NO_MODES
            if modes:
                rest = f'"needs":{game.needs[stone]},"modes":[{_CARDS[modes]}],"complete_first":'
            owner, complete = game.owners[stone], game.complete_first[stone]
            first[stone] = f'{{"yours":[{one}],"theirs":[{two}],"owner":{_WHO[0][owner]},{rest}{_WHO[0][complete]}}}'
            second[stone] = f'{{"yours":[{two}],"theirs":[{one}],"owner":{_WHO[1][owner]},{rest}{_WHO[1][complete]}}}'
        self._changes_shown = len(game.changes)
