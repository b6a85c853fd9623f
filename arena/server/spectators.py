"""Spectators. They see what is public (and hands, if the server allows it), after a delay if the server has one.

They cannot slow a match down: it only leaves a picture now and then, which is encoded once for all spectators and
dropped for a spectator that does not keep up. The more spectators there are, the fewer pictures each of them gets, so
that all of them together cost a bounded share of the server's time.
"""

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

import trio

from arena.bots.conversation import LinkClosedError
from arena.bots.link import Link
from arena.match.audience import Scene, Sight
from arena.match.translate import seat_number
from arena.server.rates import Place, Room
from engine.actions import parse
from engine.cards import card_texts
from engine.position import Cards
from engine.scoring import Outcome
from protocol.errors import RemoteProtocolError
from protocol.messages import (
    BothSides,
    Bye,
    CardCounts,
    WatchedPosition,
    WatchedResult,
    WatchedStone,
    WatcherMessage,
    Watching,
    encode,
)
from protocol.session import State

_PICTURES_PER_SECOND: Final = 20  # of a match: more than a person can follow
_SENT_PER_SECOND: Final = 300  # to all spectators together; with more than 15 of them each match shows fewer pictures
_KEPT_SECONDS: Final = 2  # of pictures that wait for a slow spectator, besides the delay
_SEND_SECONDS: Final = 10.0


class Spectator:
    """One spectator: the match that it follows, and the lines that wait to be sent to it."""

    def __init__(self, match: str, delay: float):
        self._wanted = match  # empty for any match
        self._following: str | None = None
        self._delay = delay
        self._waiting: deque[tuple[float, bytes]] = deque(maxlen=int((delay + _KEPT_SECONDS) * _PICTURES_PER_SECOND))
        self._bye: Bye | None = None  # once no more matches will be shown
        self._news = trio.Event()

    def wants(self, match: str) -> bool:
        """Whether to show this match. A spectator of any match follows the first one until its end."""
        if self._wanted:
            return match == self._wanted
        self._following = self._following or match
        return match == self._following

    def match_over(self, match: str) -> None:
        if match == self._following:
            self._following = None

    def put(self, line: bytes) -> None:
        self._waiting.append((trio.current_time() + self._delay, line))
        self._news.set()

    async def next(self) -> tuple[bytes, Bye | None]:
        """Wait for lines whose delay is over, and return them, with the bye to send after them if they are the last."""
        while not self._bye and (not self._waiting or self._waiting[0][0] > trio.current_time()):
            self._news = trio.Event()
            with trio.CancelScope(deadline=self._waiting[0][0] if self._waiting else math.inf):
                await self._news.wait()
        lines, now = [], trio.current_time()
        while self._waiting and (self._bye or self._waiting[0][0] <= now):
            lines.append(self._waiting.popleft()[1])
        return b"".join(lines), self._bye

    def finish(self, bye: Bye, show_rest: bool) -> None:
        """Send `bye` after what is waiting, which is sent at once with `show_rest` and dropped without."""
        if not show_rest:
            self._waiting.clear()
        self._bye = bye
        self._news.set()


