"""Fold rounds into the state of a sequential test. Pure.

The statistic is taken over the longest complete prefix of the schedule, pair by pair, and the test ends at the first
pair that decides it. So it does not matter in which order rounds finish, how many are played at once, or how often the
arena was stopped in between. A short round finishes early: counting whatever is finished would prefer such rounds.

Rounds that were void count with their pair, also if it is not complete. A bot without a sandbox can kill what plays it
where it is losing, so a test in which that may have happened more than a few times is undecided.

A test is of two programs: those that the journal knows first. What another version of a bot played does not count.

It is one of the formats of formats.py.
"""

import enum
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from msgspec import Struct
from msgspec.structs import replace

from arena.journal.endings import ENDINGS, seats_at_fault
from arena.journal.finished_rounds import FinishedRounds
from arena.journal.identity import BotLine, Fingerprint, changes
from arena.journal.likelihood import llr
from arena.journal.lines import VoidLine
from arena.journal.planned import Plan
from arena.plan.recorded_config import RecordedConfig
from arena.plan.schedule import PlannedMatch
from arena.plan.source import ConfigError
from arena.plan.sprt import Sprt

NEW: Final = 0  # the seat of the bot that is tested, in every match
BASE: Final = 1
# Void rounds of a test for which no bot can be charged. A bot that causes them where it is losing would gain by more.
_MOST_LOST: Final = 5


Counts = tuple[int, int, int, int, int]


class Answer(enum.Enum):
    """Whether the new bot is better, as far as the test knows."""

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
    VOIDS = "too many rounds were void"
    SAME_PROGRAM = "both bots are the same program"

    @property
    def answer(self) -> Answer:
        return _ANSWERS.get(self, Answer.UNDECIDED)


_ANSWERS: Final = {End.H1: Answer.BETTER, End.H0: Answer.NOT_BETTER, End.NEW_FAILS: Answer.NOT_BETTER}
_FAILING: Final = {
    frozenset({NEW}): End.NEW_FAILS,
    frozenset({BASE}): End.BASE_FAILS,
    frozenset({NEW, BASE}): End.BOTH_FAIL,
}


class SprtState(Struct, frozen=True):
    """A sequential test so far."""

    sprt: Sprt
    bots: tuple[str, str]  # the new one, and the base
    most_pairs: int
    pairs: Counts = (0, 0, 0, 0, 0)  # that count, by the score of the new bot: 0, ½, 1, 1½, 2
    llr: float = 0.0
    faults: tuple[int, int] = (0, 0)  # rounds that count and were lost by a fault of the new bot, of the base
    lost: int = 0  # void rounds of these pairs and the next one, because the arena failed or something was killed
    excused: tuple[int, int] = (0, 0)  # void rounds, likewise, because the new bot, the base was late
    not_counted: int = 0  # finished rounds that do not count
    end: End | None = None
    changed: str | None = None  # which bot is another program than before, and how

    @property
    def counted(self) -> int:
        return sum(self.pairs)

    @property
    def answer(self) -> Answer:
        return Answer.UNDECIDED if self.end is None else self.end.answer

    @property
    def is_over(self) -> bool:
        return self.end is not None

    def facts(self) -> dict[str, Any]:
        """What is known at any time, as the fields of a JSON object."""
        sprt = self.sprt
        return {
            "bots": self.bots,
            "verdict": self.answer.value,
            "over": self.is_over,
            "reason": self.end and self.end.name.lower(),
            "llr": self.llr,
            "lower": sprt.lower,
            "upper": sprt.upper,
            "elo0": sprt.elo0,
            "elo1": sprt.elo1,
            "alpha": sprt.alpha,
            "beta": sprt.beta,
            "model": sprt.model.value,
            "pairs": self.counted,
            "most_pairs": self.most_pairs,
            "pentanomial": self.pairs,
            "faults": self.faults,
            "lost": self.lost,
            "excused": self.excused,
            "not_counted": self.not_counted,
            "changed": self.changed,
        }


