"""The fields of requests as JSON, as one seat may see the game. Pure.

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
_MOST_KEPT: Final = 1 << 15  # texts of each kind; all rows of clan cards are fewer

_PHASES: Final = {phase: phase.value for phase in Phase}
_CARD: Final = tuple([f'"{text}"' for text in CARD_TEXTS])
# By seat: how a message to it names a seat, or nobody.
_WHO: Final = tuple([{None: "null", seat: '"you"', other(seat): '"opponent"'} for seat in SEATS])
_NO_TACTICS: Final = '"discard":[],"tactics_played":{"yours":[],"theirs":[]},"recruiter":null'
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


def _event(by: str, move: str) -> str:
    return f'{{"by":"{by}","move":"{move}"}}'


_CARDS: Final = _Texts[Sequence[Card]](lambda cards: ",".join([_CARD[card] for card in cards]))
_ROWS: Final = _Texts[Row](lambda row: ",".join([f'"{action.text}"' for action in row.actions]))
_OWN_EVENTS: Final = _Texts[str](lambda move: _event("you", move))
_RIVAL_EVENTS: Final = _Texts[str](lambda move: _event("opponent", parse(move).public_text))
_COUNTS: Final = _Texts[tuple[int, int, int, int]](
    lambda n: f'"decks":{{"clan":{n[0]},"tactic":{n[1]}}},"opponent_hand":{{"clan":{n[2]},"tactic":{n[3]}}}'
)
_PARTS: Final = _Texts[Clock | Points](lambda part: msgspec.json.encode(part).decode())


class RequestFields:
    """Makes the fields of all requests to one seat about one game."""

    def __init__(self, game: Game, seat: Seat):
        self._game = game
        self._seat = seat
        self._rival = other(seat)
        self._stones = [_EMPTY_STONE] * len(game.owners)
        self._changes_shown = 0  # of game.changes: `_stones` shows the stones as they were then

    def fields(
        self, legal: Sequence[Row], points: Points, news: Sequence[tuple[Seat, str, object]], clock: Clock
    ) -> str:
        """All fields of a request but its type and id. `legal` are rows of actions, none to leave them out; `news` are
        the moves since the seat's last request."""
        actions = f'"legal":[{",".join([_ROWS[row] for row in legal])}],' if legal else ""
        return f'"phase":"{_PHASES[self._game.phase]}",{actions}{self.news(points, news)},"clock":{_PARTS[clock]}}}'

    def news(self, points: Points, news: Sequence[tuple[Seat, str, object]]) -> str:
        """The fields of a request that the end of a round has, too: the state, and the moves since the last request."""
        game, seat = self._game, self._seat
        if len(game.changes) != self._changes_shown:
            self._show_changes()
        hand = ",".join([_CARD[card] for card in game.hands[seat]])
        theirs = game.hands[self._rival]
        clan = bisect(theirs, CLAN_CARDS[-1])
        counts = _COUNTS[len(game.clan_deck), len(game.tactic_deck), clan, len(theirs) - clan]
        tactics = self._tactics() if game.rules.tactics else _NO_TACTICS
        events = ",".join([_OWN_EVENTS[move] if by == seat else _RIVAL_EVENTS[move] for by, move, _ in news])
        return (
            f'"state":{{"hand":[{hand}],"stones":[{",".join(self._stones)}],{counts},{tactics},'
            f'"points":{_PARTS[points]}}},"events":[{events}]'
        )

    def _tactics(self) -> str:
        game, played = self._game, self._game.tactics_played
        recruiter = "null"
        if game.returns_left:
            recruiter = f'{{"draws_left":{game.draws_left},"returns_left":{game.returns_left}}}'
        yours, theirs = _CARDS[tuple(played[self._seat])], _CARDS[tuple(played[self._rival])]
        return (
            f'"discard":[{_CARDS[tuple(game.discard)]}],"tactics_played":{{"yours":[{yours}],"theirs":[{theirs}]}},'
            f'"recruiter":{recruiter}'
        )

    def _show_changes(self) -> None:
        game, who = self._game, _WHO[self._seat]
        yours, theirs = game.sides[self._seat], game.sides[self._rival]
        for stone in game.changes[self._changes_shown :]:
            self._stones[stone] = (
                f'{{"yours":[{_CARDS[yours[stone]]}],"theirs":[{_CARDS[theirs[stone]]}],"owner":{who[game.owners[stone]]},'
                f'"needs":{game.needs[stone]},"modes":[{_CARDS[game.modes[stone]]}],'
                f'"complete_first":{who[game.complete_first[stone]]}}}'
            )
        self._changes_shown = len(game.changes)