class Spectators:
    """All spectators, as the audience of all matches."""

    def __init__(self, event: str, delay: float, show_hands: bool, most: int):
        self._event = event
        self._delay = delay
        self._show_hands = show_hands
        self._most = most
        self.watchers: list[Spectator] = []
        self._room: Room[Spectator] = Room(most, most)
        self._next_picture: dict[str, float] = {}  # by match, while there are spectators

    def has_room_for(self, place: Place) -> bool:
        """Whether a spectator from this place may enter. If all places are taken, the address with the most spectators
        loses one of them, so that one address cannot keep out all others."""
        if len(self.watchers) < self._most:
            return True
        if not self.watchers:
            return False
        if not self._room.has_more_than(place):
            return False
        greediest = self._room.greediest()
        self._leave(greediest)
        greediest.finish(Bye("other spectators need this place", again=True), show_rest=False)
        return True

    async def attend(self, link: Link, match: str, place: Place) -> None:
        """Show matches to a spectator until it leaves. Raises LinkClosedError if the connection is lost, and
        RemoteProtocolError if the spectator sends a message."""
        watcher = Spectator(match, self._delay)
        said: RemoteProtocolError | None = None
        with self._present(watcher, place):
            await link.say(Watching(self._event, round(self._delay * 1000), self._show_hands))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._tell, link, watcher, nursery.cancel_scope)
                try:
                    await link.hear()  # a spectator may not send messages, so this raises
                except RemoteProtocolError as error:
                    said = error
                except LinkClosedError:
                    pass
                nursery.cancel_scope.cancel()
        if said is not None:
            raise said

    async def _tell(self, link: Link, watcher: Spectator, scope: trio.CancelScope) -> None:
        with contextlib.suppress(LinkClosedError, trio.TooSlowError):
            while link.session.state is not State.CLOSED:
                lines, bye = await watcher.next()
                with trio.fail_after(_SEND_SECONDS):
                    if lines:
                        await link.say_line(lines)
                    if bye:
                        await link.say(bye)
        scope.cancel()

    def close(self, *, show_rest: bool) -> None:
        """Say bye to all spectators. `show_rest`: nothing is secret any more, because all rounds are over."""
        for watcher in self.watchers:
            watcher.finish(Bye("no more matches will be shown"), show_rest)

    @contextlib.contextmanager
    def _present(self, watcher: Spectator, place: Place) -> Iterator[None]:
        self.watchers.append(watcher)
        self._room.enter(watcher, place)
        try:
            yield
        finally:
            self._leave(watcher)

    def _leave(self, watcher: Spectator) -> None:
        if watcher in self._room:  # otherwise it has already lost its place to another one
            self.watchers.remove(watcher)
            self._room.leave(watcher)

    def look(self, scene: Scene, sight: Sight) -> None:
        """Show the position after a move, unless the last picture of the match was shown only just now."""
        now = trio.current_time()
        if sight.outcome is None and now < self._next_picture.get(scene.match, 0):
            return
        each = max(1 / _PICTURES_PER_SECOND, len(self.watchers) / _SENT_PER_SECOND)
        self._next_picture[scene.match] = now + each
        self._show(scene.match, lambda: picture(scene, sight, self._show_hands))

    def round_over(self, scene: Scene, outcome: Outcome) -> None:
        self._show(scene.match, lambda: result(scene, outcome))

    def match_over(self, match: str) -> None:
        self._next_picture.pop(match, None)
        for watcher in self.watchers:
            watcher.match_over(match)

    def _show(self, match: str, make: Callable[[], WatcherMessage]) -> None:
        watchers = [watcher for watcher in self.watchers if watcher.wants(match)]
        if watchers:
            line = encode(make())
            for watcher in watchers:
                watcher.put(line)


def picture(scene: Scene, sight: Sight, show_hands: bool) -> WatchedPosition:
    position = sight.game.position()
    seat, move, ms = sight.moves[-1] if sight.moves else (None, None, None)
    if not show_hands:
        position = position.seen_by(None)
        move = parse(move).public_text if move else None
    return WatchedPosition(
        match=scene.match,
        round=scene.round,
        rules=scene.rules,
        bots=scene.bots,
        first=seat_number(scene.first),
        points=scene.points,
        number=len(sight.moves),
        seat=None if seat is None else seat_number(seat),
        move=move,
        ms=ms,
        stones=tuple(
            WatchedStone(
                _texts(stone.sides),
                None if stone.owner is None else seat_number(stone.owner),
                stone.needs,
                card_texts(stone.modes),
                None if stone.complete_first is None else seat_number(stone.complete_first),
            )
            for stone in position.stones
        ),
        hands=_texts(position.hands),
        decks=CardCounts(len(position.clan_deck), len(position.tactic_deck)),
        discard=card_texts(position.discard),
        tactics_played=_texts(position.tactics_played),
        phase=position.phase.value,
        to_move=None if position.decides is None else seat_number(position.decides),
    )


def result(scene: Scene, outcome: Outcome) -> WatchedResult:
    winner = None if outcome.winner is None else seat_number(outcome.winner)
    return WatchedResult(scene.match, scene.round, scene.bots, winner, outcome.ending.value, outcome.points)


def _texts(both: tuple[Cards, Cards]) -> BothSides:
    return card_texts(both[0]), card_texts(both[1])
