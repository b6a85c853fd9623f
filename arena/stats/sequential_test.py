"""Fold rounds into the state of a sequential test. Pure.

The statistic is taken over the longest complete prefix of the schedule, pair by pair, and the test ends at the first
pair that decides it. So it does not matter in which order rounds finish, how many are played at once, or how often the
arena was stopped in between. A short round finishes early: counting whatever is finished would prefer such rounds.

A test is of two programs: those that the journal knows first. What another version of a bot played does not count.
"""

import enum
from collections import deque
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from arena.journal.identity import BotLine, Fingerprint, changes
from arena.plan.sprt import Sprt
from arena.stats.sprt import llr

NEW: Final = 0  # the seat of the bot that is tested, in every match
BASE: Final = 1


Counts = tuple[int, int, int, int, int]


class Verdict(enum.Enum):
    BETTER = "better"
    NOT_BETTER = "not better"
    UNDECIDED = "undecided"


class End(enum.Enum):
    """Why a test is over."""

    H1 = "H1 was accepted"
    H0 = "H0 was accepted"
    NEW_FAILS = "the new bot failed too often in a row"
    BASE_FAILS = "the base failed too often in a row"
    BOTH_FAIL = "both bots failed too often in a row"
    NO_ROUNDS_LEFT = "no rounds are left"
    CHANGED = "another version of a bot played the next pair"
    SAME_PROGRAM = "both bots are the same program"

    @property
    def verdict(self) -> Verdict:
        return _VERDICTS.get(self, Verdict.UNDECIDED)


_VERDICTS: Final = {End.H1: Verdict.BETTER, End.H0: Verdict.NOT_BETTER, End.NEW_FAILS: Verdict.NOT_BETTER}
_FAILING: Final = {
    frozenset({NEW}): End.NEW_FAILS,
    frozenset({BASE}): End.BASE_FAILS,
    frozenset({NEW, BASE}): End.BOTH_FAIL,
}


class TestState(Struct, frozen=True):
    """A sequential test so far."""

    __test__ = False  # for pytest, which collects classes of such names

    sprt: Sprt
    bots: tuple[str, str]  # the new one, and the base
    most_pairs: int
    pairs: Counts = (0, 0, 0, 0, 0)  # that count, by the score of the new bot: 0, ½, 1, 1½, 2
    llr: float = 0.0
    faults: tuple[int, int] = (0, 0)  # rounds that count and were lost by a fault of the new bot, of the base
    not_counted: int = 0  # finished rounds that do not count
    end: End | None = None
    changed: str | None = None  # which bot is another program than before, and how

    @property
    def counted(self) -> int:
        return sum(self.pairs)

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNDECIDED if self.end is None else self.end.verdict


class TestedRound(Struct, frozen=True):
    """What a test needs to know of a round."""

    __test__ = False

    id: str
    winner: int | None  # a seat
    at_fault: tuple[int, ...]  # seats
    players: tuple[str | None, ...] = ()  # ids of BotLines, if they are known

    @property
    def half_points(self) -> int:
        """Of the new bot. A round that neither bot could play is worth as much to both as a draw."""
        return 1 if self.winner is None else 2 if self.winner == NEW else 0


class SequentialTest:
    """A test whose pairs are the `matches` of a schedule, given by their ids in order. Faults in a row of one bot end
    it, as they would withdraw the bot from a tournament, unless `max_faults` is 0."""

    def __init__(self, sprt: Sprt, bots: tuple[str, str], matches: Iterable[str], max_faults: int):
        self._ahead = deque(matches)
        self._finished: dict[str, list[TestedRound]] = {}  # by match, beyond the prefix
        self._max_faults = max_faults
        self._in_a_row = [0, 0]
        self._programs: dict[str, Fingerprint] = {}  # by bot: the one that is tested
        self._others: set[str] = set()  # ids of players that are other programs
        self.state = TestState(sprt, bots, len(self._ahead))

    def meet(self, line: BotLine) -> bool:
        """Learn who a player is, before its first round. Returns whether it is the program that is tested."""
        if line.fingerprint is None or line.id in self._others:
            return line.fingerprint is None
        tested = self._programs.setdefault(line.name, line.fingerprint)
        if tested == line.fingerprint:
            return True
        self._others.add(line.id)
        changed = f"{line.name} changed during the test: {'; '.join(changes(tested, line.fingerprint))}"
        self.state = replace(self.state, changed=changed)
        return False

    def add(self, match: str, played: TestedRound) -> None:
        """Add a finished round, in any order. The caller must not add a round twice."""
        self._finished.setdefault(match, []).append(played)

    def advance(self) -> TestState:
        """Count the pairs that have become complete, up to the one that decides the test. Returns the new state."""
        while self.state.end is None and len(self._finished.get(self._ahead[0], ())) == 2:
            if any(not self._others.isdisjoint(played.players) for played in self._finished[self._ahead[0]]):
                self.state = replace(self.state, end=End.CHANGED)
                break
            pair = self._finished.pop(self._ahead.popleft())
            self._count(sorted(pair, key=lambda played: played.id))
        beyond = sum(map(len, self._finished.values()))
        if beyond != self.state.not_counted:
            self.state = replace(self.state, not_counted=beyond)
        return self.state

    def _count(self, pair: list[TestedRound]) -> None:
        state = self.state
        pairs = _with(state.pairs, sum(played.half_points for played in pair))
        faults = [sum(seat in played.at_fault for played in pair) for seat in (NEW, BASE)]
        ratio = llr(pairs, state.sprt)
        self.state = replace(
            state,
            pairs=pairs,
            llr=ratio,
            faults=(state.faults[NEW] + faults[NEW], state.faults[BASE] + faults[BASE]),
            end=self._end_after(pair, ratio),
        )

    def _end_after(self, pair: list[TestedRound], ratio: float) -> End | None:
        if ratio >= self.state.sprt.upper:
            return End.H1
        if ratio <= self.state.sprt.lower:
            return End.H0
        if failing := self._failing(pair):
            return _FAILING[failing]
        return None if self._ahead else End.NO_ROUNDS_LEFT

    def _failing(self, pair: list[TestedRound]) -> frozenset[int]:
        """The bots that failed in so many rounds in a row that the test says nothing about how they play."""
        failing = set()
        for played in pair:
            for seat in (NEW, BASE):
                self._in_a_row[seat] = self._in_a_row[seat] + 1 if seat in played.at_fault else 0
                if self._max_faults and self._in_a_row[seat] >= self._max_faults:
                    failing.add(seat)
        return frozenset(failing)


def _with(pairs: Counts, half_points: int) -> Counts:
    """The counts with one pair more, in which the new bot scored so much."""
    counts = list(pairs)
    counts[half_points] += 1
    zero, half, one, one_and_half, two = counts
    return zero, half, one, one_and_half, two
