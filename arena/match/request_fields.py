"""Requests as JSON, as one seat may see the game. Pure.

A match consists of requests, and most of a request is as in the one before. So the parts that recur are encoded once
and joined here as text, instead of making a `messages.Request` for each decision. What takes many forms, such as the
cards of a side, is written out each time: texts that are rarely used are not in the processor's cache, and fetching one
takes longer than making it. A test compares every request of random rounds with what `Position.seen_by` shows, and with
how protocol/messages.py would encode it.
"""

from bisect import bisect
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Final, TypeVar

import msgspec

from engine.actions import parse
from engine.cards import CARD_TEXTS, CLAN_CARDS, SEATS, Card, Seat, other
from engine.game import Game
from engine.legality import ActionRow
from engine.phase import Phase
from protocol.messages import Clock, Points

K = TypeVar("K", bound=Hashable)
_MOST_KEPT: Final = 1 << 15  # texts of each kind

_PHASES: Final = {phase: phase.value for phase in Phase}
_card: Final = tuple([f'"{text}"' for text in CARD_TEXTS]).__getitem__
_quoted: Final[Callable[[ActionRow], str]] = attrgetter("quoted")
# By seat: how a message to it names a seat, or nobody.
_WHO: Final = tuple([{None: "null", seat: '"you"', other(seat): '"opponent"'} for seat in SEATS])
_NO_TACTICS: Final = '"discard":[],"tactics_played":{"yours":[],"theirs":[]},"recruiter":null'
_NO_MODES: Final = '"needs":3,"modes":[]'
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


def _cards(cards: Iterable[Card]) -> str:
    return ",".join(map(_card, cards))


_RIVAL_EVENTS: Final = _Texts[str](lambda move: f'{{"by":"opponent","move":"{parse(move).public_text}"}}')
# The end of a stone, by its owner and the seat that was complete first: as each seat sees it, without combat modes.
_ENDS: Final = {
    (owner, complete): [f'"owner":{who[owner]},{_NO_MODES},"complete_first":{who[complete]}}}' for who in _WHO]
    for owner in (None, *SEATS)
    for complete in (None, *SEATS)
}
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
        legal: Sequence[ActionRow],
        points: Points,
        news: Sequence[tuple[Seat, str, object]],
        clock: Clock,
    ) -> bytes:
        """The line of a request to this seat. `legal` are rows of actions, none to leave them out; `news` are the moves
        since the seat's last request."""
        actions = f'"legal":[{",".join(map(_quoted, legal))}],' if legal else ""
        phase, state, events = _PHASES[self._game.phase], self.state(seat, points), self.events(seat, news)
        return (
            f'{{"type":"request","id":{number},"phase":"{phase}",{actions}"state":{state},"events":{events},'
            f'"clock":{_PARTS[clock]}}}\n'
        ).encode()

    def events(self, seat: Seat, news: Sequence[tuple[Seat, str, object]]) -> str:
        """The moves since the seat's last request, as it may know them."""
        told = [f'{{"by":"you","move":"{move}"}}' if by == seat else _RIVAL_EVENTS[move] for by, move, _ in news]
        return f"[{','.join(told)}]"

    def state(self, seat: Seat, points: Points) -> str:
        game = self._game
        if len(game.changes) != self._changes_shown:
            self._show_changes()
        theirs = game.hands[1 - seat]
        if game.rules.tactics:
            clan, tactics = bisect(theirs, CLAN_CARDS[-1]), self._tactics(seat)
        else:
            clan, tactics = len(theirs), _NO_TACTICS
        hand, stones = _cards(game.hands[seat]), ",".join(self._stones[seat])
        return (
            f'{{"hand":[{hand}],"stones":[{stones}],'
            f'"decks":{{"clan":{len(game.clan_deck)},"tactic":{len(game.tactic_deck)}}},'
            f'"opponent_hand":{{"clan":{clan},"tactic":{len(theirs) - clan}}},{tactics},"points":{_PARTS[points]}}}'
        )

    def _tactics(self, seat: Seat) -> str:
        game, played = self._game, self._game.tactics_played
        recruiter = "null"
        if game.returns_left:
            recruiter = f'{{"draws_left":{game.draws_left},"returns_left":{game.returns_left}}}'
        yours, theirs = _cards(played[seat]), _cards(played[other(seat)])
        return (
            f'"discard":[{_cards(game.discard)}],"tactics_played":{{"yours":[{yours}],"theirs":[{theirs}]}},'
            f'"recruiter":{recruiter}'
        )

    def _show_changes(self) -> None:
        game, (first, second) = self._game, self._stones
        one_side, two_side = game.sides
        for stone in game.changes[self._changes_shown :]:
            one, two = _cards(one_side[stone]), _cards(two_side[stone])
            one_end, two_end = _ENDS[game.owners[stone], game.complete_first[stone]]
            if modes := game.modes[stone]:
                laid = f'"needs":{game.needs[stone]},"modes":[{_cards(modes)}]'
                one_end, two_end = one_end.replace(_NO_MODES, laid), two_end.replace(_NO_MODES, laid)
            first[stone] = f'{{"yours":[{one}],"theirs":[{two}],{one_end}'
            second[stone] = f'{{"yours":[{two}],"theirs":[{one}],{two_end}'
        self._changes_shown = len(game.changes)