class SprtRound(Struct, frozen=True):
    """What a test needs to know of a round."""

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

    words = "sequential test"
    plays_all = False
    withdraws = False
    counts_voids = True
    one_version = "a test is of one version of each bot"

    def __init__(self, sprt: Sprt, bots: tuple[str, str], matches: Iterable[str], max_faults: int):
        self._ahead = deque(matches)
        self._voids: dict[str, list[int | None]] = {}  # by match, beyond the prefix: as `lose` heard of them
        self._finished: dict[str, list[SprtRound]] = {}  # by match, beyond the prefix
        self._max_faults = max_faults
        self._in_a_row = [0, 0]
        self._programs: dict[str, Fingerprint] = {}  # by bot: the one that is tested
        self._others: set[str] = set()  # ids of players that are other programs
        self.state = SprtState(sprt, bots, len(self._ahead))

    @classmethod
    def of(cls, config: RecordedConfig, plan: Plan) -> Self:
        """The test that a recorded tournament is, before its first round. Raises ConfigError if it is not one of pairs
        between two bots."""
        names = tuple(bot.name for bot in config.bots or ())
        if config.sprt is None or len(names) != 2 or config.rounds != 2 or not config.pairs:
            raise ConfigError("it is said to be a sequential test, but not one of pairs of rounds between two bots")
        return cls(config.sprt, names, (match.id for match in plan.schedule), config.max_faults or 0)

    def refuses(self, line: BotLine, /) -> str | None:
        """Learn who a player is, before its first round. Returns why it must not play, if it is not the program that is
        tested."""
        if line.fingerprint is None:
            return None
        tested = self._programs.setdefault(line.name, line.fingerprint)
        if tested == line.fingerprint:
            return None
        if line.id not in self._others:
            self._others.add(line.id)
            changed = f"{line.name} changed during the test: {'; '.join(changes(tested, line.fingerprint))}"
            self.state = replace(self.state, changed=changed)
        return (
            f"{self.state.changed}. Nothing of the other version counts. Restore it and resume, or test the new "
            "version with another journal (--journal FILE)."
        )

    def add_round(self, line: Any, /) -> None:
        self.add(line.match, _tested(line))

    def add(self, match: str, played: SprtRound) -> None:
        """Add a finished round, in any order. The caller must not add a round twice."""
        self._finished.setdefault(match, []).append(played)

    def add_void(self, line: VoidLine, /) -> None:
        if line.deal_exposed is not True:  # otherwise it is void only because its deal may have been seen
            self.lose(line.match, None if line.is_loss else line.excused)

    def lose(self, match: str, late: int | None) -> None:
        """Add a void round, in any order: the seat whose lateness was excused, or None for any other reason."""
        self._voids.setdefault(match, []).append(late)

    def next_matches(self, plan: Plan, finished: FinishedRounds, /) -> Iterable[PlannedMatch]:
        """All that are left, if any, because any of them may be needed. They begin in the order in which they count."""
        is_over = self.advance().is_over
        return () if is_over else (match for match in plan.schedule if not finished.is_over(match.id))

    def verdict(self, _plan: Plan, _finished: FinishedRounds, /) -> SprtState:
        return self.advance()

    def advance(self) -> SprtState:
        """Count the pairs that have become complete, up to the one that decides the test. Returns the new state."""
        while self.state.end is None:
            self._count_voids(self._voids.pop(self._ahead[0], ()))
            if self.state.end is not None or len(self._finished.get(self._ahead[0], ())) < 2:
                break
            if any(not self._others.isdisjoint(played.players) for played in self._finished[self._ahead[0]]):
                self.state = replace(self.state, end=End.CHANGED)
                break
            pair = self._finished.pop(self._ahead.popleft())
            self._count(sorted(pair, key=lambda played: played.id))
        beyond = sum(map(len, self._finished.values()))
        if beyond != self.state.not_counted:
            self.state = replace(self.state, not_counted=beyond)
        return self.state

    def _count_voids(self, voids: Sequence[int | None]) -> None:
        if not voids:
            return
        lost, (new, base) = self.state.lost + voids.count(None), self.state.excused
        excused = (new + voids.count(NEW), base + voids.count(BASE))
        self.state = replace(self.state, lost=lost, excused=excused, end=End.VOIDS if lost > _MOST_LOST else None)

    def _count(self, pair: list[SprtRound]) -> None:
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

    def _end_after(self, pair: list[SprtRound], ratio: float) -> End | None:
        if ratio >= self.state.sprt.upper:
            return End.H1
        if ratio <= self.state.sprt.lower:
            return End.H0
        if failing := self._failing(pair):
            return _FAILING[failing]
        return None if self._ahead else End.NO_ROUNDS_LEFT

    def _failing(self, pair: list[SprtRound]) -> frozenset[int]:
        """The bots that failed in rounds in a row, as many that the test says nothing about how they play."""
        failing = set()
        for played in pair:
            for seat in (NEW, BASE):
                self._in_a_row[seat] = self._in_a_row[seat] + 1 if seat in played.at_fault else 0
                if self._max_faults and self._in_a_row[seat] >= self._max_faults:
                    failing.add(seat)
        return frozenset(failing)


def _tested(line: Any) -> SprtRound:
    """What a test needs of a round: of a complete one, or of the part that statistics decode, whose ending is no text
    any more."""
    ending, winner = line.result.ending, line.result.winner
    charged = None if line.fault is None else line.fault.seat
    at_fault = seats_at_fault(ENDINGS.get(ending, ending), winner, charged)
    return SprtRound(line.id, winner, at_fault, line.players or ())


def _with(pairs: Counts, half_points: int) -> Counts:
    """The counts with one pair more, in which the new bot scored so much."""
    counts = list(pairs)
    counts[half_points] += 1
    zero, half, one, one_and_half, two = counts
    return zero, half, one, one_and_half, two
