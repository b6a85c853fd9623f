"""Choose the match that begins next: the first in the order of the schedule whose bots are both available.

Bots that the arena starts are available whenever those who play have room for another match (`most_matches`). Bots from
outside are available while they have a free connection; each connection plays one match at a time. Matches among them
cost this machine little and do not count. A match that waits for a lost connection gives its place to another one. The
arena waits for absent bots as long as there is anything else to play. Then, once their grace time is over, their
matches begin without them, one after the other at the pace of play (forfeit_pace.py). So a bot that comes late has lost
about as many matches as were played meanwhile, and still plays the rest.

A bot that is withdrawn forfeits its matches. These come last, after all that can be played, so that the organiser has
time to repair the bot.

Where the bots that are present could play another cycle, they do not wait for those that are not: once all that is left
of this cycle waits for absent bots, and each of them had a moment to come back, they lose the rest of it at once.
"""

import math
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator

import trio

from arena.plan.bot_spec import AnySpec
from arena.plan.schedule import MatchId, PlannedMatch
from arena.tournament.forfeit_pace import ForfeitPace
from arena.tournament.player_sources import Presence


class _Waiting:
    """Matches that have not begun, found by either of their bots."""

    def __init__(self) -> None:
        self._by_bot: dict[int, dict[int, deque[PlannedMatch]]] = {}

    def add(self, match: PlannedMatch) -> None:
        for bot, rival in (match.bots, match.bots[::-1]):
            self._by_bot.setdefault(bot, {}).setdefault(rival, deque()).append(match)

    def take(self, bot: int, is_ready: Callable[[int], bool]) -> PlannedMatch | None:
        """Remove and return the bot's first match against a bot that is ready; None if there is none."""
        for rival, matches in self._by_bot.get(bot, {}).items():
            if is_ready(rival):
                match = matches[0]
                self._remove(bot, rival)
                self._remove(rival, bot)
                return match
        return None

    def _remove(self, bot: int, rival: int) -> None:
        matches = self._by_bot[bot][rival]
        matches.popleft()
        if not matches:
            del self._by_bot[bot][rival]
        if not self._by_bot[bot]:
            del self._by_bot[bot]

    def bots(self) -> list[int]:
        return list(self._by_bot)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Who still has to meet whom, in both orders."""
        return ((bot, rival) for bot, rivals in self._by_bot.items() for rival in rivals)

    def __bool__(self) -> bool:
        return bool(self._by_bot)


class Matchmaker:
    def __init__(
        self,
        matches: Iterable[PlannedMatch],
        bots: tuple[AnySpec, ...],
        remote_bots: Presence,
        most_matches: int,
        withdrawn: Container[str] = (),
    ):
        self._bots = bots
        self._withdrawn = withdrawn  # names of bots; the caller may add some
        self._remote_bots = remote_bots
        self._numbers = {spec.name: n for n, spec in enumerate(bots) if spec.may_be_away}
        self._at_home: deque[PlannedMatch] = deque()  # only between bots that the arena starts
        self._forfeited: deque[PlannedMatch] = deque()  # likewise, found to be of bots that are withdrawn
        self._waiting = _Waiting()  # with bots from outside
        self._most_matches = most_matches
        self._places: dict[MatchId, PlannedMatch] = {}  # the matches under way with bots that the arena starts
        self._running: dict[MatchId, tuple[PlannedMatch, float]] = {}  # when each match began
        self._dropped: set[int] = set()  # bots that nobody waits for any more, until they come back
        self._pace = ForfeitPace(remote_bots.grace)
        self._forfeits_from: dict[int, float] = {}  # when an absent bot's next match may begin without it
        # Bots that may have become free, in this order.
        self._look_at: dict[int, None] = dict.fromkeys(self._numbers.values())
        self._news = trio.Event()
        self._closed = False
        for match in matches:
            if any(number in self._look_at for number in match.bots):
                self._waiting.add(match)
            else:
                self._at_home.append(match)

    async def next(self) -> PlannedMatch | None:
        """Wait until a match can begin, and return it; None if all are over. The caller calls `over` at its end."""
        while not self._closed and (self._at_home or self._forfeited or self._waiting or self._running):
            self._news = trio.Event()
            match = self._first_ready() or (self._first_ready() if self._drop_absent() else None)
            if match is not None:
                self._running[match.id] = match, trio.current_time()
                if self._takes_a_place(match):
                    self._places[match.id] = match
                return match
            with trio.CancelScope(deadline=self._next_deadline()):
                await self._news.wait()
        return None

    def over(self, match: PlannedMatch) -> None:
        """Take note that a match has ended."""
        self._pace_after(match, trio.current_time() - self._running.pop(match.id)[1])
        if self._places.pop(match.id, None) is not None:
            self._look_at_all()
        self._news.set()

    def came(self, name: str) -> None:
        """Take note that a bot from outside connected, left, or ended a match."""
        if (number := self._numbers.get(name)) is not None:
            if self._remote_bots.away_until(name) is None:
                self._dropped.discard(number)
            self._look_at[number] = None
            if self._is_awaited(number):
                self._look_at_all()
            self._news.set()

    def forfeits_later(self, name: str) -> bool:
        """Whether matches of this withdrawn bot are forfeited only after others are over."""
        left = [*(match.bots for match in (*self._at_home, *self._forfeited)), *self._waiting.pairs()]
        if not any(name in self._names(pair) for pair in left):
            return False
        return self._is_playing() or not all(map(self._is_forfeit, left))

    def _look_at_all(self) -> None:
        """Take note that any bot from outside may have been waiting for a place."""
        self._look_at.update(dict.fromkeys(self._numbers.values()))

    def close(self) -> None:
        """Let no more matches begin."""
        self._closed = True
        self._news.set()

    def _pace_after(self, match: PlannedMatch, took: float) -> None:
        """Learn from how long a match took. A bot that is absent at its end, for example because it forfeited the
        match, loses its next one only after the time of an ordinary match."""
        away = [number for number in match.bots if self._away_until(number) < math.inf]
        if not away:
            self._pace.played(took)
        for number in away:
            self._forfeits_from[number] = trio.current_time() + self._pace.forfeit_seconds

    def _takes_a_place(self, match: PlannedMatch) -> bool:
        return any(not self._bots[number].may_be_away for number in match.bots)

    def _names(self, pair: tuple[int, int]) -> list[str]:
        return [self._bots[number].name for number in pair]

    def _is_forfeit(self, pair: tuple[int, int]) -> bool:
        return any(map(self._is_withdrawn, pair))

    def _is_playing(self) -> bool:
        return not all(self._is_forfeit(match.bots) for match, _ in self._running.values())

    def _next_at_home(self) -> PlannedMatch | None:
        while self._at_home:
            match = self._at_home.popleft()
            if not self._is_forfeit(match.bots):
                return match
            self._forfeited.append(match)
        return self._forfeited.popleft() if self._forfeited and not (self._waiting or self._is_playing()) else None

    @property
    def _has_room(self) -> bool:
        waiting = sum(any(map(self._is_awaited, match.bots)) for match in self._places.values())
        # Bots that come back at the same time make at most twice as many matches, so that no other bot is late by it.
        return len(self._places) - min(waiting, self._most_matches) < self._most_matches

    def _first_ready(self) -> PlannedMatch | None:
        if self._has_room and (at_home := self._next_at_home()) is not None:
            return at_home
        # Only bots of which there was news can have become free. One that has no match to play now is not looked at
        # again before the next news of it.
        while self._look_at:
            number = next(iter(self._look_at))
            match = self._waiting.take(number, self._can_play) if self._can_play(number) else None
            if match is not None:
                return match
            del self._look_at[number]
        # Nothing else can be played: bots that were absent for too long forfeit their next matches.
        if not self._running or (self._dropped and self._is_held_up()):
            is_due = self._is_due if all(map(self._is_forfeit, self._waiting.pairs())) else self._is_due_to_play
            for number in self._waiting.bots():
                if is_due(number) and (match := self._waiting.take(number, is_due)) is not None:
                    return match
        return None

    def _can_play(self, number: int) -> bool:
        return self._is_ready(number) and not self._is_withdrawn(number)

    def _is_ready(self, number: int) -> bool:
        spec = self._bots[number]
        return self._remote_bots.is_free(spec.name) if spec.may_be_away else self._has_room

    def _is_due(self, number: int) -> bool:
        """Whether the bot is ready, or has been absent for too long."""
        if self._is_ready(number):
            return True
        return number in self._dropped or (not self._running and self._away_until(number) <= trio.current_time())

    def _is_due_to_play(self, number: int) -> bool:
        return self._is_due(number) and not self._is_withdrawn(number)

    def _is_withdrawn(self, number: int) -> bool:
        return self._bots[number].name in self._withdrawn

    def _is_held_up(self) -> bool:
        """Whether no match is played now: those under way wait for an absent bot."""
        return all(any(map(self._is_awaited, match.bots)) for match, _ in self._running.values())

    def _is_awaited(self, number: int) -> bool:
        spec = self._bots[number]
        return spec.may_be_away and self._remote_bots.is_awaited(spec.name)

    def _absent(self) -> dict[int, float]:
        """The absent bots that all the rest waits for, each with the time until which it does; none if the others have
        nothing else to play."""
        if not self._is_held_up():
            return {}
        left = {*self._waiting.bots(), *(number for match, _ in self._running.values() for number in match.bots)}
        left &= {*self._numbers.values()} - self._dropped
        found = {number: self._remote_bots.held_until(self._bots[number].name) for number in left}
        return {number: until for number, until in found.items() if until is not None}

    def _drop_absent(self) -> bool:
        """Drop the absent bots that the others have waited for; returns whether there are any."""
        now = trio.current_time()
        found = [number for number, until in self._absent().items() if until <= now]
        self._dropped.update(found)
        for number in found:
            self._remote_bots.give_up(self._bots[number].name)
        return bool(found)

    def _away_until(self, number: int) -> float:
        """When the next match of an absent bot may begin without it; infinity if it is not absent."""
        spec = self._bots[number]
        until = self._remote_bots.away_until(spec.name) if spec.may_be_away else None
        return math.inf if until is None else max(until, self._forfeits_from.get(number, -math.inf))

    def _next_deadline(self) -> float:
        """When a match may begin or be given up although no bot connects and no match ends."""
        times = list(self._absent().values())
        if not self._running:
            times += [self._away_until(number) for number in self._waiting.bots()]
        return min((time for time in times if time > trio.current_time()), default=math.inf)
